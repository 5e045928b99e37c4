"""Settings: the options of the public functions, checked."""

from __future__ import annotations

import math
import os
import reprlib
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from types import NoneType
from typing import Any, Unpack

import onnx_ir as ir

from onnx_scatterx.assumptions import Clause, FixedSizes, read_clauses
from onnx_scatterx.engine.plan import Rule
from onnx_scatterx.errors import ScatterXError, did_you_mean
from onnx_scatterx.files import check_opset
from onnx_scatterx.operators import READS
from onnx_scatterx.options import DEFAULTS, OF_READING, Options, Rules, command_words
from onnx_scatterx.rewrites import RULES
from onnx_scatterx.rewrites.overlay import OVERLAY
from onnx_scatterx.rewrites.scatterx import SCATTERX
from onnx_scatterx.targets import Target, target_of

_NUMBERS = (Mapping, NoneType), "numbers by their names, such as {'batch': 1}"
_NAMES = (Iterable, NoneType), "a list of texts"
_KINDS: Mapping[str, tuple[Any, str]] = {
    "target": ((str, os.PathLike, Target), "a name, the path of a profile, or a Target"),
    **dict.fromkeys(("fix", "size_hint"), _NUMBERS),
    **dict.fromkeys(("rules", "passes", "assume"), _NAMES),
    "effort": (Real, "a number above 0"),
    "opset": ((int, NoneType), "the number of an operator set"),
}
"""The types of options, as a user is told of them."""


CHECKS = frozenset({"CheckTarget"})
"""The passes that compare a model with its target, and change nothing."""


def chosen_rules(rules: Rules | None) -> tuple[Rule, ...]:
    """Return rules, given by name or as objects, in order; None means all rules.

    >>> [rule.name for rule in chosen_rules(["view", "concat"])]
    ['view', 'concat']
    """
    if rules is None:
        return RULES
    by_name = {rule.name: rule for rule in RULES}
    chosen: list[Rule] = []
    for rule in rules:
        if isinstance(rule, Rule):
            chosen.append(rule)
        elif isinstance(rule, str) and rule in by_name:
            chosen.append(by_name[rule])
        else:
            near = did_you_mean(str(rule), by_name) or f"; there are {', '.join(by_name)}"
            raise ScatterXError(f"no rule is called {rule!r}{near}")
    return tuple(chosen)


def rules_of(target: Target, rules: Sequence[Rule], *, asked: bool) -> tuple[Rule, ...]:
    """Return the rules to apply for a target; ``asked`` says that the user chose ``rules``."""
    kept = [r for r in rules if asked or not (r.reads_all_data and target.prefers_scatter)]
    if not target.has_scatterx:
        return tuple(kept)
    return (*kept, OVERLAY, SCATTERX) if target.is_timed else (*kept, SCATTERX)


def as_it_is(options: Options) -> Options:
    """Return options under which a model is only compared with a target, and not changed.

    Raises ScatterXError if one of them says how to rewrite, or if the target takes all operators.

    >>> as_it_is({"target": "qnn"})
    {'target': 'qnn', 'passes': ['CheckTarget']}
    >>> as_it_is({"target": "qnn", "gathers": True})
    Traceback (most recent call last):
        ...
    onnx_scatterx.errors.ScatterXError: gathers has no effect with as_is, which rewrites nothing
    """
    for name, value in options.items():
        if name in DEFAULTS and name not in OF_READING and value != DEFAULTS[name]:  # type: ignore[literal-required]
            raise ScatterXError(f"{name} has no effect with as_is, which rewrites nothing")
    target = target_of(options.get("target", DEFAULTS["target"]))
    if not target.has_profile:
        raise ScatterXError(
            f"as_is compares a model with a device, and {target.name} takes all operators: "
            "give a target"
        )
    return {**options, "passes": sorted(CHECKS)}


@dataclass(frozen=True)
class Settings:
    """How to optimize: the options, checked and read.

    ``options`` are those of the caller, by their names, with the defaults of all others.
    """

    target: Target
    rules: tuple[Rule, ...]
    options: Options
    assumed: tuple[Clause, ...] = ()

    @classmethod
    def of(cls, **options: Unpack[Options]) -> Settings:
        """Return the checked options of the public functions, or raise ScatterXError."""
        for name in options.keys() - DEFAULTS.keys():
            near = did_you_mean(name, DEFAULTS)
            if name == "as_is":
                near = ": it is one of inspect and inspect_many, which compare a model as it is"
            raise TypeError(f"there is no option {name!r}{near}")
        chosen: Options = {**DEFAULTS, **options}
        for name, (kinds, what) in _KINDS.items():
            value: object = chosen[name]  # type: ignore[literal-required]
            if not isinstance(value, kinds):
                raise ScatterXError(f"{name} is {what}, not {reprlib.repr(value)}")
        if not 0 < chosen["effort"] < math.inf:
            raise ScatterXError(f"effort {chosen['effort']}: this is not a number above 0")
        target, rules, opset = target_of(chosen["target"]), chosen["rules"], chosen["opset"]
        if opset is not None:
            check_opset(opset)
            newest, name = target.max_opset or opset, target.name
            if opset > newest:
                raise ScatterXError(f"operator set {opset}: the target {name} reads up to {newest}")
        applied = rules_of(target, chosen_rules(rules), asked=rules is not None)
        return cls(target, applied, chosen, read_clauses(chosen["assume"]))

    def but(self, **options: Unpack[Options]) -> Settings:
        """Return the settings with some other options.

        >>> Settings.of(assume="n <= 8").but(gathers=True).arguments()
        ('--gathers', "--assume 'n <= 8'")
        """
        chosen: Options = {**self.options, "target": self.target, **options}
        return Settings.of(**chosen)

    @property
    def as_is(self) -> bool:
        """Whether a model is only compared with the target, and nothing of it may change.

        >>> Settings.of(target="qnn", passes=["CheckTarget"]).as_is
        True
        """
        passes, opset = self.options["passes"], self.options["opset"]
        return passes is not None and set(passes) == CHECKS and opset is None

    @property
    def reads(self) -> frozenset[str]:
        """The operators that read by indices and are rewritten, too.

        >>> sorted(Settings.of(target="standard, avoid = ['GatherND']").reads)
        ['GatherND']
        """
        target = self.target
        lacking = {
            op
            for op in READS
            if not target.has(op) or not target.limits_of(op).constant or target.limits_of(op).slow
        }
        return READS if self.options["gathers"] else frozenset(lacking)

    def fixed_in(self, model: ir.Model) -> FixedSizes:
        """Return the sizes that are fixed in a model."""
        return FixedSizes.of(
            model, self.options["fix"], distrust_dims=self.options["distrust_dims"]
        )

    @property
    def size_hint(self) -> Mapping[str, int]:
        """The usual values of symbolic sizes."""
        return self.options["size_hint"] or {}

    def arguments(self) -> tuple[str, ...]:
        """Return the settings besides the target, as arguments of the command line.

        >>> Settings.of(target="qnn", rules=["view"], assume="n <= 8", gathers=True).arguments()
        ('--rules view', '--gathers', "--assume 'n <= 8'")
        """
        said = {**self.options, "target": "scatterx", "assume": self.assumed or None}
        return tuple(map(shlex.join, command_words(said)))

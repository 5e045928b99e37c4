"""Settings: the arguments of the public functions, checked."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from onnx_scatterx.assumptions.clauses import Assume, Clause, clauses
from onnx_scatterx.assumptions.fixed_sizes import Fix
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.lowering.rule import Rule
from onnx_scatterx.rewrites import RULES
from onnx_scatterx.rewrites.overlay import overlay
from onnx_scatterx.rewrites.scatterx import scatterx
from onnx_scatterx.targets.catalogue import AnyTarget, target_of
from onnx_scatterx.targets.target import Target
from onnx_scatterx.text.nearest import did_you_mean

Rules: TypeAlias = "Sequence[str | Rule]"


def chosen_rules(rules: Rules | None) -> tuple[Rule, ...]:
    """Return rules, given by name or as objects, in order; None means all rules.

    >>> [rule.name for rule in chosen_rules(["view", "concat"])]
    ['view', 'concat']
    """
    if rules is None:
        return RULES
    by_name = {rule.name: rule for rule in RULES}
    found: list[Rule] = []
    for rule in rules:
        if isinstance(rule, Rule):
            found.append(rule)
        elif rule in by_name:
            found.append(by_name[rule])
        else:
            near = did_you_mean(rule, by_name) or f"; there are {', '.join(by_name)}"
            raise ScatterXError(f"no rule is called {rule!r}{near}")
    return tuple(found)


def rules_of(target: Target, rules: Sequence[Rule], *, asked: bool) -> tuple[Rule, ...]:
    """Return the rules to apply for a target; ``asked`` says that the user chose ``rules``."""
    kept = [r for r in rules if asked or not (r.is_dense and target.avoids_dense)]
    if not target.has_scatterx:
        return tuple(kept)
    return (*kept, overlay, scatterx) if target.is_timed else (*kept, scatterx)


@dataclass(frozen=True)
class Settings:
    """How to optimize: for which target, with which rules, on which assumptions.

    ``asked`` are the rules as the user named them, or None. ``effort`` multiplies the steps that a
    command may take.
    """

    target: Target
    rules: tuple[Rule, ...]
    distrust_dims: bool
    assumed: tuple[Clause, ...] = ()
    deterministic: bool = False
    sizes: Mapping[str, int] | None = None
    reads: bool = False
    fix: Fix = None
    asked: Rules | None = None
    effort: float = 1

    @classmethod
    def of(
        cls,
        target: AnyTarget,
        rules: Rules | None,
        distrust_dims: bool,
        assume: Assume,
        deterministic: bool = False,
        *,
        sizes: Mapping[str, int] | None = None,
        reads: bool = False,
        fix: Fix = None,
        effort: float = 1,
    ) -> Settings:
        """Return the checked arguments of the public functions, or raise ScatterXError."""
        if not 0 < effort < math.inf:
            raise ScatterXError(f"effort {effort}: this is not a number above 0")
        chosen = target_of(target)
        applied = rules_of(chosen, chosen_rules(rules), asked=rules is not None)
        given = clauses(assume)
        return cls(
            chosen, applied, distrust_dims, given, deterministic, sizes, reads, fix, rules, effort
        )

    def options(self) -> tuple[str, ...]:
        """Return the settings besides the target, as options of the command line.

        >>> Settings.of("standard", ["view"], False, "n <= 8", reads=True).options()
        ('--reads', '--rules view', "--assume 'n <= 8'")
        """
        flags = {
            "--reads": self.reads,
            "--deterministic": self.deterministic,
            "--distrust-dims": self.distrust_dims,
        }
        options = [flag for flag, is_set in flags.items() if is_set]
        if self.asked is not None:
            names = (r.name if isinstance(r, Rule) else r for r in self.asked)
            options.append(f"--rules {','.join(names)}")
        options += [f"--assume {shlex.quote(str(clause))}" for clause in self.assumed]
        options += [f"--size {name}={number}" for name, number in (self.sizes or {}).items()]
        for name, number in (self.fix or {}).items():
            value = f"={number}" if isinstance(number, int) else f":{','.join(map(str, number))}"
            options.append(f"--fix {name}{value}")
        options += [f"--effort {self.effort:g}"] if self.effort != 1 else []
        return tuple(options)

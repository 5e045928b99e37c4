"""Other arguments for a model: their text on the command line, and their meaning."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from onnx_scatterx.optimizer.assumptions.clauses import Clause
from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.optimizer.targets.catalogue import BASES
from onnx_scatterx.optimizer.targets.profile import target_from
from onnx_scatterx.optimizer.targets.target import Target
from onnx_scatterx.system.reading import parse_toml

_WORDS = {
    "nonnegative": "no element of {!r} is negative",
    "contiguous": "each element of {!r} is the one before it plus 1",
    "unique": "no two elements of {!r} are equal",
    "nondecreasing": "no element of {!r} is less than the one before it",
    "increasing": "each element of {!r} is greater than the one before it",
}


@dataclass(frozen=True)
class Command:
    """What a user typed: the model, the output, the target and the options that are kept."""

    model: str = "MODEL.onnx"
    output: str = "OUT.onnx"
    target: str = ""
    options: tuple[str, ...] = ()

    def words(self, target: str, options: Sequence[str]) -> str:
        """Return the command with another target and more options."""
        target_option = ["--target", target] if target != "scatterx" else []
        words = ["onnx-scatterx", "optimize", self.model, "-o", self.output, *target_option]
        return shlex.join([*words, *self.options, *options])


@dataclass(frozen=True)
class Change:
    """Arguments that differ from those of a run.

    ``keys`` are keys of a profile, as TOML, by which the target changes; ``base`` is another target
    to begin with. ``conditions`` must be true.
    """

    base: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    assumed: tuple[Clause, ...] = ()
    fix: Mapping[str, int] = field(default_factory=dict)
    opset: int | None = None
    deterministic: bool = False
    conditions: tuple[str, ...] = ()
    is_last: bool = False
    """Is only tried for scatters that nothing else removes."""

    def __or__(self, other: Change) -> Change:
        return Change(
            other.base or self.base,
            {**self.keys, **other.keys},
            tuple(dict.fromkeys((*self.assumed, *other.assumed))),
            {**self.fix, **other.fix},
            other.opset or self.opset,
            self.deterministic or other.deterministic,
            tuple(dict.fromkeys((*self.conditions, *other.conditions))),
            is_last=True,
        )

    @property
    def asks(self) -> int:
        """How much has to be so: nothing, a promise about the inputs, another compiler."""
        return 2 if "add" in self.keys or "max_rank" in self.keys else 1 if self.assumed else 0

    def says_more_than(self, other: Change) -> bool:
        """Return whether it states all that another change states, and more."""
        if (self.base, self.fix) != (other.base, other.fix) or self.statements == other.statements:
            return False
        return other.statements <= self.statements

    @property
    def statements(self) -> frozenset[object]:
        """What a change states, beside sizes and another target to begin with."""
        return frozenset(
            {*self.keys.items(), *self.assumed, ("opset", self.opset)}
            | ({"deterministic"} if self.deterministic else set())
        )

    def repeats(self, given: Target) -> bool:
        """Return whether the target already has one of these keys."""
        return any(f" {key} " in given.name for key in self.keys)

    def target(self, given: Target) -> Target:
        """Return the target to write for, given that of the run."""
        begin = BASES[self.base] if self.base else given
        if not self.keys:
            return begin
        keys = ", ".join(f"{key} = {value}" for key, value in self.keys.items())
        content = parse_toml(f"keys = {{{keys}}}")["keys"]
        return target_from({"name": begin.name, "extends": "", **content}, BASES, lambda _: begin)

    def settings(self, given: Settings) -> Settings:
        """Return the settings to optimize with, given those of the run."""
        changed = given.but(
            target=self.target(given.target),
            rules=None,
            deterministic=given.deterministic or self.deterministic,
            fix={**(given.fix or {}), **self.fix},
        )
        assumed = tuple(dict.fromkeys((*given.assumed, *self.assumed)))
        return replace(changed, assumed=assumed)

    def command(self, given: Command) -> str:
        """Return the command that says it."""
        target = self.base or given.target
        keys = "".join(f", {key} = {value}" for key, value in self.keys.items())
        options = [w for name, n in self.fix.items() for w in ("--fix", f"{name}={n}")]
        by_name: dict[str, list[str]] = {}
        for clause in self.assumed:
            by_name.setdefault(clause.name, []).append(clause.condition)
        for name, parts in by_name.items():
            text = ", ".join((str(Clause(name, parts[0])), *parts[1:]))
            options += ["--assume", text]
        options += ["--deterministic"] if self.deterministic else []
        options += ["--opset", str(self.opset)] if self.opset is not None else []
        return given.words(target + keys, options)

    def condition(self) -> str:
        """Return the condition under which the change is right, in words."""
        promises = [
            _WORDS[c.condition].format(c.name) if c.condition in _WORDS else str(c)
            for c in self.assumed
        ]
        parts = [f"if {' and '.join(promises)}"] if promises else []
        parts += ["or with numbers of your own"] if self.fix else []
        return "; ".join([*parts, *self.conditions])

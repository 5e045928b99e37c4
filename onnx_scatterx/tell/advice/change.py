"""A change of the arguments for a model: its text on the command line, and its settings."""

from __future__ import annotations

import json
import shlex
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any, NamedTuple, cast

import onnx_ir as ir

from onnx_scatterx.assumptions import Clause, conditions_of, places_of, read_clauses
from onnx_scatterx.engine.passes import Settings
from onnx_scatterx.files import parse_toml
from onnx_scatterx.options import DEFAULTS, Options, command_words
from onnx_scatterx.targets import BASES, Target, target_from, target_of
from onnx_scatterx.tell.advice.price import Price
from onnx_scatterx.text import Missing

_ONCE = "no other numbers were tried"
_SAMPLE = "the size of its sample, which its constants have; or export it with symbolic sizes"
_WORDS = {
    "nonnegative": "no element of {!r} is negative",
    "contiguous": "each element of {!r} is the one before it plus 1",
    "unique": "no two elements of {!r} are equal",
    "nondecreasing": "no element of {!r} is less than the one before it",
    "increasing": "each element of {!r} is greater than the one before it",
}


@dataclass(frozen=True)
class Command:
    """A command that a user typed: the model, the output, the target and the other options.

    ``checks`` are the options that decide whether the result is good enough.
    """

    model: str = "MODEL.onnx"
    output: str = "OUT.onnx"
    target: str = ""
    options: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()

    def text(self, target: str, options: Sequence[str]) -> str:
        """Return the command with another target and more options."""
        target_option = ["--target", target] if target != "scatterx" else []
        command_words = ["onnx-scatterx", "optimize", self.model, "-o", self.output, *target_option]
        return shlex.join([*command_words, *self.options, *options, *self.checks])


def promises(assumed: Iterable[Clause]) -> list[str]:
    """Return the promises about each name as the text of one ``--assume``.

    >>> promises([Clause("at", "nonnegative"), Clause("n", ">= 2"), Clause("at", "< n")])
    ['at: nonnegative, < n', 'n >= 2']
    """
    conditions = conditions_of(assumed).items()
    return [", ".join((str(Clause(n, parts[0])), *parts[1:])) for n, parts in conditions]


_NOTES = ("is_last", "at_numbers", "places", "needs", "sample")
"""The fields of a change that are no arguments."""


@dataclass(frozen=True)
class Change:
    """Arguments that are changed for a model, and notes about them.

    ``keys`` are keys of a profile, as TOML, that allow the target more work. ``added`` are
    operators that its compiler must have, and ``max_rank`` are the dims that it must take. Fields
    with the name of an option are this option. An argument that is false or empty is not changed.
    """

    keys: Mapping[str, str] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    max_rank: int = 0
    assumed: tuple[Clause, ...] = ()
    fix: Mapping[str, int] = field(default_factory=dict)
    opset: int = 0
    deterministic: bool = False
    gathers: bool = False
    last_bits: bool = False
    is_last: bool = False
    """Whether the change is tried only for scatters that no other change removes."""
    at_numbers: bool = False
    """Whether each size gets a number. The numbers are found when the change is tried."""
    places: str = ""
    """Which axis of which input has each size of ``fix``, in words."""
    needs: tuple[str, ...] = ()
    """What the model needs of its inputs to run at its sizes, as promises say it.

    The command states these promises. They ask for nothing: other inputs are errors without them.
    """

    sample: str = ""
    """The one of the sizes that must have its number, as the constants of the model have it."""

    @classmethod
    def at(
        cls, sizes: Mapping[str, int], model: ir.Model, needs: Iterable[str] = (), sample: str = ""
    ) -> Change:
        """Return the change that gives sizes of a model numbers."""
        places = places_of(model, {name: n for name, n in sizes.items() if name != sample})
        return cls(fix=sizes, places=places, needs=tuple(needs), sample=sample)

    def __or__(self, other: Change) -> Change:
        """Return both changes in one.

        >>> both = Change(gathers=True, fix={"b": 1}) | Change(opset=18, fix={"n": 8})
        >>> str(both), both.arguments == {"gathers": True, "opset": 18, "fix": {"b": 1, "n": 8}}
        ('--gathers --fix b=1 --fix n=8 --opset 18', True)
        """
        notes = {name: getattr(other, name) or getattr(self, name) for name in _NOTES}
        joined = {**self.arguments, **other.arguments}
        for name in self.arguments.keys() & other.arguments.keys():
            joined[name] = _joined(getattr(self, name), getattr(other, name))
        return Change(**joined, **notes)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments that are changed, by their names: those that ask for much come first."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in named.items() if value and name not in _NOTES}

    @property
    def asks(self) -> int:
        """How much the change asks: 0 nothing, 1 a promise about the inputs, 2 another target."""
        return 2 if self.added or self.max_rank else 1 if self.assumed else 0

    @property
    def statements(self) -> frozenset[object]:
        """The arguments as a set: a change with a subset of them asks for less."""
        stated = {**self.arguments, "needs": self.needs}
        return frozenset((name, part) for name, value in stated.items() for part in _parts(value))

    def beyond(self, base: Change) -> list[str]:
        """Return the names of the arguments that differ from those of another change."""
        return [n for n, value in self.arguments.items() if value != base.arguments.get(n)]

    def target(self, base: Target) -> Target:
        """Return the target to write for, from that of the run: what the printed text says.

        Raises ScatterXError if the text already has one of these keys, or contradicts them.
        """
        keys = self._keys()
        if not keys:
            return base
        if base.given_as:
            return replace(target_of(base.given_as + keys), name=base.name)
        content = parse_toml(f"keys = {{{keys.removeprefix(',')}}}")["keys"]
        return target_from({"name": base.name, "extends": "", **content}, BASES, lambda _: base)

    def settings(self, base: Settings) -> Settings:
        """Return the changed settings, from those of the run."""
        fix = {**(base.options["fix"] or {}), **self.fix}
        chosen: Options = {**self._options(), "target": self.target(base.target), "fix": fix}
        assumed = tuple(dict.fromkeys((*base.assumed, *self._promised())))
        return replace(base.but(**chosen), assumed=assumed)

    def command(self, base: Command) -> str:
        """Return the user's command with this change."""
        return base.text(base.target + self._keys(), self._words())

    def __str__(self) -> str:
        """Return the arguments alone.

        >>> str(Change({"dense": "true"}, fix={"b": 1}, gathers=True))
        '--target ..., dense = true --gathers --fix b=1'
        """
        keys = self._keys()
        target = [f"--target ...{keys}"] if keys else []
        return " ".join([*target, shlex.join(self._words())]).strip()

    def _keys(self) -> str:
        keys = dict(self.keys)
        if self.added:
            keys["add"] = json.dumps(self.added)
        if self.max_rank:
            keys["max_rank"] = str(self.max_rank)
        return "".join(f", {key} = {value}" for key, value in keys.items())

    def _options(self) -> Options:
        """Return the options that are changed, besides the target and the promises."""
        return cast(Options, {n: v for n, v in self.arguments.items() if n in DEFAULTS})

    def _words(self) -> list[str]:
        options = {**self._options(), "assume": promises(self._promised()) or None}
        return [*chain.from_iterable(command_words(options))]

    def _promised(self) -> tuple[Clause, ...]:
        return (*self.assumed, *read_clauses(self.needs))

    def condition(self, also: str = "") -> str:
        """Return the condition under which the change is right, in words.

        ``also`` says whether other numbers than those of ``fix`` were tried.
        """
        promised = [
            _WORDS[c.condition].format(c.name) if c.condition in _WORDS else str(c)
            for c in self.assumed
        ]
        where = f": {self.places}" if self.places else ""
        is_open = bool(self.fix.keys() - {self.sample})
        parts = [f"or with numbers of your own{where}", also or _ONCE] if is_open else []
        if self.sample in self.fix:
            only = f"{self.sample}={self.fix[self.sample]}"
            parts.insert(
                0, f"of the numbers that were tried, the model runs only at {only}, {_SAMPLE}"
            )
        if self.needs:
            at = "numbers" if self.fix else "sizes"
            parts.insert(0, f"the model runs at these {at} only with {' and '.join(self.needs)}")
        if promised:
            told = " and ".join(promised)
            parts.append(f"only if {told}, for every input: otherwise the result is wrong")
        if self.deterministic:
            parts.append("the last update wins")
        if self.added:
            parts.append(f"if your compiler has {Missing(self.added, '').listed}")
        if self.max_rank:
            parts.append(f"if your compiler takes {self.max_rank} dims")
        return "; ".join(parts)


def _joined(one: Any, other: Any) -> Any:
    """Return the value of an argument that two changes have: both, or of two numbers the larger."""
    if isinstance(one, Mapping):
        return {**one, **other}
    return tuple(dict.fromkeys((*one, *other))) if isinstance(one, tuple) else max(one, other)


def _parts(value: Any) -> Iterable[Hashable]:
    """Return the statements that the value of an argument consists of."""
    if isinstance(value, Mapping):
        return value.items()
    return value if isinstance(value, tuple) else (value,)


class Found(NamedTuple):
    """A change that removes a node, the rules that replace it, and the price if it is dense."""

    change: Change
    rules: tuple[str, ...] = ()
    price: Price | None = None

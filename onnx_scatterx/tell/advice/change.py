"""A change of the arguments for a model: its text on the command line, and its settings."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.assumptions import Clause, conditions_of, places_of
from onnx_scatterx.engine.passes import Settings
from onnx_scatterx.files import parse_toml
from onnx_scatterx.options import command_words
from onnx_scatterx.targets import BASES, Target, target_from, target_of
from onnx_scatterx.tell.advice.price import Price

_WORDS = {
    "nonnegative": "no element of {!r} is negative",
    "contiguous": "each element of {!r} is the one before it plus 1",
    "unique": "no two elements of {!r} are equal",
    "nondecreasing": "no element of {!r} is less than the one before it",
    "increasing": "each element of {!r} is greater than the one before it",
}


@dataclass(frozen=True)
class Command:
    """A command that a user typed: the model, the output, the target and the other options."""

    model: str = "MODEL.onnx"
    output: str = "OUT.onnx"
    target: str = ""
    options: tuple[str, ...] = ()

    def text(self, target: str, options: Sequence[str]) -> str:
        """Return the command with another target and more options."""
        target_option = ["--target", target] if target != "scatterx" else []
        command_words = ["onnx-scatterx", "optimize", self.model, "-o", self.output, *target_option]
        return shlex.join([*command_words, *self.options, *options])


def promises(assumed: Iterable[Clause]) -> list[str]:
    """Return the promises about each name as the text of one ``--assume``.

    >>> promises([Clause("at", "nonnegative"), Clause("n", ">= 2"), Clause("at", "< n")])
    ['at: nonnegative, < n', 'n >= 2']
    """
    conditions = conditions_of(assumed).items()
    return [", ".join((str(Clause(n, parts[0])), *parts[1:])) for n, parts in conditions]


@dataclass(frozen=True)
class Change:
    """Arguments that are changed for a model.

    ``keys`` are keys of a profile, as TOML, that change the target. ``conditions`` say, in words,
    when the change is right.
    """

    keys: Mapping[str, str] = field(default_factory=dict)
    assumed: tuple[Clause, ...] = ()
    fix: Mapping[str, int] = field(default_factory=dict)
    opset: int | None = None
    deterministic: bool = False
    gathers: bool = False
    last_bits: bool = False
    conditions: tuple[str, ...] = ()
    is_last: bool = False
    """Whether the change is tried only for scatters that no other change removes."""
    at_numbers: bool = False
    """Whether each size gets a number. The numbers are found when the change is tried."""
    places: str = ""
    """Which axis of which input has each size of ``fix``, in words."""

    @classmethod
    def at(cls, sizes: Mapping[str, int], model: ir.Model) -> Change:
        """Return the change that gives sizes of a model numbers."""
        return cls(fix=sizes, places=places_of(model, sizes))

    def __or__(self, other: Change) -> Change:
        return Change(
            {**self.keys, **other.keys},
            tuple(dict.fromkeys((*self.assumed, *other.assumed))),
            {**self.fix, **other.fix},
            other.opset or self.opset,
            self.deterministic or other.deterministic,
            self.gathers or other.gathers,
            self.last_bits or other.last_bits,
            tuple(dict.fromkeys((*self.conditions, *other.conditions))),
            is_last=self.is_last or other.is_last,
            at_numbers=self.at_numbers or other.at_numbers,
            places=other.places or self.places,
        )

    @property
    def asks(self) -> int:
        """How much the change asks: 0 nothing, 1 a promise about the inputs, 2 another target."""
        return 2 if "add" in self.keys or "max_rank" in self.keys else 1 if self.assumed else 0

    @property
    def statements(self) -> frozenset[object]:
        """The arguments as a set: a change with a subset of them asks for less."""
        flags = {"opset": self.opset, "last": self.deterministic, "gathers": self.gathers}
        flags["last_bits"] = self.last_bits
        stated = {**self.keys, **self.fix, **flags}.items()
        return frozenset({*self.assumed, *(pair for pair in stated if pair[1])})

    def target(self, given: Target) -> Target:
        """Return the target to write for, given that of the run: what the printed text says.

        Raises ScatterXError if the text already has one of these keys, or contradicts them.
        """
        if not self.keys:
            return given
        if given.given_as:
            return replace(target_of(given.given_as + self._keys()), name=given.name)
        content = parse_toml(f"keys = {{{self._keys().removeprefix(',')}}}")["keys"]
        return target_from({"name": given.name, "extends": "", **content}, BASES, lambda _: given)

    def settings(self, given: Settings) -> Settings:
        """Return the changed settings, given the settings of the user."""
        chosen = given.given
        changed = given.but(
            target=self.target(given.target),
            deterministic=chosen["deterministic"] or self.deterministic,
            gathers=chosen["gathers"] or self.gathers,
            last_bits=chosen["last_bits"] or self.last_bits,
            fix={**(chosen["fix"] or {}), **self.fix},
            opset=self.opset or chosen["opset"],
        )
        assumed = tuple(dict.fromkeys((*given.assumed, *self.assumed)))
        return replace(changed, assumed=assumed)

    def command(self, given: Command) -> str:
        """Return the user's command with this change."""
        return given.text(given.target + self._keys(), self._options())

    def __str__(self) -> str:
        """Return the arguments alone.

        >>> str(Change({"dense": "true"}, fix={"b": 1}, gathers=True))
        '--target ..., dense = true --gathers --fix b=1'
        """
        target = [f"--target ...{self._keys()}"] if self.keys else []
        return " ".join([*target, shlex.join(self._options())]).strip()

    def _keys(self) -> str:
        return "".join(f", {key} = {value}" for key, value in self.keys.items())

    def _options(self) -> list[str]:
        given = {"gathers": self.gathers, "deterministic": self.deterministic, "fix": self.fix}
        given |= {"last_bits": self.last_bits}
        given |= {"assume": promises(self.assumed) or None, "opset": self.opset}
        return [*chain.from_iterable(command_words(given))]

    def condition(self) -> str:
        """Return the condition under which the change is right, in words."""
        promised = [
            _WORDS[c.condition].format(c.name) if c.condition in _WORDS else str(c)
            for c in self.assumed
        ]
        where = f": {self.places}" if self.places else ""
        parts = [f"or with numbers of your own{where}"] if self.fix else []
        if promised:
            told = " and ".join(promised)
            parts.append(f"only if {told}, for every input: otherwise the result is wrong")
        return "; ".join([*parts, *self.conditions])


class Found(NamedTuple):
    """A change that removes a node, the rules that replace it, and the price if it is dense."""

    change: Change
    rules: tuple[str, ...] = ()
    price: Price | None = None

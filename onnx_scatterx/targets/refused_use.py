"""Uses of an operator that a target does not take, as a profile lists them.

    refused = [{types = ["int64"], ranks = [4, 5]}, {steps = [-1], axes = 2}]

A use is refused if everything that one of the tables says holds for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

LETTERS = {
    "implied": "of a result that is not written",
    "lone": "with a sum over a letter of one operand",
    "stretched": "with a letter of size 1 in one operand, and of another in the other",
    "twice": "with a letter twice in an operand",
}
"""Kinds of equations of an Einsum, in words."""


@dataclass(frozen=True)
class RefusedUse:
    """A use that a target does not take: one for which all that is given holds.

    ``ranks`` is compared with the most dims of a tensor that is read or written. Steps, pads, axes,
    columns and lengths that are not known count as refused.

    >>> print(RefusedUse(types=frozenset({"int64"}), ranks=frozenset({4, 5})))
    of int64, of 4 or 5 dims
    """

    types: frozenset[str] | None = None
    """Element types of the data."""
    index_types: frozenset[str] | None = None
    """Element types of the indices, or of the bounds of a Slice."""
    ranks: frozenset[int] | None = None
    scalars: bool | None = None
    """Whether an output, or an input that is not a constant, has no dims."""
    batch: bool | None = None
    """Whether the first axis of the data has another number of elements than one."""
    axes: int | None = None
    """It names at least so many axes."""
    steps: frozenset[int] | None = None
    """A Slice has one of these steps; -1 stands for all that are negative."""
    last: bool | None = None
    """Whether a Slice begins at the last element of an axis."""
    columns: frozenset[int] | None = None
    """The indices of a GatherND or ScatterND have so many columns."""
    uneven: bool | None = None
    """Whether a Pad adds other numbers of elements before an axis than behind it."""
    first: bool | None = None
    """Whether a Pad adds elements along the first axis."""
    wide: bool | None = None
    """Whether a Conv along one axis keeps its size, and has a kernel of 9 elements or more that are
    more than a quarter of the axis."""
    positions: bool | None = None
    """Whether a Cos or Sin is one of integers that are cast to floats."""
    zeros: bool | None = None
    """Whether the shape of a Reshape has a 0."""
    longer: bool | None = None
    """Whether a ScatterElements has more indices than data along its axis."""
    fewer: int | None = None
    """Along the attribute ``axis`` the data has fewer elements than so many."""
    larger: bool | None = None
    """Whether the output has more elements than the data along an axis."""
    smaller: bool | None = None
    """Whether the output has fewer elements than the data along an axis."""
    from_end: bool | None = None
    """Whether the attribute ``axis`` is negative."""
    dots: bool | None = None
    """Whether the equation of an Einsum has dots for any dims."""
    uneven_dots: bool | None = None
    """Whether dots of an Einsum stand for other dims in one operand, or one has none."""
    turned: bool | None = None
    """Whether the result of an Einsum has a column, of its second operand, before a row."""
    letters: frozenset[str] | None = None
    """The equation of an Einsum is of one of these kinds (``LETTERS``)."""
    inputs: frozenset[int] | None = None
    """It has so many inputs."""
    more_inputs: int | None = None
    """It has more inputs than so many."""
    by_group: bool | None = None
    """Whether a GroupNormalization has a scale for each group, as before operator set 21."""
    absent: frozenset[str] | None = None
    """Inputs and attributes that are absent, by the names in ONNX's schema."""
    constant: frozenset[str] | None = None
    """Inputs that are constants."""
    computed: frozenset[str] | None = None
    """Inputs that are not constants."""
    whole: frozenset[str] | None = None
    """Inputs that have the shape of the output."""
    broadcast: frozenset[str] | None = None
    """Inputs of several elements that have another shape than the output."""
    rank_of: tuple[tuple[str, frozenset[int]], ...] = ()
    """Inputs and outputs, and how many dims each of them may have."""
    attributes: tuple[tuple[str, frozenset[Any]], ...] = ()
    """Attributes, and the values that each of them may have."""

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> RefusedUse:
        """Return the use that a table of a profile describes.

        >>> RefusedUse.of({"attributes": {"mode": ["wrap"]}, "uneven": True})
        ... # doctest: +ELLIPSIS
        RefusedUse(..., uneven=True, ..., attributes=(('mode', frozenset({'wrap'})),))
        """
        fields: dict[str, Any] = {
            k: frozenset(v) if isinstance(v, list) else v for k, v in table.items()
        }
        for key in ("attributes", "rank_of"):
            named = fields.pop(key, {}).items()
            fields[key] = tuple((name, frozenset(values)) for name, values in sorted(named))
        return cls(**fields)

    @cached_property
    def facts(self) -> tuple[tuple[str, Any], ...]:
        """What is said of a use, but for its attributes: names of fields, and their values.

        >>> RefusedUse(axes=2, uneven=True).facts
        (('axes', 2), ('uneven', True))
        """
        said = ((name, getattr(self, name)) for name in KEYS if name != "attributes")
        return tuple((name, value) for name, value in said if value not in (None, ()))

    def __str__(self) -> str:
        told = [
            ("of {}", self.types),
            ("at {}", self.index_types),
            ("of {} dims", self.ranks),
            ("with steps {}", self.steps),
            ("at {} columns of indices", self.columns),
            ("of {} inputs", self.inputs),
            ("without {}", self.absent),
            ("with constant {}", self.constant),
            ("with computed {}", self.computed),
            ("with {} of the output's shape", self.whole),
            ("with {} of another shape", self.broadcast),
            *((f"with {name} of {{}} dims", ranks) for name, ranks in self.rank_of),
            *((f"with {name} = {{}}", values) for name, values in self.attributes),
        ]
        words = [text.format(_listed(values)) for text, values in told if values]
        words += ["of scalars"] if self.scalars else []
        words += ["with several elements along the first axis"] if self.batch else []
        words += [f"of more than {self.more_inputs} inputs"] if self.more_inputs is not None else []
        words += [f"of {self.axes} axes or more"] if self.axes is not None else []
        words += ["of uneven pads"] if self.uneven else []
        words += ["of the first axis"] if self.first else []
        words += ["with a kernel of more than a quarter of the only axis"] if self.wide else []
        words += ["of integers that are cast to floats"] if self.positions else []
        words += ["to a shape with 0"] if self.zeros else []
        words += ["of an axis counted from the end"] if self.from_end else []
        words += ["with dots"] if self.dots else []
        words += ["with dots for other dims in one operand"] if self.uneven_dots else []
        words += ["with columns before rows"] if self.turned else []
        words += [LETTERS[kind] for kind in sorted(self.letters or ())]
        words += ["with a scale for each group"] if self.by_group else []
        words += ["with more indices than data"] if self.longer else []
        words += [f"of fewer than {self.fewer} elements"] if self.fewer is not None else []
        words += ["to more elements along an axis"] if self.larger else []
        words += ["to fewer elements along an axis"] if self.smaller else []
        words += ["from the last element"] if self.last else []
        return ", ".join(words)


KEYS = {field.name: field for field in dataclasses.fields(RefusedUse)}


def _listed(values: Collection[Any]) -> str:
    return " or ".join(map(str, sorted(values)))

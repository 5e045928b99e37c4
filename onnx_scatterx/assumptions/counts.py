"""Counts: how many elements of a value are chosen, that is not 0 or True, and how they lie.

    mask: exactly 576             mask: at most 2*images
    mask: one run                 input_ids == 151655: one run of 576

A run are elements that lie next to each other in row-major order: between two of them no other
element lies. No element and one element are a run, too. A statement may be about the comparison of
a value with a number: then the elements for which it is true are counted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions.expressions import (
    COMPARISONS,
    COUNTS,
    MOST_DIGITS,
    SIGN,
    TURNED,
    ExpressionLimitError,
    beyond_limits,
    check_length,
    evaluate,
    names_in,
    read_bound,
)
from onnx_scatterx.errors import ScatterXError, did_you_mean


@dataclass(frozen=True)
class Count:
    """How many elements are chosen: at least, and at most; and whether they lie in one run.

    The bounds are numbers, or expressions of symbols.
    """

    least: int | str = 0
    most: int | str | None = None
    is_run: bool = False

    @classmethod
    def parse(cls, text: str, name: str) -> Count | None:
        """Read a count of elements of ``name``; None if the text is another condition.

        >>> Count.parse("one run of 2*n", "mask"), Count.parse("unique", "mask")
        (Count(least='2*n', most='2*n', is_run=True), None)
        """
        check_length(text)
        match = COUNTS.fullmatch(text)
        if match is None:
            return None
        if match["number"] is None:
            return cls(is_run=True)
        try:
            bound = read_bound(match["number"].strip())
        except ExpressionLimitError as error:
            raise beyond_limits(text, name, error) from error
        if bound is None or (isinstance(bound, int) and bound < 0):
            raise ScatterXError(f"cannot read how many elements of {name} there are in '{text}'")
        words = " ".join(match["words"].split())
        return cls(0 if words == "at most" else bound, bound, words == "one run of")

    def __str__(self) -> str:
        if self.most is None:
            return "one run"
        words = "one run of" if self.is_run else "exactly"
        return f"{words if self.least == self.most else 'at most'} {self.most}"

    def holds(self, chosen: np.ndarray, sizes: Mapping[str, int]) -> bool:
        """Return whether it is true of an array, at these sizes.

        A bound that the sizes do not tell allows everything.

        >>> [Count(2, 2, True).holds(np.array(m), {}) for m in ([0, 3, 1], [1, 0, 1], [0, 1, 0])]
        [True, False, False]
        """
        at = np.flatnonzero(chosen)
        least, most = self.range(sizes)
        together = not self.is_run or not at.size or at[-1] - at[0] < at.size
        return bool(least <= at.size <= most and together)

    def range(self, sizes: Mapping[str, int]) -> tuple[float, float]:
        """Return the least and the greatest number of elements, at these sizes."""
        least, most = evaluate(self.least, sizes), evaluate(self.most, sizes)
        return 0 if least is None else least, math.inf if most is None else most

    @property
    def symbols(self) -> frozenset[str]:
        """The symbols in the bounds."""
        bounds = (b for b in (self.least, self.most) if isinstance(b, str))
        return frozenset[str]().union(*map(names_in, bounds))


def common_range(counts: Iterable[Count], sizes: Mapping[str, int]) -> tuple[float, float]:
    """Return how many elements all counts allow, at these sizes: the first is more if none is.

    >>> common_range([Count(2, 8), Count(0, 4)], {})
    (2, 4)
    """
    ranges = [count.range(sizes) for count in counts]
    return max((low for low, _ in ranges), default=0), min(
        (high for _, high in ranges), default=math.inf
    )


@dataclass(frozen=True)
class Subject:
    """A value whose elements are counted: itself, or its comparison with a number.

    >>> str(Subject.of("151655 == input_ids")), Subject.of("mask").sign
    ('input_ids == 151655', '')
    """

    value: str
    sign: str = ""
    number: int | float = 0

    @classmethod
    def of(cls, text: str) -> Subject:
        """Read the comparison of a value with a number; any other text is the name of a value."""
        match [side.strip() for side in SIGN.split(text)]:
            case [value, sign, bound] if sign in TURNED and value:
                number, turned = _number(bound), _number(value)
                if number is not None:
                    return cls(value, sign, number)
                if turned is not None and bound:
                    return cls(bound, TURNED[sign], turned)
        return cls(text.strip())

    def __str__(self) -> str:
        return f"{self.value} {self.sign} {self.number}" if self.sign else self.value

    @property
    def is_not_zero(self) -> bool:
        """Whether the elements that are not 0 are counted, as NonZero finds them."""
        return not self.sign or (self.sign == "!=" and self.number == 0)

    def chosen(self, array: np.ndarray) -> np.ndarray:
        """Return which elements of the value's array are counted.

        >>> Subject("x", "<", 0.1).chosen(np.array([0.1, 0.0, np.nan], np.float32)).tolist()
        [False, True, False]
        """
        if not self.sign:
            return np.asarray(array != 0)
        number = self.number
        # A float is compared in the value's own type, as in the model.
        other = number if array.dtype.kind in "iu" else np.asarray(number).astype(array.dtype)
        return np.asarray(COMPARISONS[self.sign](array, other))

    def check(self, values: Mapping[str, ir.DataType | None], symbols: Iterable[str]) -> None:
        """Raise ScatterXError if a model of these values has no such value, or of another type.

        A type that is None is not known.
        """
        if self.value not in values:
            if self.value in symbols:
                raise ScatterXError(f"cannot count elements of {self.value!r}: it is a size")
            near = did_you_mean(self.value, list(values))
            raise ScatterXError(
                f"cannot count elements of {self.value!r}: the model has no such value outside of "
                f"the bodies of nodes{near}"
            )
        dtype, what = values[self.value], f"cannot count elements of {str(self)!r}: "
        if dtype is None:
            return
        if not self.sign and not (dtype.is_integer() or dtype == ir.DataType.BOOL):
            raise ScatterXError(
                f"{what}it holds {dtype.name.lower()}, neither bools nor integers; compare it with "
                "a number"
            )
        if self.sign and not (dtype.is_integer() or dtype.is_floating_point()):
            raise ScatterXError(f"{what}{self.value!r} holds {dtype.name.lower()}, not numbers")
        if self.sign and dtype.is_integer() and not self._is_of(dtype):
            raise ScatterXError(f"{what}{self.number} is no number of {dtype.name.lower()}")

    def _is_of(self, dtype: ir.DataType) -> bool:
        within = dtype.bitwidth < 8 or int(dtype.min) <= self.number <= int(dtype.max)
        return isinstance(self.number, int) and within


def _number(text: str) -> int | float | None:
    """Return a finite number, an integer if it is written as one; None for another text."""
    if not re.fullmatch(r"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII):
        return None
    if re.fullmatch(r"-?\d+", text):
        return int(text) if len(text.lstrip("-")) <= MOST_DIGITS else None
    number = float(text)
    return number if math.isfinite(number) else None


def check_counts(name: str, counts: Iterable[Count], conditions: Iterable[str]) -> None:
    """Raise ScatterXError if no number of elements is allowed by counts whose bounds are numbers.

    >>> check_counts("mask", [Count(5, 5), Count(0, 3)], ["exactly 5", "at most 3"])
    Traceback (most recent call last):
    onnx_scatterx.errors.ScatterXError: no mask satisfies all of this: mask: exactly 5, at most 3
    """
    low, high = common_range(counts, {})
    if low > high:
        raise ScatterXError(f"no mask satisfies all of this: {name}: {', '.join(conditions)}")

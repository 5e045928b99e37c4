"""Constants as terms: one element, a formula of the coordinates, or a lookup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from onnx_scatterx.judges.equivalence.core.arithmetic import add, integer, number
from onnx_scatterx.judges.equivalence.core.contents import bytes_of
from onnx_scatterx.judges.equivalence.core.terms import RULES, Term, make
from onnx_scatterx.judges.equivalence.core.types import constant, sort_of


@dataclass(frozen=True)
class Lookup:
    """A flat constant that is looked up; two are equal if their types and bytes are."""

    dtype: str
    content: bytes
    array: np.ndarray = field(compare=False, repr=False)

    @classmethod
    def of(cls, array: np.ndarray, dtype: str) -> Lookup:
        """Return the lookup of an array."""
        return cls(dtype, bytes_of(array), array.ravel())


def entry(lookup: Lookup, index: Term) -> Term:
    """Return the element of a lookup at a flat index."""
    at = number(index)
    if at is not None:
        inside = min(max(at, 0), len(lookup.array) - 1)  # outside, any value is correct
        return constant(lookup.array[inside], lookup.dtype)
    sort = sort_of(lookup.dtype)
    low = high = 0
    if sort == "integer":
        low, high = int(lookup.array.min()), int(lookup.array.max())
    return make("lookup", (index,), lookup, sort, low, high)


RULES["lookup"] = lambda term, args: entry(term.data, *args)


def element(array: np.ndarray, dtype: str, coordinates: Sequence[Term]) -> Term:
    """Return the element of a constant at some coordinates."""
    known = [number(c) for c in coordinates]
    if not array.size:
        return constant(np.zeros(1, array.dtype)[0], dtype)
    index: list[slice | int] = [slice(None) if k is None else k for k in known]
    for axis, (k, n) in enumerate(zip(known, array.shape, strict=True)):
        if k is not None:
            index[axis] = min(max(k, 0), n - 1)
    rest = array[tuple(index)]
    left = [c for c, k in zip(coordinates, known, strict=True) if k is None]
    # An axis along which nothing changes does not count.
    for axis in reversed(range(rest.ndim)):
        first = np.take(rest, [0], axis)
        if _same(rest, first):
            rest = np.take(rest, 0, axis)
            del left[axis]
    if not left:
        return constant(np.asarray(rest).reshape(-1)[0], dtype)
    if sort_of(dtype) == "integer":
        steps = affine(rest)
        if steps is not None:
            parts = [c * s for c, s in zip(left, steps, strict=True)]
            return add(integer(int(rest.reshape(-1)[0])), *parts)
    flat = integer(0)
    for c, n in zip(left, rest.shape, strict=True):
        flat = flat * integer(n) + c
    return entry(Lookup.of(rest, dtype), flat)


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    return bytes_of(one) == bytes_of(np.broadcast_to(other, one.shape))


def affine(array: np.ndarray) -> tuple[int, ...] | None:
    """Return the step of an array along each axis, if that is the same everywhere."""
    first = int(array.reshape(-1)[0])
    steps = []
    for axis, n in enumerate(array.shape):
        at = [0] * array.ndim
        at[axis] = 1
        steps.append(int(array[tuple(at)]) - first if n > 1 else 0)
    if array.dtype == np.uint64 and int(array.max()) >= 2**62:
        return None
    furthest = abs(first) + sum(abs(s) * n for s, n in zip(steps, array.shape, strict=True))
    if furthest >= 2**62:  # beyond that, NumPy's integers wrap around
        return None
    made = np.full(array.shape, first, np.int64)
    for axis, (step, n) in enumerate(zip(steps, array.shape, strict=True)):
        shape = [1] * array.ndim
        shape[axis] = n
        made = made + step * np.arange(n, dtype=np.int64).reshape(shape)
    return tuple(steps) if np.array_equal(made, array.astype(np.int64)) else None

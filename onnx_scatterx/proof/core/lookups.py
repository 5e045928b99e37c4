"""Constants: reads their bytes, gives their elements as terms, and inverts constant columns."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from onnx_scatterx.proof.core.arithmetic import add, integer, number
from onnx_scatterx.proof.core.terms import RULES, Term, UnsupportedError, make, step
from onnx_scatterx.proof.core.types import constant, dtype_name, sort_of

_LOADED = 1 << 20  # bytes of external data; if there are more, only the digest is computed
_RUNS = 64  # the most runs of equal elements
_AT_A_STEP = 1000  # elements that are compared in one step


@dataclass(frozen=True)
class Contents:
    """A constant: its type, its shape, the digest of its bytes; its elements if they are read."""

    dtype: str
    shape: tuple[int, ...]
    digest: bytes
    array: np.ndarray | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, array: np.ndarray, dtype: str) -> Contents:
        """Return the contents of an array."""
        return cls(dtype, array.shape, _digest(array), array)


def _digest(array: np.ndarray) -> bytes:
    """Return a digest of the bits: arrays of one type and shape are the same if it is the same."""
    if array.dtype == object:
        return hashlib.sha256(repr(array.ravel().tolist()).encode()).digest()
    return hashlib.sha256(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data).digest()


def _bits(array: np.ndarray) -> np.ndarray:
    """Return an array of unsigned integers with the same bits, so that NaN equals itself."""
    if array.dtype == object:
        return array
    size = array.dtype.itemsize
    return array.view([("high", "u8"), ("low", "u8")] if size == 16 else f"u{size}")


def contents(proto: onnx.TensorProto, beside: Path | None = None) -> Contents:
    """Return a constant; large external data have only a digest."""
    dtype, shape = dtype_name(proto.data_type), tuple(proto.dims)
    if proto.data_location == onnx.TensorProto.EXTERNAL:
        digest, raw = _external(proto, beside)
        if raw is None:
            return Contents(dtype, shape, digest)
        proto = onnx.TensorProto(
            name=proto.name, data_type=proto.data_type, dims=shape, raw_data=raw
        )
    try:
        array = np.asarray(numpy_helper.to_array(proto))
    except (ValueError, TypeError, OverflowError) as error:
        raise UnsupportedError(f"the tensor {proto.name!r} cannot be read") from error
    if array.dtype == bool:
        _check_conditions(proto.name, array.tobytes(), proto.int32_data)
    return Contents.of(array, dtype)


def _check_conditions(name: str, data: bytes, numbers: Iterable[int] = ()) -> None:
    """Raise UnsupportedError if an element of a bool tensor is neither 0 nor 1.

    ONNX Runtime keeps the bytes of external data, and takes a 256 in ``int32_data`` for true, but
    onnx takes it for false.
    """
    if data.strip(b"\0\1") or not {0, 1}.issuperset(numbers):
        raise UnsupportedError(f"the bool tensor {name!r} has an element that is neither 0 nor 1")


def _external(proto: onnx.TensorProto, beside: Path | None) -> tuple[bytes, bytes | None]:
    """Return the digest of bytes in a file beside the model, and the bytes if they are few."""
    said = {e.key: e.value for e in proto.external_data}
    location = Path(said.get("location", ""))
    what = f"the external data of {proto.name!r}"
    if beside is None or location.is_absolute() or ".." in location.parts:
        raise UnsupportedError(f"{what}, which are not beside the model")
    path = beside / location
    if not path.is_file():
        raise UnsupportedError(f"{what}: the file {location} is missing")
    try:
        offset = int(said.get("offset", 0))
        length = int(said.get("length", path.stat().st_size - offset))
    except ValueError as error:
        raise UnsupportedError(f"{what}: where they lie is not a number") from error
    if offset < 0 or length < 0 or offset + length > path.stat().st_size:
        raise UnsupportedError(f"{what}: the file is too short")
    with path.open("rb") as file:
        file.seek(offset)
        if length <= _LOADED:
            return b"", file.read(length)
        made = hashlib.sha256()
        while length and (part := file.read(min(length, _LOADED))):
            if proto.data_type == onnx.TensorProto.BOOL:
                _check_conditions(proto.name, part)
            made.update(part)
            length -= len(part)
    return made.digest(), None


@dataclass(frozen=True)
class ConstantArray:
    """A flat constant for lookups. Two lookups are equal if their types and bytes are equal."""

    dtype: str
    digest: bytes
    array: np.ndarray = field(compare=False, repr=False)

    @classmethod
    def of(cls, array: np.ndarray, dtype: str) -> ConstantArray:
        """Return the lookup of an array."""
        return cls(dtype, _digest(array), array.ravel())

    @functools.cached_property
    def ends(self) -> tuple[int, int]:
        """The least and the greatest element of integers; 0, 0 for other types."""
        integers = sort_of(self.dtype) == "integer"
        return (int(self.array.min()), int(self.array.max())) if integers else (0, 0)

    @functools.cached_property
    def runs(self) -> list[int] | None:
        """The starts of runs of equal elements; None if there are many."""
        bits = _bits(self.array)
        changes = bits[1:] != bits[:-1]
        if np.count_nonzero(changes) >= _RUNS:
            return None
        return [0, *(np.flatnonzero(changes) + 1).tolist()]


def entry(lookup: ConstantArray, index: Term) -> Term:
    """Return the element of a lookup at a flat index."""
    at = number(index)
    if at is not None:
        inside = min(max(at, 0), len(lookup.array) - 1)  # outside of the array, any value is right
        return constant(lookup.array[inside], lookup.dtype)
    return make("lookup", (index,), lookup, sort_of(lookup.dtype), *lookup.ends)


RULES["lookup"] = lambda term, args: entry(term.data, *args)


class StoredArray:
    """The elements of a constant as terms; the terms of its parts are computed once."""

    def __init__(self, array: np.ndarray, dtype: str) -> None:
        self._array, self._dtype = array, dtype
        self._parts: dict[tuple[int | None, ...], Callable[[list[Term]], Term]] = {}

    def at(self, coordinates: Sequence[Term]) -> Term:
        """Return the element at some coordinates; outside of the array, any value is right."""
        if not self._array.size:
            return constant(np.zeros(1, self._array.dtype)[0], self._dtype)
        numbers = map(number, coordinates)
        known = tuple(
            None if k is None else min(max(k, 0), n - 1)
            for k, n in zip(numbers, self._array.shape, strict=True)
        )
        if None not in known:
            return self._element(known)
        if known not in self._parts:
            self._parts[known] = self._part(known)
        return self._parts[known]([c for c, k in zip(coordinates, known, strict=True) if k is None])

    def _element(self, at: Sequence[int | None]) -> Term:
        element: Any = self._array[tuple(k or 0 for k in at)]
        return constant(element, self._dtype)

    def _part(self, known: Sequence[int | None]) -> Callable[[list[Term]], Term]:
        """Return the elements at the known coordinates, as a function of the other coordinates."""
        dtype = self._dtype
        rest = self._array[tuple(slice(None) if k is None else k for k in known)]
        step(rest.size // _AT_A_STEP)
        changing = [axis for axis in range(rest.ndim) if _changes(rest, axis)]
        rest = rest[tuple(slice(None) if k in changing else 0 for k in range(rest.ndim))]
        if not changing:
            only = self._element(known)
            return lambda _: only
        steps = affine(rest) if sort_of(dtype) == "integer" else None
        if steps is not None:
            first = integer(int(rest.reshape(-1)[0]))
            pairs = list(zip(changing, steps, strict=True))
            return lambda at: add(first, *(at[axis] * s for axis, s in pairs))
        lookup = ConstantArray.of(rest, dtype)

        def looked_up(at: list[Term]) -> Term:
            flat = integer(0)
            for axis, n in zip(changing, rest.shape, strict=True):
                flat = flat * integer(n) + at[axis]
            return entry(lookup, flat)

        return looked_up


def _changes(array: np.ndarray, axis: int) -> bool:
    """Return whether an array changes along an axis; the ends are compared first."""
    bits = _bits(array)
    first = bits.take([0], axis)
    return not (np.array_equal(first, bits.take([-1], axis)) and bool(np.all(bits == first)))


def affine(array: np.ndarray) -> tuple[int, ...] | None:
    """Return the step of an array along each axis; None if a step is not the same everywhere."""
    first = int(array.reshape(-1)[0])
    steps = [
        int(array[tuple(at)]) - first if n > 1 else 0
        for at, n in zip(np.eye(array.ndim, dtype=int), array.shape, strict=True)
    ]
    furthest = abs(first) + sum(abs(s) * n for s, n in zip(steps, array.shape, strict=True))
    if furthest >= 2**62:  # sums of larger integers wrap around in NumPy
        return None
    grid = np.ogrid[tuple(map(slice, array.shape))]
    made = first + sum(by * at for by, at in zip(steps, grid, strict=True))
    return tuple(steps) if np.array_equal(made, array.astype(np.int64)) else None


_LONGEST, _LARGEST, _DEEPEST = 1 << 16, 1 << 20, 16


def tabulated(term: Term, grid: Mapping[Term, np.ndarray]) -> np.ndarray | None:
    """Return the values of an integer on a grid of coordinates; None if it has other unknowns.

    The values are integers of Python, which do not wrap around.
    """
    if term in grid:
        return grid[term]
    match term.op:
        case "integer":
            return np.asarray(term.data, object)
        case "polynomial":
            atoms: dict[Term, Any] = {a: tabulated(a, grid) for a in term.args}
            if any(table is None for table in atoms.values()):
                return None
            products = (c * math.prod([atoms[a] for a in m]) for m, c in term.data)
            return np.asarray(sum(products), object)
        case "divide" | "modulo" if term.args[1].op == "integer" and term.args[1].data > 0:
            dividend, divisor = tabulated(term.args[0], grid), term.args[1].data
            if dividend is None:
                return None
            return np.asarray(
                dividend // divisor if term.op == "divide" else dividend % divisor, object
            )
        case "lookup":
            index = tabulated(term.args[0], grid)
            if index is None or term.sort != "integer":
                return None
            array = term.data.array
            inside = np.clip(index, 0, len(array) - 1).astype(np.int64)
            return np.asarray(array[inside].astype(object))
    return None


@dataclass(frozen=True)
class Inverse:
    """The inverse of constant columns: from the columns' values to the points of a box.

    ``last`` has the last point for each combination of values, which are below ``extents``; -1
    without a point. If some values have several points, ``layers`` has the first points, the second
    points and so on. It is empty if there are too many.
    """

    sizes: list[int]
    extents: list[int]
    last: np.ndarray
    layers: list[np.ndarray]
    unique: bool


def inverted(columns: Sequence[Term], box: Mapping[Term, int]) -> Inverse | None:
    """Return the inverse of columns; None if they are not constant, or the box is too large."""
    sizes = list(box.values())
    if not 0 < np.prod(sizes, dtype=object) <= _LONGEST:
        return None
    grid = dict(zip(box, np.indices(sizes).astype(object), strict=True))
    tables = [tabulated(column, grid) for column in columns]
    values = [np.broadcast_to(t, sizes).ravel() for t in tables if t is not None]
    if len(values) < len(columns) or any(f.min() < 0 for f in values):
        return None
    extents = [int(f.max()) + 1 for f in values]
    whole = int(np.prod(extents, dtype=object))
    if whole > _LARGEST:
        return None
    flat = np.ravel_multi_index([f.astype(np.int64) for f in values], extents)
    last = np.full(whole, -1, np.int64)
    last[flat] = np.arange(len(flat))
    unique = len(np.unique(flat)) == len(flat)
    return Inverse(sizes, extents, last, [] if unique else _layers(flat, whole), unique)


def _layers(flat: np.ndarray, size: int) -> list[np.ndarray]:
    """Return the first, second, ... position of each number, or -1 for no position."""
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    nth = np.arange(len(flat)) - np.searchsorted(ordered, ordered)
    deepest = int(nth.max()) + 1
    layers = []
    for layer in range(deepest if deepest <= _DEEPEST else 0):
        table = np.full(size, -1, np.int64)
        chosen = nth == layer
        table[ordered[chosen]] = order[chosen]
        layers.append(table)
    return layers

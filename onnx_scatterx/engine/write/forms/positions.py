"""Positions by other operators: Range, and NonZero of one number, or of a known number of others.

    NonZero(ConstantOfShape([n], 1))      =   Unsqueeze(Range(0, n, 1), 0)
    NonZero(ConstantOfShape([n, m], 1))   =   Concat(0, 0, ..., 1, 1, ...; 0, 1, ..., 0, 1, ...)
    NonZero(ConstantOfShape([n], 0))      =   an empty constant
    NonZero(m), of which k are not 0      =   Gather(positions of all elements, p)
    p                                     =   TopK(Where(m, [n, ..., 2, 1], [0, -1, ...]), k)
                                          =   ArgMax(the same) + [0, 1, ...]      if k lie in a run
    p[j]                                  =   how many sums in CumSum(m) are at most j
    Range(0, n, 1)                        =   Slice([0, 1, ...], 0, n)          if n has a bound
                                          =   CumSum<exclusive=1>([1, 1, ...])

NaN is not zero, and -0.0 is zero. Sizes need not be known: they are read from the tensor's shape. A
constant mask of any numbers is folded before. The last three need k as a number, and the sizes too,
if more than one of them is not 1, or where sums are compared. No two keys of a TopK are equal.
Floats hold them, and sums, up to 2^24; keys are never of fewer bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import NotKnownError, require, required
from onnx_scatterx.engine.terms import Term, term
from onnx_scatterx.engine.write.forms.casts import EXACT
from onnx_scatterx.engine.write.forms.request import Request, is_taken
from onnx_scatterx.engine.write.ordered import top
from onnx_scatterx.graphs import made_by

_INT64, _INT32, _FLOAT = ir.DataType.INT64, ir.DataType.INT32, ir.DataType.FLOAT
_BOOL = ir.DataType.BOOL
_COMPARED = 1 << 14  # elements of a comparison, if the target says nothing of dense forms
_TABLE = 1 << 17  # elements of a table of positions
_Way = Callable[..., ir.Value]
"""Writes flat positions with numbers of an element type."""


def all_or_none(request: Request) -> ir.Value:
    """List all positions of a tensor of one number, or none, if the number is 0."""
    w, rank = request.writer, len(required(request.known_of(0).shape))
    require(rank, request.dtype == _INT64)
    if not _number(request):
        return w.constant(np.zeros((rank, 0), np.int64))
    sizes = _sizes(request, rank)
    if rank == 1:
        return w.axes("Unsqueeze", _line(request, sizes, 0, rank), _INT64, [0])
    rows = [_row(request, sizes, d, rank) for d in range(rank)]
    return w.node("Concat", rows, _INT64, axis=0)


def _number(request: Request) -> bool:
    """Return whether the number that all elements are is not 0."""
    known = request.known_of(0)
    if known.is_integer:
        if isinstance(known.content, Term):
            return bool(required(known.content.constant))
        numbers = required(known.constant)
        require(numbers.size, (numbers == numbers.flat[0]).all())
        return bool(numbers.flat[0])
    node, tensor = made_by(request.input(0), "ConstantOfShape"), None
    if node is not None:
        attribute = node.attributes.get("value")
        require(attribute is None or not attribute.is_ref())
        if attribute is None:
            return False
        tensor = attribute.as_tensor()
    elif (node := made_by(request.input(0), "Expand")) is not None:
        tensor = request.constant(node.inputs[0])
    array = required(tensor).numpy()
    require(array.size == 1)
    return bool(array.ravel()[0] != 0)


def _sizes(request: Request, rank: int) -> ir.Value:
    """Return the sizes of the tensor as a vector, not read from the tensor if that can be."""
    w, known = request.writer, request.known_of(0)
    if known.static_shape is not None:
        return w.constant(list(known.static_shape))
    node = made_by(request.input(0), "ConstantOfShape")
    if node is not None and node.inputs[0] is not None:
        return node.inputs[0]
    return w.node("Shape", [request.input(0)], _INT64)


def _line(request: Request, sizes: ir.Value, axis: int, rank: int) -> ir.Value:
    """Write the numbers from 0 up to a size."""
    w, known = request.writer, request.known_of(0).dims[axis].constant
    number = made_by(sizes, "Unsqueeze")
    if known is not None:
        limit = w.constant(np.array(known))
    elif number is not None and rank == 1 and number.inputs[0] is not None:
        limit = number.inputs[0]
    else:
        one = sizes if rank == 1 else w.slice(sizes, _INT64, [0], [axis], [axis + 1], [1])
        limit = w.axes("Squeeze", one, _INT64, [0])
    zero, step = (w.constant(np.array(n)) for n in (0, 1))
    return w.node("Range", [zero, limit, step], _INT64)


def _row(request: Request, sizes: ir.Value, axis: int, rank: int) -> ir.Value:
    """Write the positions along an axis of all elements, in order, as one row."""
    w, others = request.writer, [d for d in range(rank) if d != axis]
    line = w.axes("Unsqueeze", _line(request, sizes, axis, rank), _INT64, others)
    full = w.node("Expand", [line, sizes], _INT64)
    return w.node("Reshape", [full, w.constant([1, -1])], _INT64)


def of_known_number(request: Request) -> ir.Value:
    """List the positions of so many elements as are known not to be 0."""
    require(request.known_of(0).shape is not None)
    w, dims = request.writer, request.known_of(0).dims
    flat, long = flat_positions(request), [d for d, n in enumerate(dims) if n.constant != 1]
    if len(dims) == 1:
        return w.axes("Unsqueeze", flat, _INT64, [0])
    if request.known_of(0).static_shape is None:
        row = w.axes("Unsqueeze", flat, _INT64, [0])
        ones = w.constant(np.zeros((1, required(request.result.dims[1].constant)), np.int64))
        rows = [row if d in long else ones for d in range(len(dims))]
        return w.node("Concat", rows, _INT64, axis=0)
    shape = request.shape(0)
    require(len(shape) * math.prod(shape) <= _TABLE)
    for axis in (1, 0):
        made = partial(_looked_up, request, flat, shape, axis)
        if is_taken(request, made):
            return made()
    raise NotKnownError


def _looked_up(request: Request, flat: ir.Value, shape: tuple[int, ...], axis: int) -> ir.Value:
    """Look flat positions up along an axis of a table of positions."""
    w, table = request.writer, positions_of(shape)
    made = w.constant(table if axis else np.ascontiguousarray(table.T))
    rows = w.node("Gather", [made, flat], _INT64, axis=axis)
    return rows if axis else w.transpose(rows, _INT64, [1, 0])


def positions_of(shape: tuple[int, ...]) -> np.ndarray:
    """Return the positions of all elements of a tensor in their order, one column for each.

    >>> positions_of((1, 3))
    array([[0, 0, 0],
           [0, 1, 2]])
    """
    return np.indices(shape, np.int64).reshape(len(shape), -1)


def flat_positions(request: Request) -> ir.Value:
    """Write the positions in row-major order, in the first way that the target takes."""
    w, dims = request.writer, required(request.known_of(0).shape)
    low, high = w.facts.interval(request.result.dims[1])
    size = math.prod(dims, start=term(1)).constant
    require(dims, request.dtype == _INT64, low == high)
    require(size is not None or sum(n.constant != 1 for n in dims) == 1)
    count, chosen = int(low), request.known_of(0).chosen
    if count in (0, size):
        return w.constant(list(range(count)))
    require(size is None or count <= size)
    ways: list[_Way] = [_sorted, _counted]
    if count == 1 or (chosen is not None and chosen.is_run):
        ways = [partial(_run, first) for first in (_found, *ways)]
    kinds = [_INT32, _INT64, *([_FLOAT] if size is not None and size < EXACT else [])]
    for way, kind in product(ways, kinds):
        made = partial(way, request, kind, size=size, count=count)
        if is_taken(request, made):
            return made()
    raise NotKnownError


def _run(
    first: _Way, request: Request, kind: ir.DataType, *, size: int | None, count: int
) -> ir.Value:
    """Count on from the first position."""
    start = first(request, kind, size=size, count=1)
    if count == 1:
        return start
    return request.writer.node("Add", [start, request.writer.constant(range(count))], _INT64)


def _found(request: Request, kind: ir.DataType, *, size: int | None, count: int) -> ir.Value:
    """Find the greatest key, which is the one of the first position."""
    require(count == 1)
    keys = _keys(request, kind, size)
    return request.writer.node("ArgMax", [keys], _INT64, axis=0, keepdims=1)


def _sorted(request: Request, kind: ir.DataType, *, size: int | None, count: int) -> ir.Value:
    """Sort the keys: those of elements that are not 0 are greater, and descend."""
    w = request.writer
    require(w.version >= 11)
    return top(w, _keys(request, kind, size), kind, w.constant([count]), 0, largest=True)[1]


def _keys(request: Request, kind: ir.DataType, size: int | None) -> ir.Value:
    """Write a number for each element, no two of them equal."""
    w, line = request.writer, _line_of(request, _BOOL)
    if size is not None:
        at = np.arange(size)
        chosen, other = (w.constant(n.astype(kind.numpy()), kind) for n in (size - at, -at))
        return w.node("Where", [line, chosen, other], kind)
    require(kind == _INT64)
    sizes = w.node("Shape", [line], _INT64)
    zero, one = (w.constant(np.array(n)) for n in (0, 1))
    places = w.node("Range", [zero, w.axes("Squeeze", sizes, _INT64, [0]), one], _INT64)
    chosen = w.node("Sub", [sizes, places], _INT64)
    return w.node("Where", [line, chosen, w.node("Neg", [places], _INT64)], _INT64)


def _counted(request: Request, kind: ir.DataType, *, size: int | None, count: int) -> ir.Value:
    """Count the elements before each position: those whose running sums do not exceed it."""
    w = request.writer
    limit = _COMPARED if w.target.dense_limit is None else w.target.dense_limit
    require(required(size) * count <= limit)
    sums = w.node("CumSum", [_line_of(request, kind), w.constant(np.array(0))], kind)
    ends = w.constant(np.arange(1, count + 1).reshape(-1, 1).astype(kind.numpy()), kind)
    before = w.cast(w.node("Less", [sums, ends], _BOOL), _BOOL, kind)
    return w.cast(w.reduce("ReduceSum", before, kind, 1), kind, _INT64)


def _line_of(request: Request, kind: ir.DataType) -> ir.Value:
    """Write the mask as a vector of numbers 0 and 1."""
    w, x = request.writer, request.input(0)
    dtype = required(request.known_of(0).dtype)
    x = w.cast(x, dtype, _BOOL)
    if len(request.known_of(0).dims) > 1:
        x = w.node("Reshape", [x, w.constant([-1])], _BOOL)
    return w.cast(x, _BOOL, kind)


def cut_line(request: Request) -> ir.Value:
    """Cut the numbers from 0 up to a size from a table of as many as there may be."""
    w, most = request.writer, _limit_of_line(request)
    require(most <= _TABLE, request.takes("Slice"))
    end = w.axes("Unsqueeze", request.input(1), _INT64, [0])
    zero = w.constant([0])
    return w.node("Slice", [w.constant(np.arange(most)), zero, end, zero], _INT64)


def summed_line(request: Request) -> ir.Value:
    """Count the ones before each one."""
    w, _ = request.writer, _limit_of_line(request)
    size = w.axes("Unsqueeze", request.input(1), _INT64, [0])
    ones = w.node("Expand", [w.constant([1]), size], _INT64)
    return w.node("CumSum", [ones, w.constant(np.array(0))], _INT64, exclusive=1)


def _limit_of_line(request: Request) -> float:
    """Return how many numbers from 0 on there may be."""
    start, limit, step = (request.known_of(i).scalar for i in range(3))
    require(request.dtype == _INT64, start is not None and start.constant == 0)
    require(step is not None and step.constant == 1)
    low, high = request.writer.facts.interval(required(limit))
    require(low >= 0)
    return high

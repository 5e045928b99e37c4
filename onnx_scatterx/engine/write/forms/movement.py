"""Slices, copies and choices between tensors by operators that a target takes.

    x[1::2]          =   the first element of each row of x[1:], which is cut into rows of 2; if
                         the rank would be too large, the other axes are merged
    x[::-1]          =   Gather(x, [n - 1, ..., 0]), and x[2:4] = Gather(x, [2, 3])
    Expand(x, s)     =   Tile(x, s / shape of x), and x + zeros of shape s for integers
    Where(c, a, b)   =   Where of c, a and b, each expanded to the shape of the result

They hold if the sizes are known numbers. No Reshape is written with a 0, which copies a size:
compilers interpret it differently.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import NotKnownError, require, required
from onnx_scatterx.engine.write.forms.request import MOST, Request
from onnx_scatterx.graphs import INT64_MAX

_LISTED = 1 << 10  # elements of a constant that is written out, if another node may make them
_PARTS = 16  # slices that one Slice may become


def strided_slice(request: Request) -> ir.Value:
    """Take every second (third, ...) element axis by axis, without a step."""
    shape = request.shape(0)
    starts, ends, steps = (request.numbers(i) for i in (1, 2, 4))
    axes = request.numbers(3) if request.has(3) else list(range(len(starts)))
    # A reversed Slice that ends there runs to the first element in ONNX Runtime, not in ONNX.
    backwards = (step for end, step in zip(ends, steps, strict=True) if end == INT64_MAX)
    require(request.kind, all(step >= 0 for step in backwards))
    picks = {}
    for a, s, e, step in zip(axes, starts, ends, steps, strict=True):
        axis = a % len(shape)
        picks[axis] = _positions(s, e, step, shape[axis])
    may_reshape = 0 not in shape and all(picks.values()) and request.takes("Reshape")
    writes = [_taker(request, shape, axis, pick, may_reshape) for axis, pick in picks.items()]
    x = request.input(0)
    sizes = list(shape)
    for (axis, pick), how in zip(picks.items(), writes, strict=True):
        x = _taken(request, x, sizes, axis, pick, how)
        sizes[axis] = len(pick)
    return x


def listed_slice(request: Request) -> ir.Value:
    """Take the positions of a Slice without steps by a Gather, axis by axis."""
    dims, x, w = required(request.known_of(0).shape), request.input(0), request.writer
    require(not request.takes("Slice"), request.takes("Gather"), not request.has(4), request.kind)
    starts, ends = (request.numbers(i) for i in (1, 2))
    axes = request.numbers(3) if request.has(3) else list(range(len(starts)))
    picks = {}
    for a, start, end in zip(axes, starts, ends, strict=True):
        size = required(dims[a % len(dims)].constant)
        picks[a % len(dims)] = _positions(start, end, 1, size)
    require(all(len(pick) <= MOST for pick in picks.values()))
    for axis, pick in picks.items():
        x = w.node("Gather", [x, w.constant(np.array(pick, np.int64))], request.kind, axis=axis)
    return x


def _positions(start: int, end: int, step: int, size: int) -> range:
    """Return the positions that a Slice takes on an axis; Python drops bounds that ONNX clamps."""
    start, end = (n + size if n < 0 else n for n in (start, end))
    if size == 0:
        return range(0)
    if step > 0:
        return range(min(max(start, 0), size), min(max(end, 0), size), step)
    return range(min(max(start, 0), size - 1), min(max(end, -1), size - 1), step)


def _taker(
    request: Request, shape: tuple[int, ...], axis: int, pick: range, may_reshape: bool
) -> str:
    """Return the operators by which these positions of an axis can be taken."""
    slices = request.takes("Slice")
    if slices and (pick.step == 1 or not pick):
        return "Slice"
    if slices and may_reshape and _window(pick, shape[axis]) is not None:
        before, after = _around(request, shape, axis)
        if len(before) + 2 + len(after) <= request.largest_rank():
            return "Reshape"
    if request.takes("Gather"):
        return "Gather"
    if slices and request.takes("Concat") and len(pick) <= _PARTS:
        return "Concat"
    raise NotKnownError


def _window(pick: range, size: int) -> tuple[int, int] | None:
    """Return the start of rows of ``step`` elements that hold one position each, and its column."""
    step = pick.step
    if step < 1 or not pick:
        return None
    for column in range(step):
        begin = pick.start - column
        if begin >= 0 and begin + len(pick) * step <= size:
            return begin, column
    return None


def _taken(
    request: Request, x: ir.Value, sizes: list[int], axis: int, pick: range, how: str
) -> ir.Value:
    w = request.writer
    if how == "Slice":
        begin, end = (pick.start, pick[-1] + 1) if pick else (0, 0)
        return x if (begin, end) == (0, sizes[axis]) else request.cut(x, axis, begin, end)
    if how == "Gather":
        return w.node("Gather", [x, w.constant(np.array(pick))], request.dtype, axis=axis)
    if how == "Concat":
        return request.join([request.cut(x, axis, i, i + 1) for i in pick], axis)
    window = _window(pick, sizes[axis])
    assert window is not None
    begin, column = window
    end = begin + len(pick) * pick.step
    if (begin, end) != (0, sizes[axis]):
        x = request.cut(x, axis, begin, end)
    before, after = _around(request, sizes, axis)
    x = request.reshape(x, [*before, len(pick), pick.step, *after])
    x = request.cut(x, len(before) + 1, column, column + 1)
    return request.reshape(x, [*sizes[:axis], len(pick), *sizes[axis + 1 :]])


def _around(
    request: Request, sizes: Sequence[int], axis: int
) -> tuple[Sequence[int], Sequence[int]]:
    """Return the sizes before and behind an axis, merged if one more axis would be too many."""
    before, after = sizes[:axis], sizes[axis + 1 :]
    if len(sizes) < request.largest_rank():
        return before, after
    return [math.prod(before)] if before else [], [math.prod(after)] if after else []


def as_large(request: Request) -> ir.Value:
    """Leave out an Expand that repeats nothing; if it only adds axes in front, reshape."""
    own, new = (required(known.shape) for known in (request.known_of(0), request.result))
    equal, lead = request.writer.facts.equal, len(new) - len(own)
    require(lead >= 0, all(map(equal, own, new[lead:])), all(n.constant == 1 for n in new[:lead]))
    return reshape(request) if lead else request.input(0)


def tile(request: Request) -> ir.Value:
    """Repeat along the axes of one element; a constant is written out."""
    shape, result, dtype = request.shape(0), request.sizes, request.kind
    w, x = request.writer, request.input(0)
    tensor = request.constant(x)
    if tensor is not None and math.prod(result) <= MOST:
        whole = np.broadcast_to(tensor.numpy(), np.broadcast_shapes(shape, result))
        return w.constant(np.ascontiguousarray(whole), dtype)
    lead = (1,) * (len(result) - len(shape))
    require(request.takes("Tile"), 0 not in result, not lead or request.takes("Reshape"))
    if lead:
        x = request.reshape(x, [*lead, *shape])  # no 0: none in the result
    counts = [n // own for n, own in zip(result, (*lead, *shape), strict=True)]
    return w.node("Tile", [x, w.constant(counts)], dtype)


def added(request: Request) -> ir.Value:
    """Add zeros of the new shape to integers."""
    dtype, sizes = request.kind, request.sizes
    require(dtype in (ir.DataType.INT32, ir.DataType.INT64), math.prod(sizes) <= MOST)
    zeros = request.writer.constant(np.zeros(sizes, dtype.numpy()), dtype)
    return request.writer.node("Add", [request.input(0), zeros], dtype)


def expanded_where(request: Request) -> ir.Value:
    """Expand each operand to the shape of the result first.

    ONNX Runtime's Where computes `p if p != 0 else q`, with `p = a if c else 0` and
    `q = 0 if c else b`: a -0.0 that it selects from `a` becomes 0.0. But if only `a` has elements
    along the last axis, it computes `q if q != 0 else p`, where a -0.0 of `b` becomes 0.0. Then
    `a` and `b` are swapped, so that zeros keep the same signs. If no operand has elements there,
    other axes decide; floats have no other form then.
    """
    result, dtype, w = request.sizes, request.kind, request.writer
    shapes = [request.shape(i) for i in range(3)]
    require(request.takes("Where"), any(s != result for s in shapes))
    kinds = (ir.DataType.BOOL, dtype, dtype)
    for value, kind, shape in zip(request.inputs, kinds, shapes, strict=True):
        small = request.constant(value) is not None and math.prod(result) <= MOST
        require(shape == result or small or _expands(request, kind))
    is_float = dtype.is_floating_point()
    c_has, _, b_has = (s[-1:] == result[-1:] for s in shapes)
    swapped = is_float and not c_has and not b_has
    require(not (is_float and result[-1] == 1), not swapped or request.takes("Equal", kinds[0]))
    inputs = list(request.inputs)
    if swapped:  # by Equal: before a Where, ONNX Runtime takes out a Not and swaps again
        false = w.constant(np.zeros(shapes[0], bool), kinds[0])
        inputs[0] = w.node("Equal", [inputs[0], false], kinds[0])
    c, x, y = (
        v if v is None or shape == result else _expanded(request, v, kind, result)
        for v, kind, shape in zip(inputs, kinds, shapes, strict=True)
    )
    return w.node("Where", [c, y, x] if swapped else [c, x, y], dtype)


def _expands(request: Request, kind: ir.DataType) -> bool:
    return request.takes("Expand", kind) or request.takes("Tile", kind)


def _expanded(
    request: Request, value: ir.Value, kind: ir.DataType, result: tuple[int, ...]
) -> ir.Value:
    w, tensor = request.writer, request.constant(value)
    if tensor is not None and (math.prod(result) <= _LISTED or not _expands(request, kind)):
        return w.constant(np.ascontiguousarray(np.broadcast_to(tensor.numpy(), result)), kind)
    return w.node("Expand", [value, w.constant(list(result))], kind)


def reshape(request: Request) -> ir.Value:
    """Give a tensor its shape, which may be its own, by a Reshape; one size need not be known."""
    shape = required(request.result.shape)
    sizes = [-1 if dim.constant is None else dim.constant for dim in shape]
    require(request.kind, request.takes("Reshape"), 0 not in sizes and sizes.count(-1) <= 1)
    return request.reshape(request.input(0), sizes)

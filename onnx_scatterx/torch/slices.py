"""Rules for writes to slices, rows, diagonals and boxes.

    before   y = slice_scatter(x, src, dim, s, e)
    after    y = cat([x[:s], src, x[s + k:]]), with k = src.size(dim)

The program runs only if src is as long as the slice. So ``s + k`` is the end of the slice, however
the end was given. If the slice is empty, k is 0 and y is x. If ``0 <= s`` and ``s + k <= n`` are
not known, as s is a number of the run, y is read at computed positions:

    after    y = cat([x, src])[i - s + n if s <= i < s + k else i], for i in arange(n)
"""

from __future__ import annotations

import functools
import math

from onnx_scatterx.torch.ops import Number, Ops, Tensor
from onnx_scatterx.torch.rows import Piece, Run, emit, part, written


def slice_scatter(
    ops: Ops,
    x: Tensor,
    src: Tensor,
    dim: int = 0,
    start: Number = None,
    end: Number = None,
    step: Number = 1,
) -> Tensor | None:
    dim %= ops.rank(x)
    n, k = ops.size(x, dim), ops.size(src, dim)
    start = 0 if start is None else start
    last = end is None or (isinstance(end, int) and end >= 2**62)
    if isinstance(start, int) and isinstance(k, int) and start < 0:
        length = (0 if last else end) - start
        if isinstance(length, int) and 0 < k == length <= -start:
            ops.learn(0, ops.add(n, start))  # otherwise the slice would be shorter than src
    if not isinstance(step, int):
        return None
    if last and step == 1 and ops.holds(start, 0) and ops.holds(0, start):
        return ops.same(ops.cast(src, x))
    return write(ops, x, src, dim, ops.front(start, n), step, last)


def select_scatter(ops: Ops, x: Tensor, src: Tensor, dim: int, index: Number) -> Tensor | None:
    dim %= ops.rank(x)
    n = ops.size(x, dim)
    if isinstance(index, int) and index < 0:
        ops.learn(0, ops.add(n, index))
    return write(ops, x, ops.unsqueeze(src, dim), dim, ops.front(index, n), 1)


def write(
    ops: Ops, x: Tensor, src: Tensor, dim: int, lo: Number, step: int, last: bool = False
) -> Tensor:
    """Write src to ``lo, lo + step, ...`` along an axis of x; if ``last``, to the end of x."""
    src = ops.cast(src, x)
    n, k = ops.size(x, dim), ops.size(src, dim)
    if ops.holds(k, 0):
        return ops.same(x)
    if ops.holds(n, k):
        return ops.same(src)
    hi = ops.add(lo, k)
    for a, b in ((0, lo), (lo, hi), (0, hi), (lo, n), *(((hi, n),) if step == 1 else ())):
        ops.learn(a, b)
    whole: list[Piece] = [Run(0, n, x)]
    axis, pieces = ops.rows.get(x, (dim, whole))
    for parts in (pieces, whole) if axis == dim else (whole,):
        new = written(ops, parts, src, lo, k, step)
        out = new and emit(ops, dim, new)
        if out is not None and ops.fits(out, x):
            return out
    i = ops.arange(0, n, x)
    if ops.holds(k, 1):
        return ops.where(ops.along(ops.calc("eq", i, lo), dim, ops.rank(x)), src, x)
    g = ops.calc("sub", i, lo) if not ops.holds(lo, 0) else i
    within = [] if g is i else [ops.calc("ge", g, 0)]
    within += [] if last else [ops.calc("lt", g, ops.mul(k, step))]
    within += [] if step == 1 else [ops.calc("eq", ops.calc("fmod", g, step), 0)]
    inside = functools.reduce(functools.partial(ops.calc, "logical_and"), within)
    if step != 1:
        at, n = ops.cumsum(inside), ops.sub(n, 1)
    else:
        at = g
    at = ops.where(inside, ops.calc("add", at, n), i)
    return ops.take(ops.cat([x, src], dim), dim, at)


def diagonal_scatter(
    ops: Ops, x: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor | None:
    """``y[i, i + offset] = src[i]``, by a comparison of the positions of both axes."""
    rank = ops.rank(x)
    dim1, dim2, src = dim1 % rank, dim2 % rank, ops.cast(src, x)
    if offset < 0:  # let dim1 be the axis on which the diagonal begins at position 0
        dim1, dim2, offset = dim2, dim1, -offset
    n, length = ops.size(x, dim1), ops.size(src, rank - 2)
    if ops.holds(length, 0):
        return ops.same(x)
    rows, columns = ops.arange(0, n, x), ops.arange(0, ops.size(x, dim2), x)
    number = ops.filled(src)
    if number is None and not ops.holds(n, length):  # pad src with zeros, which are never chosen
        zero = ops.expand(ops.cast(ops.arange(0, 1, x), x), [*ops.sizes(src)[:-1], 1])
        within = ops.cast(ops.calc("lt", rows, length), rows)
        at = ops.calc("mul", ops.calc("add", rows, 1), within)
        src = ops.take(ops.cat([zero, src], rank - 2), rank - 2, at)
    here, there = ops.along(rows, dim1, rank), ops.along(columns, dim2, rank)
    mask = ops.calc("eq", ops.calc("add", here, offset) if offset else here, there)
    if number is not None:
        return ops.where(mask, ops.full(number, x), x)
    others = iter(range(rank - 2))
    axes = [rank - 2 if d == dim1 else next(others) for d in range(rank) if d != dim2]
    src = src if axes == sorted(axes) else ops.permute(src, axes)
    return ops.where(mask, ops.unsqueeze(src, dim2), x)


def box(
    ops: Ops, x: Tensor, src: Tensor, spans: list[tuple[int, int, int]], dim: int = 0
) -> Tensor:
    """Write src to a box: ``spans`` has start, length and step of each axis, from ``dim`` on."""
    if dim == len(spans):
        return src
    lo, k, step = spans[dim]
    if k == ops.size(x, dim):
        return box(ops, x, src, spans, dim + 1)
    inner = part(ops, x, dim, lo, lo + (k - 1) * step + 1, step)
    return write(ops, x, box(ops, inner, src, spans, dim + 1), dim, lo, step)


def as_strided_scatter(
    ops: Ops,
    x: Tensor,
    src: Tensor,
    size: list[Number],
    stride: list[Number],
    storage_offset: Number = None,
) -> Tensor | None:
    """Write to a box of a contiguous tensor of fixed shape; None if src does not fill a box."""
    shape, offset = ops.sizes(x), 0 if storage_offset is None else storage_offset
    if not all(isinstance(v, int) for v in (*shape, *size, *stride, offset)) or 0 in size:
        return None
    strides = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    spans = [(offset // s % n, 1, 1) for s, n in zip(strides, shape, strict=True)]
    taken: dict[int, int] = {}  # axis of x: axis of src that goes along it
    for axis, (k, step) in enumerate(zip(size, stride, strict=True)):
        if k > 1:
            fitting = (
                d
                for d, s in enumerate(strides)
                if d not in taken
                and step > 0
                and step % s == 0
                and spans[d][0] + (k - 1) * (step // s) < shape[d]
            )
            dim = next(fitting, None)
            if dim is None:
                return None
            taken[dim], spans[dim] = axis, (spans[dim][0], k, step // strides[dim])
    order = [taken[d] for d in sorted(taken)]
    order += [axis for axis in range(len(size)) if axis not in order]
    src = ops.permute(src, order) if order != sorted(order) else src
    lengths = [k for _, k, _ in spans]
    return box(ops, x, ops.view(src, lengths) if lengths != list(size) else src, spans)

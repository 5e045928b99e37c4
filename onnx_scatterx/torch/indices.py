"""Rules for writes by an index or by a mask.

    x[:, a:b:s] by an arange         a slice
    x[m] = v, x[m] = y[m]            where(m, v, x), where(m, y, x)
    x[m] = f(x[m])                   where(m, f(x), x), if f computes each element for itself
    x[m] = u, masked_scatter         where(m, cat([0, u])[cumsum(m)], x)
    x[i] = v, index_copy             cat([x, v])[n + the last j with i[j] = p, or p], p < n
    scatter(x, d, i, v)              slices, if i is constant and the same in all rows along d
    scatter(x, d, i, v)              where(i_0 == p, v_0, x), again for i_1, ..., p < n
    x[arange(n), i] = v              where(i[:, None] == arange(m), v[:, None], x)

If an index i counts from the end, ``where(i >= 0, i, i + n)`` counts from the start: the program
checks -n <= i < n.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from onnx_scatterx.torch.ops import Number, Ops, Tensor
from onnx_scatterx.torch.rows import Piece, Run, emit, part, written
from onnx_scatterx.torch.slices import box, write

MOST = 2**20
"""The most comparisons of positions with indices that a rule writes, if their number is known."""

FEW = 4
"""The most elements of each row that are written one after the other."""

MOST_KNOWN = 1000
"""The most constant indices for which each update is written as a part of its own."""


def index_put(
    ops: Ops,
    x: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool = False,
) -> Tensor | None:
    indexed = [(dim, index) for dim, index in enumerate(indices) if index is not None]
    if accumulate or not indexed:
        return None
    (dim, index), values = indexed[0], ops.cast(values, x)
    if len(indexed) == 1:
        if ops.is_bool(index):
            return _masked(ops, x, dim, index, values)
        if ops.rank(index) == 1:
            sizes = ops.sizes(x)
            wanted = [*sizes[:dim], ops.size(index, 0), *sizes[dim + 1 :]]
            values = ops.expand(values, wanted)
            return None if values is None else _rows(ops, x, dim, index, values)
        if ops.rank(index) == 0:
            values = _spread(ops, values, ops.rank(x) - dim - 1, -1, 1)
            return _where_at(ops, x, dim, index, values)
        return None
    (after, second), n = indexed[1], ops.size(x, dim)
    if len(indexed) > 2 or after != dim + 1 or any(ops.is_bool(i) for _, i in indexed):
        return None
    if ops.progression(index) != (0, 1) or not ops.holds(n, ops.size(index, 0)):
        return None
    values = _spread(ops, values, ops.rank(x) - after - 1, -1, 1)
    if ops.rank(second) == 1:
        second = ops.unsqueeze(second, 1)
    elif ops.rank(second):
        return None
    return _where_at(ops, x, after, second, values)


def index_copy(ops: Ops, x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor | None:
    if not ops.rank(x) or ops.rank(index) != 1:
        return None
    return _rows(ops, x, dim % ops.rank(x), index, ops.cast(source, x))


def scatter(ops: Ops, x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor | None:
    """Write to a box; or, if the index has all rows of x, a few elements to each row.

    If elements of a row go to the same place, the last one wins.
    """
    rank = ops.rank(x)
    if not rank or ops.rank(index) != rank:
        return None
    dim, n = dim % rank, ops.sizes(x)
    line = ops.line(index, dim)
    if line is not None and len(set(line)) == len(line):
        return _to_box(ops, x, dim, line, ops.sizes(index), src)
    k = ops.size(index, dim)
    if not isinstance(k, int) or not 1 <= k <= FEW:
        return None
    rows = [*n[:dim], k, *n[dim + 1 :]]
    sizes = zip(rows, ops.sizes(index), strict=True)
    if not all(ops.holds(a, b) and ops.holds(b, a) for a, b in sizes):
        return None
    if isinstance(src, bool | int | float):
        src = ops.full(src, x)
    elif not all(ops.holds(a, b) for a, b in zip(ops.sizes(src), rows, strict=True)):
        return None
    out, at = x, ops.along(ops.arange(0, n[dim], x), dim, rank)
    for j in range(k):
        hit = ops.calc("eq", part(ops, index, dim, j, j + 1), at)
        new = part(ops, src, dim, j, j + 1) if ops.rank(src) else src
        out = out and _where(ops, hit, ops.cast(new, x), out)
    return out


def _to_box(
    ops: Ops, x: Tensor, dim: int, line: list[int], sizes: Sequence[Number], src: Tensor
) -> Tensor | None:
    """Write the first elements of src (``sizes``) to positions along an axis of x (``line``)."""
    lengths = [ops.size(x, d) if d == dim else size for d, size in enumerate(sizes)]
    covers = all(ops.holds(n, k) for n, k in zip(ops.sizes(x), lengths, strict=True))
    if not covers and not all(isinstance(k, int) for k in lengths):
        return None
    if isinstance(src, bool | int | float):
        src = ops.expand(ops.full(src, x), sizes)
        if src is None:
            return None
    head = x
    for d, size in enumerate(sizes):
        src = part(ops, src, d, 0, size)
        head = head if d == dim or covers else part(ops, head, d, 0, size)
    new = _at_known(ops, head, dim, line, ops.cast(src, x))
    return new if new is None or covers else box(ops, x, new, [(0, k, 1) for k in lengths])


def masked_scatter(ops: Ops, x: Tensor, mask: Tensor, source: Tensor) -> Tensor | None:
    mask = ops.expand(mask, ops.sizes(x))
    if mask is None:
        return None
    return _in_order(ops, x, mask, ops.view(ops.cast(source, x), [-1]))


def _masked(ops: Ops, x: Tensor, dim: int, mask: Tensor, values: Tensor) -> Tensor | None:
    depth, rest = ops.rank(mask), ops.rank(x) - dim - ops.rank(mask)
    elements = ops.unmasked(values, mask, x) if dim == 0 else None
    if elements is not None:
        return _where(ops, _deep(ops, mask, rest), elements, x)
    at = ops.rank(values) - rest - 1  # the axis of the values that counts the chosen positions
    if at < 0 or (ops.holds(ops.size(values, at), 1) and ops.holds(1, ops.size(values, at))):
        return _where(ops, _deep(ops, mask, rest), _spread(ops, values, rest, at, depth), x)
    if dim:
        return None
    sizes = ops.sizes(x)
    mask = ops.expand(mask, sizes[:depth])  # None if a guard would be added
    values = ops.expand(values, [ops.size(values, 0), *sizes[depth:]])
    if mask is None or values is None:
        return None
    return _in_order(ops, x, mask, values, broadcast=True)


def _where(ops: Ops, mask: Tensor, values: Tensor, x: Tensor) -> Tensor | None:
    """Return ``where(mask, values, x)``; None if the values may not fit."""
    fine = ops.expand(values, ops.sizes(x)) is not None
    return ops.where(mask, values, x) if fine else None


def _spread(ops: Ops, values: Tensor, rest: int, at: int, depth: int) -> Tensor:
    """Insert axes of size 1 into values, before the last ``rest`` axes, for a mask's axes."""
    have = 1 if at >= 0 else 0
    if ops.rank(values) - have > rest or have:
        for _ in range(depth - have):
            values = ops.unsqueeze(values, ops.rank(values) - rest)
    return values


def _where_at(ops: Ops, x: Tensor, dim: int, index: Tensor, values: Tensor) -> Tensor | None:
    n = ops.size(x, dim)
    hit = ops.calc("eq", _wrapped(ops, index, n), ops.arange(0, n, x))
    return _where(ops, _deep(ops, hit, ops.rank(x) - dim - 1), values, x)


def _in_order(ops: Ops, x: Tensor, mask: Tensor, source: Tensor, broadcast: bool = False) -> Tensor:
    """Write the rows of source, in order, where a mask of leading axes is true.

    If ``broadcast``, a source of a single row goes to all these places.
    """
    is_vector = ops.rank(mask) == 1
    at = ops.cumsum(mask if is_vector else ops.view(mask, [-1]))
    k, rest = ops.size(source, 0), ops.sizes(source)[1:]
    if broadcast and not ops.holds(2, k):
        at = ops.calc("min", at, k)
    zero = ops.cast(ops.arange(0, 1, x), x)  # the row for places before the first true one
    rows = ops.cat([ops.expand(zero, [1, *rest]) if rest else zero, source], 0)
    new = ops.take(rows, 0, at)
    new = new if is_vector else ops.view(new, ops.sizes(x))
    return ops.where(_deep(ops, mask, len(rest)), new, x)


def _deep(ops: Ops, mask: Tensor, rest: int) -> Tensor:
    """Append axes of size 1 to a mask."""
    for _ in range(rest):
        mask = ops.unsqueeze(mask, ops.rank(mask))
    return mask


def _rows(ops: Ops, x: Tensor, dim: int, index: Tensor, values: Tensor) -> Tensor | None:
    n, k = ops.size(x, dim), ops.size(index, 0)
    if ops.holds(k, 0):
        return ops.same(x)
    values = ops.cast(values, x)
    series, known = ops.progression(index), ops.line(index, 0)
    if series is not None:
        return write(ops, x, values, dim, ops.front(series[0], n), series[1])
    out = None if known is None else _at_known(ops, x, dim, known, values)
    if out is not None:
        return out
    if math.prod(v for v in (n, k) if isinstance(v, int)) > MOST:
        return None
    if ops.holds(k, 1) and ops.holds(1, k):
        return _where_at(ops, x, dim, index, values)
    at = _wrapped(ops, index, n)
    if not ops.holds(1, k):  # k may be 0: the index -1 is never hit, and gives a maximum
        at, k = ops.cat([at, ops.cast(ops.arange(-1, 0, x), at)], 0), ops.add(k, 1)
    i, j = ops.arange(0, n, x), ops.arange(1, ops.add(k, 1), x)
    hit = ops.calc("eq", ops.unsqueeze(i, 1), at)
    last = ops.largest(ops.calc("mul", ops.cast(hit, j), j))  # 0: not written
    new = ops.calc("add", last, ops.sub(n, 1))
    at = ops.where(ops.calc("ge", last, 1), new, i)
    return ops.take(ops.cat([x, values], dim), dim, at)


def _at_known(ops: Ops, x: Tensor, dim: int, known: list[int], values: Tensor) -> Tensor | None:
    """Write values to constant positions along an axis; the last value of a position wins."""
    n = ops.size(x, dim)
    series = _series(known, n)
    if series is not None:
        return write(ops, x, values, dim, ops.front(series[0], n), series[1])
    if not known or not isinstance(n, int) or len(known) > MOST_KNOWN:
        return None
    pieces: list[Piece] = [Run(0, n, x)]
    for j, i in enumerate(known):
        pieces = written(ops, pieces, values, i % n, 1, 1, j) or []
    return emit(ops, dim, pieces)


def _wrapped(ops: Ops, index: Tensor, n: Number) -> Tensor:
    """Return the index with each position counted from the start.

    Fewer converters take a remainder.
    """
    return ops.where(ops.calc("ge", index, 0), index, ops.calc("add", index, n))


def _series(index: list[int], n: Number) -> tuple[int, int] | None:
    """Return start and step of indices that go up by equal steps, counted from the start.

    >>> _series([2, 5, 8], 9), _series([-2, -1], 9), _series([0, 2, 1], 9)
    ((2, 3), (7, 1), None)
    """
    if not index or (min(index) < 0 and not isinstance(n, int)):
        return None
    at = [i + n if i < 0 else i for i in index]
    step = at[1] - at[0] if len(at) > 1 else 1
    even = step > 0 and all(b - a == step for a, b in itertools.pairwise(at))
    return (at[0], step) if even else None

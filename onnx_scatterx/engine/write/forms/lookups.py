"""An operator on integers of a known range and a constant, as rows of a table of its results.

    Equal(i, [[0], [1], ..., [n - 1]])   =   Gather(I, i, axis=1)     I the identity of n rows
                                         =   OneHot(i, n, [0, 1], axis=0)
    Mod(i, n)                            =   Gather([0, 1, ..., n - 1], i)      -n <= i < n
    i * 3                                =   Gather([0, 3, 6, ...], i)
    OneHot(i, n, [a, b])                 =   Gather(a + (b - a) * I, i)         -n <= i < n
                                         =   Where(i == [0, ..., n - 1] or i == [-n, ..., -1], b, a)

Gather counts negative indices from the end of the table, where their rows are. Holds if no axis is
longer than 1 in both operands, so that each result is that of one integer and one number: the table
has all of them. Integers that are known to lie in a range, lie in it if the original model runs, as
indices do, which it checks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import require, required
from onnx_scatterx.engine.write.forms.request import Request, bounds

_BOOL = ir.DataType.BOOL
_INT32, _INT64, _FLOAT = ir.DataType.INT32, ir.DataType.INT64, ir.DataType.FLOAT
_TABLE = 1 << 17  # elements of a table
_NUMBERS = 1 << 32  # below it, no product passes int64

_RESULTS: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "Equal": np.equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Mod": np.mod,
    "Mul": np.multiply,
}


@dataclass(frozen=True)
class _Operands:
    """A constant, which is operand ``at``, and integers from ``low`` up to ``high``.

    Dims of extent 1 in front give both the rank of the result. The constant varies along ``axes``,
    the integers along others; they have ``lead`` dims fewer than the result.
    """

    at: int
    constant: np.ndarray
    low: int
    high: int
    axes: tuple[int, ...]
    rank: int
    lead: int

    @property
    def kept(self) -> list[int]:
        """The axes of the result that are axes of the integers."""
        return [d for d in range(self.lead, self.rank) if d not in self.axes]

    def integers(self, request: Request) -> ir.Value:
        """Write the integers without the axes along which the constant varies."""
        x, dtype = request.input(1 - self.at), required(request.known_of(1 - self.at).dtype)
        gone = [d - self.lead for d in self.axes if d >= self.lead]
        return request.writer.axes("Squeeze", x, dtype, gone)


def _operands(request: Request) -> _Operands:
    known = [request.known_of(i) for i in (0, 1)]
    require(all(t.is_integer and t.shape is not None for t in known))
    constants = [t.constant is not None for t in known]
    require(sum(constants) == 1)
    at = constants.index(True)
    x, constant = known[1 - at], required(known[at].constant)
    require(x.dtype in (_INT32, _INT64), constant.size)
    low, high = required(bounds(x, request))
    require(low <= high, max(-low, high) < _NUMBERS, int(np.abs(constant).max()) < _NUMBERS)
    rank = max(len(x.dims), constant.ndim)
    lead = rank - len(x.dims)
    constant = constant.reshape((1,) * (rank - constant.ndim) + constant.shape)
    axes = tuple(d for d in range(rank) if constant.shape[d] != 1)
    require(all(d < lead or x.dims[d - lead].constant == 1 for d in axes))
    require(set(range(lead)) <= set(axes))
    return _Operands(at, constant, low, high, axes, rank, lead)


def looked_up(request: Request) -> ir.Value:
    """Gather rows of a table of all results."""
    it, w, kind = _operands(request), request.writer, required(request.dtype)
    require(not request.attributes.get("fmod"))
    size = max(it.high, -1) + 1 + max(-it.low, 0)
    lengths = [it.constant.shape[d] for d in it.axes]
    require(size * int(np.prod(lengths)) <= _TABLE)
    require(request.op != "Mod" or (it.at == 1 and (it.constant > 0).all()))
    numbers = np.arange(size)
    numbers[max(it.high, -1) + 1 :] -= size
    numbers = numbers.reshape(-1, *[1] * len(lengths))
    both = [numbers, it.constant.reshape(lengths).astype(np.int64)]
    table = _RESULTS[request.op](*(both if it.at else both[::-1])).astype(kind.numpy())
    kept = it.kept
    before = sum(d < min(kept, default=it.rank) for d in it.axes)
    is_split = any(min(kept) < d < max(kept) for d in it.axes) if kept else False
    if is_split:
        before = len(it.axes)
    table = np.ascontiguousarray(np.moveaxis(table, 0, before))
    y = w.node("Gather", [w.constant(table, kind), it.integers(request)], kind, axis=before)
    order = [*it.axes[:before], *kept, *it.axes[before:]]
    return w.transpose(y, kind, [order.index(d) for d in range(it.rank)])


def one_hot(request: Request) -> ir.Value:
    """Compare with the positions of an axis by OneHot.

    It counts negative indices from the end, so these get positions of their own, which are cut off.
    """
    it, w = _operands(request), request.writer
    require(request.op == "Equal", request.takes("OneHot", _FLOAT), len(it.axes) == 1)
    (axis,) = it.axes
    size = it.constant.size
    require(np.array_equal(it.constant.ravel(), np.arange(size)))
    at = it.integers(request)
    at = w.cast(at, required(request.known_of(1 - it.at).dtype), _INT64)
    depth, ends = w.constant(np.array(size + max(-it.low, 0))), np.array([0, 1], np.float32)
    y = w.node("OneHot", [at, depth, w.constant(ends, _FLOAT)], _FLOAT, axis=axis)
    if it.low < 0:
        y = w.slice(y, _FLOAT, [axis], [0], [size], [1])
    return w.cast(y, _FLOAT, ir.DataType.BOOL)


def hot_rows(request: Request) -> ir.Value:
    """Gather rows of the table of all results of a OneHot."""
    w, size, ends, axis = request.writer, *_hot(request)
    low, high = required(bounds(request.known_of(0), request))
    require(-size <= low, high < size, size * size <= _TABLE)
    table = np.where(np.eye(size, dtype=bool), ends[1], ends[0])
    y = w.node("Gather", [w.constant(table, request.kind), request.input(0)], request.dtype, axis=0)
    rank = len(request.known_of(0).dims)
    return w.transpose(y, request.kind, [*range(axis), rank, *range(axis, rank)])


def hot_by_comparison(request: Request) -> ir.Value:
    """Compare indices with the positions of an axis, also counted from its end."""
    w, size, ends, axis = request.writer, *_hot(request)
    dtype, known = required(request.known_of(0).dtype), bounds(request.known_of(0), request)
    shape = [1] * (len(request.known_of(0).dims) + 1)
    shape[axis] = size
    x = w.axes("Unsqueeze", request.input(0), dtype, [axis])
    starts = (0,) if known is not None and known[0] >= 0 else (0, -size)
    places = (np.arange(first, first + size).reshape(shape) for first in starts)
    found = [w.node("Equal", [x, w.constant(at, dtype)], _BOOL) for at in places]
    hit = found[0] if len(found) == 1 else w.node("Or", found, _BOOL)
    if ends.tobytes() == np.array([0, 1], ends.dtype).tobytes():
        return w.cast(hit, _BOOL, request.kind)
    off, on = (w.constant(np.array(number), request.kind) for number in ends)
    return w.node("Where", [hit, on, off], request.dtype)


def _hot(request: Request) -> tuple[int, np.ndarray, int]:
    """Return the positions of a OneHot, its two numbers, and its axis."""
    (size,), ends = request.numbers(1), required(request.constant(request.inputs[2])).numpy()
    indices = request.known_of(0)
    require(indices.dtype in (_INT32, _INT64), indices.shape is not None, size > 0, ends.size == 2)
    require(request.known_of(1).is_integer, size <= _TABLE)
    axis = int(request.attributes.get("axis", -1)) % (len(indices.dims) + 1)
    return size, ends.reshape(2), axis

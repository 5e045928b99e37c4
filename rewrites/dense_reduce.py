"""Every position folds its updates into its element, in their order.

    before   y = ScatterElements(x, i, u, axis=0, reduction="add")      i, u of shape [N], x of [P]
    after    y = last of CumSum(Concat(x, Where(i == Range(P), u, -0.0)))       along the N updates

A sum of floats depends on its order: CumSum adds one by one, as the scatter does, and adding -0.0
changes nothing (ONNX Runtime's Where makes it 0.0, which changes the sign of a zero). A sum of
integers does not, since it is a sum modulo 2^n:

    after    y = x + ReduceSum(Where(i == Range(P), u, 0))                      over the N updates

ONNX Runtime adds the elements of a ReduceSum as doubles, and does not wrap. So narrow types are
added as int64. If the sum may pass 2^53, the halves of ``u = 2^32 h + l``, ``0 <= l < 2^32``, are
added apart. CumSum wraps, and is taken if that is fewer nodes. There is no such operator for
products (and ONNX Runtime's ReduceProd does not wrap as products of integers do):
they are multiplied one after the other, if there is a known number of at most 16. A product with 1
changes nothing:

    after    y = x * f[0] * f[1] * ...          f = Split(Where(i == Range(P), u, 1))

Any reduction of so few is written update by update if the target lacks an operator of its form:

    after    y = Where(i[k] == Range(P), y * u[k], y)                           for each k

Products of float16 are kept, as runtimes compute a chain of them without rounding each. Sums of
float16 are kept, too: ONNX Runtime computes their CumSum in float32.
``max`` and ``min`` keep the first operand only if it is greater (less). So whatever follows a NaN
replaces it, and of equal zeros the last one remains:

    alive    the updates after the last NaN, or x and all updates if there is no NaN
    y        the last of ``alive`` that equals their maximum, else the NaN

The work is data times updates. Holds for any indices, if the target allows that much work.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Plan,
    Reducer,
    Refusal,
    Scatter,
    ScatterRule,
    Shape,
    Term,
    granted,
    refuse_unless,
    term,
)
from onnx_scatterx.rewrites.helpers.search import Search, allow, search_of
from onnx_scatterx.rewrites.helpers.side_by_side import (
    are_few,
    hit_of,
    one_by_one,
    side_by_side,
    updates_of,
)

_BOOL, _INT32, _INT64 = ir.DataType.BOOL, ir.DataType.INT32, ir.DataType.INT64
_WRAPPING = {ir.DataType[f"{sign}INT{bits}"] for sign in ("", "U") for bits in (8, 16, 32, 64)}
_EXACT = 1 << 53  # integers up to it are doubles
_Fold = Callable[[Search], ir.Value]


class DenseReduceRule(ScatterRule):
    """Rewrites reductions to any positions."""

    reads_all_data = True
    searches = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        folds, search = granted(_FOLDS.get(scatter.reduction)), search_of(scatter, context)
        refuse_unless(scatter.reduction != "mul" or are_few(search))
        work = allow(_elements(search), search)

        def written(fold: _Fold) -> ir.Value:
            return search.layout.back(fold(search), context)

        writes = [partial(written, fold) for fold in folds]
        written_as = [context.writer.fragment_of(write) for write in writes]
        costs = [
            (nodes.cost, i) for i, nodes in enumerate(written_as) if not isinstance(nodes, Refusal)
        ]
        if not costs and are_few(search):
            chain = partial(one_by_one, search)
            if not isinstance(context.writer.fragment_of(chain), Refusal):
                return Plan(chain, work)
        _, best = min(costs, default=(0, -1))
        return Plan(writes[best], work)


def _spread(search: Search) -> Shape:
    """Return the shape of all updates side by side at every position, [L..., P, N, R...]."""
    shape, middle = search.layout.shape, search.layout.middle
    return (*shape[: middle + 1], search.layout.updates, *shape[middle + 1 :])


def _elements(search: Search) -> Term:
    """Return the number of elements of the largest tensor: with the data's own beside them."""
    shape = _spread(search)
    axis = search.layout.middle + 1
    sizes = (*shape[:axis], shape[axis] + 1, *shape[axis + 1 :])
    return math.prod(sizes, start=term(1))


def _factors(search: Search) -> ir.Value:
    """Write the products, with a factor of 1 where a position has no update."""
    hit, x, u = side_by_side(search)
    w, s, axis = search.context.writer, search.scatter, search.layout.middle + 1
    refuse_unless(s.dtype != _BOOL)
    one, count = np.array(1, s.dtype.numpy()), search.layout.updates.constant
    factors = Reducer(w, "none", s.dtype).where(hit, w.constant(one, s.dtype), u)
    for factor in search.context.numbers.single(factors, s.dtype, granted(count), axis):
        x = Reducer(w, s.reduction, s.dtype).combined(x, factor)
    return w.axes("Squeeze", x, s.dtype, [axis])


def _unordered(search: Search) -> ir.Value:
    """Write the sums of integers, which are the same in any order."""
    w, s, axis = search.context.writer, search.scatter, search.layout.middle + 1
    refuse_unless(s.dtype in _WRAPPING)
    hit, x, u = hit_of(search), search.layout.data(search.context), updates_of(search)
    _, count = s.facts.interval(search.layout.updates)
    most = count and count * _largest(search)
    kind = _INT32 if s.dtype == _INT32 and most < 1 << 31 else _INT64

    def total(part: ir.Value) -> ir.Value:
        zero = w.constant(np.array(0, kind.numpy()), kind)
        return w.reduce("ReduceSum", w.node("Where", [hit, part, zero], kind), kind, axis)

    u = w.cast(u, s.dtype, kind)
    if most <= _EXACT:
        sums = total(u)
    else:
        refuse_unless(count <= _EXACT >> 32)
        half = w.constant(np.array(1 << 32))
        low = w.node("Mod", [u, half], kind)
        high = w.node("Div", [w.node("Sub", [u, low], kind), half], kind)
        sums = w.node("Add", [w.node("Mul", [total(high), half], kind), total(low)], kind)
    added = s.dtype if s.dtype == _INT32 else _INT64
    y = w.node("Add", [w.cast(x, s.dtype, added), w.cast(sums, kind, added)], added)
    return w.cast(y, added, s.dtype)


def _largest(search: Search) -> float:
    """Return a bound on the magnitude of the updates."""
    s, limits = search.scatter, np.iinfo(search.scatter.dtype.numpy())
    known = search.context.known(s.updates).index_map
    low, high = (limits.min, limits.max) if known is None else s.facts.interval(known)
    return max(-max(low, int(limits.min)), min(high, int(limits.max)))


def _ordered(search: Search) -> ir.Value:
    """Write the sums, one update after the other."""
    hit, x, u = side_by_side(search)
    w, s, axis = search.context.writer, search.scatter, search.layout.middle + 1
    neutral = np.array(-0.0 if s.dtype.is_floating_point() else 0).astype(s.dtype.numpy())
    # One Where loses the neutral -0.0, which is repeated along dims that the updates have.
    new = Reducer(w, "none", s.dtype).where(hit, w.constant(neutral, s.dtype), u)
    together = w.concat([x, new], s.dtype, axis)
    sums = w.node("CumSum", [together, w.constant(np.array(axis))], s.dtype)
    return w.node("Gather", [sums, w.constant(np.array(-1))], s.dtype, axis=axis)


def _extreme(search: Search) -> ir.Value:
    """Keep the greatest or the least, as ``x > u ? x : u`` and ``x < u ? x : u`` do one by one."""
    hit, x, u = side_by_side(search)
    w, s, axis = search.context.writer, search.scatter, search.layout.middle + 1
    reduction = Reducer(w, s.reduction, s.dtype)
    refuse_unless(reduction.operators)  # refuses types without an order
    op = "ReduceMax" if s.reduction == "max" else "ReduceMin"
    floats = s.dtype.is_floating_point()
    kind = s.dtype.numpy()
    ends = (-np.inf, np.inf) if floats else (np.iinfo(kind).min, np.iinfo(kind).max)
    worst = w.constant(np.array(ends[op == "ReduceMin"], kind), s.dtype)
    if not floats:
        new = w.node("Where", [hit, u, worst], s.dtype)
        together = w.concat([x, new], s.dtype, axis)
        return reduction.along(together, axis)

    def kept(op: str, x: ir.Value, dtype: ir.DataType) -> ir.Value:
        return w.reduce(op, x, dtype, axis, keeps=True)

    def noted(turns: ir.Value) -> ir.Value:
        """Note that turns are small numbers, from -1 on."""
        w.note_index(turns, search.layout.updates + 1, from_zero=False)
        return turns

    shape = search.context.numbers.shape(_spread(search))
    everyone = w.concat([x, w.node("Expand", [u, shape], s.dtype)], s.dtype, axis)
    turn = noted(_turns(search, hit))
    none = w.constant(np.array(-1))
    missing = w.node("IsNaN", [everyone], _BOOL)
    fallen = noted(w.node("Where", [missing, turn, none], _INT64))
    last = noted(kept("ReduceMax", fallen, _INT64))
    alive = w.node("Less", [last, turn], _BOOL)
    best = kept(op, w.node("Where", [alive, everyone, worst], s.dtype), s.dtype)
    top = w.node("And", [alive, w.node("Equal", [everyone, best], _BOOL)], _BOOL)
    winner = kept("ReduceMax", noted(w.node("Where", [top, turn, last], _INT64)), _INT64)
    w.note_index(winner, search.layout.updates + 1, from_zero=True)
    reached = w.node("GatherElements", [everyone, winner], s.dtype, axis=axis)
    return w.axes("Squeeze", reached, s.dtype, [axis])


def _turns(search: Search, hit: ir.Value) -> ir.Value:
    """Write the order: 0 for the data, 1, 2, ... for updates of the position, -1 for others."""
    w, layout = search.context.writer, search.layout
    behind = len(layout.right)
    line = search.context.numbers.positions(layout.updates)
    order = w.node("Add", [line, w.constant([1])], _INT64)
    order = w.axes("Unsqueeze", order, _INT64, [1 + d for d in range(behind)])
    turn = w.node("Where", [hit, order, w.constant(np.array(-1))], _INT64)
    pads = [0] * (2 * (search.ahead + 2 + behind))
    pads[search.ahead + 1] = 1
    return w.pad(turn, _INT64, w.constant(pads), w.constant(np.array(0)))


_FOLDS: dict[str, tuple[_Fold, ...]] = {
    "add": (_unordered, _ordered),
    "mul": (_factors,),
    "max": (_extreme,),
    "min": (_extreme,),
}
"""The forms of each reduction. Of those that can be written, the one of the fewest nodes is.

If none can be, few updates are written one by one.
"""

"""Rows in the order of a mask, read at the running count of it.

    d of shape [K, ...], K elements of m are true      Gather(d, CumSum(m, exclusive))
                                                  or   Gather(d, CumSum(-m, reverse))

An operand of a function of chosen rows may have the rows in the mask's order without a read by the
mask, as the updates of a masked scatter have. Row i of the whole tensor is the row at the number of
true elements before i. There a row more is read, which must be added. If there are exactly K rows,
this row is also the one at the number of true elements from i on, counted from the end.

If the mask repeats each element over its last dims, elements before these dims are counted. Counts
have another element type if the target adds no others up, or in fewer nodes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import Refusal, Shape, granted, made_by, refuse_unless, term
from onnx_scatterx.rewrites.rows.choice import Choice
from onnx_scatterx.rewrites.rows.following import Following, Has
from onnx_scatterx.rewrites.rows.masks import as_bools, before_expands
from onnx_scatterx.rewrites.rows.reads import in_shape
from onnx_scatterx.rewrites.rows.whole import Whole

_BOOL, _INT64 = ir.DataType.BOOL, ir.DataType.INT64
_LARGEST = {ir.DataType.INT32: (1 << 31) - 1, ir.DataType.FLOAT: 1 << 24}  # that they hold


def counted(choice: Choice, value: ir.Value, axis: int, following: Following) -> Whole:
    """Return the rows of a value that has them in the mask's order, or one for all, or refuse.

    A row that is not chosen is any of them.
    """
    depth, has = following.depth, following.has
    refuse_unless(choice.is_known(depth) and not following.is_windowed)
    old, sizes = choice.shape_as_is(value), choice.extents[:depth]
    table, repeated = _Table(choice, value, axis, has, old, depth), _repeated(choice, depth)
    inner = math.prod(repeated, start=term(1))
    times = old[axis] if inner.constant == 0 else old[axis] // inner
    if repeated and times * inner is old[axis]:
        split = (*old[:axis], times, *repeated, *old[axis + 1 :])
        table = _Table(choice, value, axis, has, split, depth - len(repeated), len(repeated))
    shape, dtype = (*old[:axis], *sizes, *old[axis + 1 :]), choice.dtype(value)
    return Whole.of(table.make, dtype, axis, range(depth), shape, is_read=True)


def _repeated(choice: Choice, depth: int) -> Shape:
    """Return the sizes of the last dims of a mask that was expanded over them for this alone."""
    node, full = made_by(choice.mask.value, "Expand"), choice.mask.shape
    is_here = node is not None and node.graph is choice.context.graph
    source = before_expands(choice.mask.value) if is_here else None
    own = None if source is None else choice.context.known(source).shape
    if own is None or len(own) != len(full) or depth != len(full):
        return ()
    value = choice.mask.value
    if value.is_graph_output() or any(use.node.op_type != "NonZero" for use in value.uses()):
        return ()
    kept = 1 + max((d for d, n in enumerate(own) if n.constant != 1), default=-1)
    same = all(map(choice.facts.equal, own[:kept], full[:kept]))
    fits = all(map(choice.facts.equal, full, choice.extents))
    return full[kept:] if kept and same and fits else ()


@dataclass(frozen=True)
class _Table:
    """The rows of a value along an axis of a shape, one for each true element of a mask.

    The mask is the followed one over its first ``depth`` dims, or that which was expanded over
    ``repeated`` ones behind them. The value ``has`` as many rows as are chosen, or more, or one.
    """

    choice: Choice
    value: ir.Value
    axis: int
    has: Has
    shape: Shape
    depth: int
    repeated: int = 0

    def make(self, _: list[ir.Value]) -> ir.Value:
        """Write all rows in the way of the fewest nodes that the target takes."""
        w, facts = self.choice.context.writer, self.choice.facts
        size = self.choice.context.known(self.value).dims[self.axis]  # also if no row is chosen
        ends = [False, self.has is Has.ALL and facts.is_nonnegative(size - 1)]
        most = facts.interval(math.prod(self.choice.extents[: self.depth], start=term(1)))[1]
        kinds = [_INT64, *(kind for kind, largest in _LARGEST.items() if most <= largest)]
        ways = [partial(self._read, *way) for way in product(sorted({*ends}), kinds)]
        costs = [
            (nodes.cost, i)
            for i, nodes in enumerate(map(w.fragment_of, ways))
            if not isinstance(nodes, Refusal)
        ]
        return ways[min(costs, default=(0, 0))[1]]()

    def _read(self, from_end: bool, kind: ir.DataType) -> ir.Value:
        """Write all rows, read at the numbers of true elements before them, or from them on."""
        context, axis, shape = self.choice.context, self.axis, self.shape
        w, numbers, dtype = context.writer, context.numbers, self.choice.dtype(self.value)
        known = self.choice.shape_as_is(self.value)
        x = in_shape(self.value, shape, self.choice.facts, context)
        if x is None or known == shape:
            x = numbers.reshape(self.value, dtype, known, shape, self.choice.facts)
        at = self._count(from_end, kind)
        if not from_end:
            more = (*shape[:axis], term(1), *shape[axis + 1 :])
            zero = w.constant(np.zeros([1] * len(shape), dtype.numpy()), dtype)
            if any(n.constant != 1 for n in more):
                zero = w.node("Expand", [zero, numbers.shape(more)], dtype)
            x = w.concat([x, zero], dtype, axis)
        if self.has is Has.FEWER:
            last = w.axes("Squeeze", numbers.vector(shape[axis] - 1), _INT64, [0])
            at = w.node("Min", [at, last], _INT64)
        return w.node("Gather", [x, at], dtype, axis=axis)

    def _count(self, from_end: bool, kind: ir.DataType) -> ir.Value:
        """Write how many elements before each are true, or less 1 for each from it on."""
        choice, sizes = self.choice, self.choice.extents[: self.depth]
        w, numbers, facts = choice.context.writer, choice.context.numbers, choice.facts
        if from_end:
            pair = (w.constant(np.array(n, kind.numpy()), kind) for n in (-1, 0))
            number = w.node("Where", [self._mask(), *pair], kind)
        else:
            number = w.cast(self._mask(), _BOOL, kind)
        axis, line = len(sizes) - 1, sizes
        if any(n.constant != 1 for n in sizes[:-1]):
            axis, line = 0, (math.prod(sizes, start=term(1)),)
            number = w.node("Reshape", [number, w.constant([-1])], kind)
        attributes = {"reverse": 1} if from_end else {"exclusive": 1}
        count = w.node("CumSum", [number, w.constant(np.array(axis))], kind, **attributes)
        return numbers.reshape(w.cast(count, kind, _INT64), _INT64, line, sizes, facts)

    def _mask(self) -> ir.Value:
        """Write the mask over the dims that are counted."""
        choice = self.choice
        if not self.repeated:
            return choice.write_mask(self.depth)
        source = granted(before_expands(choice.mask.value))
        known = in_shape(source, choice.extents[: self.depth], choice.facts, choice.context)
        mask = as_bools(known or source, choice.mask, choice.context)
        gone = [] if known else list(range(self.depth, self.depth + self.repeated))
        return choice.context.writer.axes("Squeeze", mask, _BOOL, gone)

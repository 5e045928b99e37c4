"""Setting aside the axes that updates run along unchanged, so that one axis is left.

If the target on an axis of the data is exactly a coordinate of the updates, and covers the axis,
every position of that axis has its own updates. These axes are set aside, in front of the others or
behind them. The other axes become one axis of P positions, and the other dims of the updates become
one dim of N updates, in row-major order:

    data [L..., P, R...]        updates [L..., N, R...]
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Scatter,
    Shape,
    Term,
    refuse_unless,
    term,
)


@dataclass(frozen=True)
class Arrangement:
    """The order of the axes of the data and of the dims of the updates.

    ``left`` and ``right`` are (axis, dim) pairs in the order of the axes; ``axes`` and ``dims`` are
    those between them, ascending.
    """

    scatter: Scatter
    left: tuple[tuple[int, int], ...]
    axes: tuple[int, ...]
    dims: tuple[int, ...]
    right: tuple[tuple[int, int], ...]

    @property
    def positions(self) -> Term:
        """P, the positions that updates can be written to."""
        return math.prod((self.scatter.data_shape[c] for c in self.axes), start=term(1))

    @property
    def updates(self) -> Term:
        """N, the updates to these positions."""
        return math.prod((self.scatter.shape[d] for d in self.dims), start=term(1))

    @property
    def middle(self) -> int:
        """The axis of the P positions (and of the N updates)."""
        return len(self.left)

    @property
    def rank(self) -> int:
        """The number of dims of the arranged tensors."""
        return len(self.left) + 1 + len(self.right)

    @property
    def shape(self) -> Shape:
        """The shape of the arranged data."""
        return self.merged(self._split)

    def merged(self, split: Shape) -> Shape:
        """Return a shape whose dims are in order, with those between the ones aside as one dim."""
        begin, end = self.middle, len(split) - len(self.right)
        return (*split[:begin], math.prod(split[begin:end], start=term(1)), *split[end:])

    @property
    def _data_perm(self) -> list[int]:
        return [*(c for c, _ in self.left), *self.axes, *(c for c, _ in self.right)]

    @property
    def dims_in_order(self) -> list[int]:
        """The dims of the updates as they are arranged."""
        return [*(d for _, d in self.left), *self.dims, *(d for _, d in self.right)]

    @property
    def _split(self) -> Shape:
        return tuple(self.scatter.data_shape[c] for c in self._data_perm)

    def data(self, context: Context) -> ir.Value:
        """Write the data as arranged."""
        s = self.scatter
        x = context.writer.transpose(s.data, s.dtype, self._data_perm)
        return context.numbers.reshape(x, s.dtype, self._split, self.shape, s.facts)

    def update(self, context: Context) -> ir.Value:
        """Write the updates as arranged."""
        s = self.scatter
        x = context.writer.transpose(s.updates, s.dtype, self.dims_in_order)
        split = tuple(s.shape[d] for d in self.dims_in_order)
        return context.numbers.reshape(x, s.dtype, split, self.merged(split), s.facts)

    def back(self, x: ir.Value, context: Context) -> ir.Value:
        """Write arranged data in its own shape."""
        s = self.scatter
        x = context.numbers.reshape(x, s.dtype, self.shape, self._split, s.facts)
        perm = self._data_perm
        return context.writer.transpose(x, s.dtype, [perm.index(c) for c in range(len(perm))])


def arranged(scatter: Scatter, *, apart: bool) -> Arrangement:
    """Set aside the axes that a scatter writes in full, or refuse if no axis is left.

    If ``apart``, the targets on the other axes must not depend on the dims of axes set aside.
    """
    free: dict[int, int] = {}
    for axis, target, size in scatter.by_axis():
        dim = target.dim
        if target.constant == 0 and axis < len(scatter.shape):  # a dim of one, if the axis has one
            dim = axis if scatter.shape[axis].constant == 1 else None
        if dim is None or dim in free.values() or not scatter.facts.equal(scatter.shape[dim], size):
            continue
        others = (t for c, t in enumerate(scatter.index_exprs) if c != axis)
        if not apart or all(dim not in t.coords for t in others):
            free[axis] = dim
    axes = tuple(c for c in range(len(scatter.index_exprs)) if c not in free)
    refuse_unless(axes)
    dims = tuple(d for d in range(len(scatter.shape)) if d not in free.values())
    left = tuple(pair for pair in free.items() if pair[0] < axes[-1])
    right = tuple(pair for pair in free.items() if pair[0] > axes[-1])
    return Arrangement(scatter, left, axes, dims, right)

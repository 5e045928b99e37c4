"""A region: a box of a tensor, and the cells that cover it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from onnx_scatterx.optimizer.analysis.domain.tensor import Shape
from onnx_scatterx.optimizer.mosaic.cells import Cell
from onnx_scatterx.optimizer.mosaic.mosaic import Mosaic
from onnx_scatterx.optimizer.mosaic.strided_interval import ZERO, StridedInterval
from onnx_scatterx.optimizer.symbolic.terms import Term


class Region(NamedTuple):
    """A box of a tensor, ``low[d] <= x_d < high[d]``, and the cells that cover it."""

    cells: tuple[Cell, ...]
    low: Shape
    high: Shape

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.low)

    def extent(self, axis: int) -> Term:
        """Return how long the region is on an axis."""
        return self.high[axis] - self.low[axis]

    @property
    def extents(self) -> Shape:
        """The shape of the region."""
        return tuple(self.extent(d) for d in range(self.rank))

    def part(self, axis: int, low: Term, high: Term, cells: Sequence[Cell]) -> Region:
        """Return the region between two positions of an axis, covered by these cells."""
        return Region(
            tuple(cells),
            (*self.low[:axis], low, *self.low[axis + 1 :]),
            (*self.high[:axis], high, *self.high[axis + 1 :]),
        )

    @classmethod
    def of(cls, mosaic: Mosaic) -> Region:
        """Return a whole tensor as a region."""
        return cls(mosaic.cells, tuple(ZERO for _ in mosaic.shape), mosaic.shape)


def edges(span: StridedInterval) -> tuple[Term, Term]:
    """Return the first position of a span and the one after its last."""
    m, r = span.modulus, span.residue
    if m == 1:
        return span.low, span.high
    return m * span.low + r, m * (span.high - 1) + r + 1

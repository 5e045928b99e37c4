"""The dims of tensors of all rows: those of a mask, in place of the axis of the chosen rows.

    x[m], m of shape [4, 9]                 dims 0 and 1
    with a window behind the rows           dims 0 and 1, and that of the window

A mask may also choose among chosen rows (``among``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import onnx_ir as ir

from onnx_scatterx.engine.rules import MultiplyAdds, Shape, Term
from onnx_scatterx.rewrites.rows.choice import Choice
from onnx_scatterx.rewrites.rows.counts import counted
from onnx_scatterx.rewrites.rows.following import Following, is_of_window
from onnx_scatterx.rewrites.rows.mask_shares import share_of
from onnx_scatterx.rewrites.rows.reads import RowRead
from onnx_scatterx.rewrites.rows.whole import Whole

_BOOL = ir.DataType.BOOL


class Dims(Protocol):
    """The dims of tensors of all rows that a choice has."""

    @property
    def is_among(self) -> bool:
        """Whether the rows are chosen among rows that are chosen themselves."""

    def dim(self, r: int) -> int:
        """Return the dim of a tensor of all rows that a dim of the mask is, or refuse.

        Behind the last one is the number of dims of masks that a tensor of all rows may have.
        """

    def of(self, following: Following) -> tuple[int, ...]:
        """Return the dims that an axis of rows may become, in the order in which they count."""

    def sizes(self, dims: Sequence[int], following: Following) -> Shape:
        """Return the sizes of dims."""

    def work_of(self, each: Term, dims: Sequence[int], following: Following) -> MultiplyAdds:
        """Return the multiply-adds of a tensor with these dims, so many for a row."""

    def hit(self, dims: Sequence[int]) -> ir.Value:
        """Write where a row is chosen, over these dims: at any place of the others."""

    def source(self, read: RowRead) -> Whole:
        """Return the tensor whose rows are read by the mask, or refuse."""

    def counted(self, value: ir.Value, axis: int, following: Following) -> Whole:
        """Return the rows of a value that has them in the mask's order, or refuse."""


@dataclass
class MaskDims:
    """The dims of one mask, and of a window."""

    choice: Choice
    is_among = False

    def dim(self, r: int) -> int:
        return r

    def of(self, following: Following) -> tuple[int, ...]:
        return following.dims

    def sizes(self, dims: Sequence[int], following: Following) -> Shape:
        return following.sizes(dims, self.choice.extents)

    def work_of(self, each: Term, dims: Sequence[int], following: Following) -> MultiplyAdds:
        others = self.sizes([r for r in following.dims if r not in dims], following)
        chosen = self._share * math.prod(n.constant or 1 for n in others)
        total = math.prod(self.sizes(dims, following), start=each)
        return MultiplyAdds(each * following.places, total, 1 / chosen)

    @cached_property
    def _share(self) -> float:
        """The share of the elements of the mask that are true."""
        return share_of(self.choice.mask, self.choice.context)

    def hit(self, dims: Sequence[int]) -> ir.Value:
        choice, own = self.choice, [r for r in dims if not is_of_window(r)]
        depth = choice.known_from(max(own, default=-1) + 1)
        gone = {r: choice.extents[r] for r in range(depth) if r not in own}
        x = somewhere(choice.write_mask(depth), gone, choice)
        added = [i for i, r in enumerate(dims) if r not in own]
        return choice.context.writer.axes("Unsqueeze", x, _BOOL, added)

    def source(self, read: RowRead) -> Whole:
        return read.source(self.choice.context)

    def counted(self, value: ir.Value, axis: int, following: Following) -> Whole:
        return counted(self.choice, value, axis, following)


def somewhere(x: ir.Value, gone: dict[int, Term], choice: Choice) -> ir.Value:
    """Write whether booleans are true anywhere along axes of these sizes, which are removed."""
    if not gone:
        return x
    w = choice.context.writer
    # Of floats: no term is made of the elements of a mask.
    number = w.cast(x, _BOOL, ir.DataType.FLOAT)
    filled = all(choice.facts.is_nonnegative(n - 1) for n in gone.values())
    op = "ReduceMax" if filled else "ReduceSum"  # the largest of none is -inf, which is true
    most = w.node(op, [number, w.constant([*gone])], ir.DataType.FLOAT, keepdims=0)
    return w.node("Cast", [most], _BOOL, to=_BOOL.value)

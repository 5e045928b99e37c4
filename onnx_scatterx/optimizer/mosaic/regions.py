"""Where the elements of a cell come from: a region of a tensor, or two combined by a reduction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.tensor import Shape
from onnx_scatterx.optimizer.symbolic.terms import Term


class AxisMap(NamedTuple):
    """One axis of a source: position ``start + step * q``, with q the position in ``dim``'s span.

    ``dim`` is None if the position is ``start`` for the whole cell.
    """

    dim: int | None
    step: int
    start: Term


class View(NamedTuple):
    """A region of a tensor, one axis map for each axis of ``shape``.

    That is the tensor's own shape, or (``is_reshaped``) the shape in which it is viewed.
    """

    value: ir.Value
    shape: Shape
    axis_maps: tuple[AxisMap, ...]
    is_reshaped: bool = False

    def mapped(self, change: Callable[[AxisMap], AxisMap]) -> View:
        """Return the view with every axis map changed."""
        axis_maps = tuple([change(w) for w in self.axis_maps])
        return View(self.value, self.shape, axis_maps, self.is_reshaped)

    def values(self) -> Iterable[ir.Value]:
        """Yield the tensors that are read."""
        yield self.value

    def __repr__(self) -> str:
        def text(w: AxisMap) -> str:
            if w.dim is None:
                return f"={w.start}"
            return (
                f"{w.dim}"
                + (f"*{w.step}" if w.step != 1 else "")
                + (f"+{w.start}" if w.start.constant != 0 else "")
            )

        return f"{self.value.name}[{', '.join(map(text, self.axis_maps))}]"


class Reduced(NamedTuple):
    """Two sources, element by element, under a reduction: ``reduce(data, updates)``."""

    reduction: str
    data: Source
    updates: Source

    def mapped(self, change: Callable[[AxisMap], AxisMap]) -> Reduced:
        """Return the sources with every axis map changed."""
        return Reduced(self.reduction, self.data.mapped(change), self.updates.mapped(change))

    def values(self) -> Iterable[ir.Value]:
        """Yield the tensors that are read."""
        yield from self.data.values()
        yield from self.updates.values()


Source: TypeAlias = View | Reduced

"""The meaning of a PyTorch index's items for the axes of data.

Each axis is one of

    a slice                    J_c = start + step * I_d
    a number                   J_c = that number
    given by an index tensor J_c = tensor[I_a..I_b]

All index tensors broadcast to one shape, whose dims I_a..I_b are in the place of the tensors, or
first if a slice is between them. A mask counts as the coordinates of its true elements: as many
tensors as it has dims. None is a dim of extent 1 without an axis. A bool is an index tensor without
an axis, with one element or none. Negative numbers count from the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import TypeAlias

import numpy as np

from onnx_scatterx.theory.conventions.axes import (
    Integers,
    by_axes,
    check,
    check_dtype,
    check_range,
)
from onnx_scatterx.theory.conventions.pytorch.arguments import Array
from onnx_scatterx.theory.transformer import XTransformer

Item: TypeAlias = int | bool | slice | EllipsisType | Array | None
_TENSORS = frozenset({"int64", "int32", "uint8", "bool"})


def is_mask(tensor: Array) -> bool:
    """Whether an index tensor is a mask."""
    return tensor.dtype.name in ("bool", "uint8")


@dataclass(frozen=True)
class _Slice:
    """A dim of the result: a slice of an axis, or one of extent 1 without an axis."""

    axis: int | None
    numbers: Integers


@dataclass(frozen=True)
class _Tensor:
    """An index tensor of an axis, or of no axis: then it only gives the result its shape."""

    axis: int | None
    numbers: Integers


class IndexItems:
    """Assigns the items of an index, one by one, to the axes of a shape."""

    def __init__(self, name: str, shape: tuple[int, ...], items: Sequence[Item]) -> None:
        self.name, self.shape = name, shape
        self.fixed: dict[int, int] = {}
        self.dims: list[_Slice | _Tensor] = []
        self.axis = 0
        rest = len(shape) - sum(map(_consumed, items))
        check(rest >= 0, f"{name} names more than the {len(shape)} axes of input")
        dots = sum(item is Ellipsis for item in items)
        check(dots <= 1, f"{name} has more than one Ellipsis")
        for item in items if dots else [*items, Ellipsis]:
            if item is Ellipsis:
                for _ in range(rest):
                    self._slice(slice(None))
            elif isinstance(item, np.ndarray):
                self._array(item)
            elif isinstance(item, slice):
                self._slice(item)
            elif item is None:
                self.dims.append(_Slice(None, np.arange(1)))
            elif isinstance(item, bool):
                self.dims.append(_Tensor(None, np.arange(int(item))))
            else:
                self._fix(int(item))

    def _take_axis(self) -> tuple[int, int]:
        self.axis += 1
        return self.axis - 1, self.shape[self.axis - 1]

    def _fix(self, number: int) -> None:
        axis, size = self._take_axis()
        within = -size <= number < size
        check(within, f"{self.name} is {number} on axis {axis}, which has size {size}")
        self.fixed[axis] = number

    def _slice(self, item: slice) -> None:
        axis, size = self._take_axis()
        ascends = item.step is None or item.step >= 1
        check(ascends, f"{self.name} has a slice with the step {item.step}")
        self.dims.append(_Slice(axis, np.arange(size)[item]))

    def _array(self, item: Array) -> None:
        check_dtype(self.name, item, _TENSORS)
        if not is_mask(item):
            axis, _ = self._take_axis()
            self.dims.append(_Tensor(axis, item.astype(np.int64)))
            return
        if not item.ndim:
            self.dims.append(_Tensor(None, np.arange(int(bool(item)))))
        covered = self.shape[self.axis : self.axis + item.ndim]
        fault = f"{self.name} has a mask of shape {item.shape} on axes of {covered}"
        check(item.shape == covered, fault)
        for numbers in np.argwhere(item).T:
            self.dims.append(_Tensor(self._take_axis()[0], numbers))

    def transformer(self) -> XTransformer:
        """Make the transformer of updates of the shape that the index gives."""
        common = self._common()
        slices = [dim for dim in self.dims if isinstance(dim, _Slice)]
        before = self._before()
        extents = [dim.numbers.size for dim in slices]
        shape = (*extents[:before], *common, *extents[before:])
        rank, after = len(shape), len(slices) - before
        axes: dict[int, int | Integers] = {a: np.array(n) for a, n in self.fixed.items()}
        for place, dim in enumerate(slices):
            if dim.axis is not None:
                d = place if place < before else place + len(common)
                spread = [-1 if c == d else 1 for c in range(rank)]
                whole = dim.numbers.size == self.shape[dim.axis]  # a slice of all ascends
                axes[dim.axis] = d if whole else dim.numbers.reshape(spread)
        for axis, numbers in self._indexed():
            if 0 not in shape:
                size = self.shape[axis]
                check_range(self.name, numbers, -size, size - 1)
            axes[axis] = numbers.reshape(numbers.shape + (1,) * after)
        return by_axes(shape, self.shape, [axes[c] for c in range(len(self.shape))])

    def _indexed(self) -> list[tuple[int, Integers]]:
        """List the axes that index tensors give, with the tensors."""
        tensors = [dim for dim in self.dims if isinstance(dim, _Tensor)]
        return [(t.axis, t.numbers) for t in tensors if t.axis is not None]

    def _common(self) -> tuple[int, ...]:
        """Return the shape that all tensors broadcast to."""
        shapes = [dim.numbers.shape for dim in self.dims if isinstance(dim, _Tensor)]
        try:
            common = np.broadcast_shapes(*shapes)
        except ValueError:
            listed = ", ".join(map(str, shapes))
            raise ValueError(f"{self.name} has tensors of shapes {listed}") from None
        exist = 0 in common or all(self.shape[axis] for axis, _ in self._indexed())
        check(exist, f"{self.name} has elements for an axis of size 0")
        return common

    def _before(self) -> int:
        """Count the slices before the dims of the tensors: 0 if slices are between the tensors."""
        at = [place for place, dim in enumerate(self.dims) if isinstance(dim, _Tensor)]
        together = bool(at) and at[-1] - at[0] == len(at) - 1
        return at[0] if together else 0


def _consumed(item: Item) -> int:
    """Count the axes of data that an item indexes."""
    if isinstance(item, np.ndarray):
        return item.ndim if is_mask(item) else 1
    return int(not (item is None or item is Ellipsis or isinstance(item, bool)))

"""PyTorch's indexed writes: index_put, and ``x[index] = value`` as setitem.

Each axis of data is one of

    a slice                    J_c = start + step * I_d
    a number                   J_c = that number
    told by an index tensor    J_c = tensor[I_a..I_b]

All index tensors broadcast to one shape, whose dims I_a..I_b stand where the tensors stand, or
first if something stands between them. A mask counts as the coordinates of its true elements: as
many tensors as it has dims. Numbers count from the end if they are negative.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np

from onnx_scatterx.conventions.axes import Integers, by_axes, nothing
from onnx_scatterx.conventions.checks import check_dtype, check_range, check_same_dtype
from onnx_scatterx.conventions.pytorch.arguments import (
    Array,
    Scalar,
    as_scalar,
    check_tensor,
    converted,
)
from onnx_scatterx.scattering import Reduction, Scattering
from onnx_scatterx.transformer import XTransformer

Item: TypeAlias = int | bool | slice | EllipsisType | Array | None
_MASKS = ("bool", "uint8")
_TENSORS = frozenset({"int64", "int32", "uint8", "bool"})


def index_put(
    input: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False
) -> Scattering:
    """``torch.index_put``; as in ``torch.ops.aten``, an index None is a whole axis.

    >>> index_put(np.zeros((2, 2)), (np.array([0, 0]), np.array([1, 1])), np.ones(2), True).run()
    array([[0., 2.], [0., 0.]])
    """
    check_tensor(input)
    tensors = [index for index in indices if index is not None]
    if values.size == 1 and not accumulate and _is_fill("indices", tensors):
        values = converted("values", values, input.dtype).reshape(())
    elif any(tensor.ndim == 0 and tensor.dtype.name in _MASKS for tensor in tensors):
        raise ValueError("indices has a mask of rank 0")
    elif not tensors:
        raise ValueError("indices has no tensor")
    check_same_dtype("values", values, "input", input)
    items = [slice(None) if index is None else index for index in indices]
    transformer = _Places("indices", input.shape, items).transformer()
    updates = _spread("values", values, transformer.shape)
    reduction = Reduction.ADD if accumulate else Reduction.NONE
    return Scattering(input, updates, transformer, reduction)


def setitem(input: Array, index: Item | tuple[Item, ...], value: Array | Scalar) -> Scattering:
    """``input[index] = value``, with all that PyTorch takes for an index.

    >>> x = np.zeros((2, 3), int)
    >>> setitem(x, (Ellipsis, slice(1, None)), 5).run()
    array([[0, 5, 5], [0, 5, 5]])
    >>> setitem(x, (np.array([1, 0]), np.array([0, 2])), np.array([7, 8])).run()
    array([[0, 0, 8], [7, 0, 0]])
    """
    check_tensor(input, copied=True)
    if index is False:
        return Scattering(input, np.empty(0, input.dtype), nothing(input.shape))
    index = None if index is True else index
    items = [_number(item) for item in (index if isinstance(index, tuple) else (index,))]
    places = _Places("index", input.shape, items)
    tensors = [item for item in items if isinstance(item, (bool, np.ndarray))]
    if places.tensors:
        check_tensor(input)
    transformer = places.transformer()
    if not isinstance(value, np.ndarray):
        # The half types are made from double, where all numbers but large integers fit.
        if isinstance(value, int) and value >= 2**63:
            raise ValueError(f"value is {value}, which 64 bits cannot hold")
        half = input.dtype.name in ("float16", "bfloat16")
        updates = as_scalar("value", value, np.dtype(np.float64) if half else input.dtype)
        updates = converted("value", updates, input.dtype)
    elif places.tensors and not (value.size == 1 and _is_fill("index", tensors)):
        check_same_dtype("value", value, "input", input)
        updates = value
    else:
        updates = converted("value", value, input.dtype)
    if updates.size == 1:
        _is_fill("index", tensors)
    while updates.ndim > len(transformer.shape) and updates.shape[0] == 1:
        updates = updates[0]
    return Scattering(input, _spread("value", updates, transformer.shape), transformer)


@dataclass(frozen=True)
class _Slice:
    """A dim of the result: a slice of an axis, or one of extent 1 that is no axis."""

    axis: int | None
    numbers: Integers

    def on(self, size: int) -> int | Integers:
        """Return the dim 0 if this is all of an axis, else its numbers."""
        whole = self.numbers.size == size and (size == 0 or self.numbers[0] == 0)
        return 0 if whole else self.numbers


@dataclass(frozen=True)
class _Tensor:
    """An index tensor of an axis, or of none: then it only gives the result its shape."""

    axis: int | None
    numbers: Integers


class _Places:
    """The items of an index, one by one put on the axes of a shape."""

    def __init__(self, name: str, shape: tuple[int, ...], items: Sequence[Item]) -> None:
        self.name, self.shape = name, shape
        self.fixed: dict[int, int] = {}
        self.dims: list[_Slice | _Tensor] = []
        self.axis = 0
        rest = len(shape) - sum(map(_consumed, items))
        if rest < 0:
            raise ValueError(f"{name} names more than the {len(shape)} axes of input")
        if sum(item is Ellipsis for item in items) > 1:
            raise ValueError(f"{name} has more than one Ellipsis")
        for item in items if any(item is Ellipsis for item in items) else [*items, Ellipsis]:
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

    @property
    def tensors(self) -> list[_Tensor]:
        return [dim for dim in self.dims if isinstance(dim, _Tensor)]

    def _take_axis(self) -> tuple[int, int]:
        self.axis += 1
        return self.axis - 1, self.shape[self.axis - 1]

    def _fix(self, number: int) -> None:
        axis, size = self._take_axis()
        if not -size <= number < size:
            raise ValueError(f"{self.name} is {number} on axis {axis}, which has size {size}")
        self.fixed[axis] = number

    def _slice(self, item: slice) -> None:
        axis, size = self._take_axis()
        if item.step is not None and item.step < 1:
            raise ValueError(f"{self.name} has a slice with the step {item.step}")
        self.dims.append(_Slice(axis, np.arange(size)[item]))

    def _array(self, item: Array) -> None:
        check_dtype(self.name, item, _TENSORS)
        if item.dtype.name not in _MASKS:
            axis, _ = self._take_axis()
            self.dims.append(_Tensor(axis, item.astype(np.int64)))
            return
        if not item.ndim:
            self.dims.append(_Tensor(None, np.arange(int(bool(item)))))
        covered = self.shape[self.axis : self.axis + item.ndim]
        if item.shape != covered:
            raise ValueError(f"{self.name} has a mask of shape {item.shape} on axes of {covered}")
        for numbers in np.argwhere(item).T:
            self.dims.append(_Tensor(self._take_axis()[0], numbers))

    def transformer(self) -> XTransformer:
        """Make the transformer of updates of the shape that the index gives."""
        tensors = self.tensors
        try:
            common = np.broadcast_shapes(*(t.numbers.shape for t in tensors))
        except ValueError:
            shapes = ", ".join(str(t.numbers.shape) for t in tensors)
            raise ValueError(
                f"{self.name} has tensors of shapes {shapes}, without a common one"
            ) from None
        at = [place for place, dim in enumerate(self.dims) if isinstance(dim, _Tensor)]
        apart = bool(at) and at[-1] - at[0] >= len(at)
        slices = [dim for dim in self.dims if isinstance(dim, _Slice)]
        before = 0 if apart or not at else at[0]
        sizes = [self.shape[t.axis] for t in tensors if t.axis is not None]
        if 0 in sizes and 0 not in common:
            raise ValueError(f"{self.name} has elements for an axis of size 0")
        extents = [dim.numbers.size for dim in slices]
        shape = (*extents[:before], *common, *extents[before:])
        if 0 not in shape:
            for tensor in tensors:
                if tensor.axis is not None:
                    size = self.shape[tensor.axis]
                    check_range(self.name, tensor.numbers, -size, size - 1)
        rank = len(shape)
        axes: dict[int, int | Integers] = {a: np.array(n) for a, n in self.fixed.items()}
        for place, dim in enumerate(slices):
            if dim.axis is not None:
                d = place if place < before else place + len(common)
                told = dim.on(self.shape[dim.axis])
                axes[dim.axis] = d if isinstance(told, int) else told.reshape(_only(d, rank))
        for tensor in tensors:
            if tensor.axis is not None:
                numbers = tensor.numbers
                after = [1] * (rank - before - len(common))
                axes[tensor.axis] = numbers.reshape((*numbers.shape, *after))
        return by_axes(shape, self.shape, [axes[c] for c in range(len(self.shape))])


def _is_fill(name: str, tensors: Sequence[Array | bool]) -> bool:
    """Whether PyTorch writes one number by masked_fill, which takes masks of bool alone."""
    if len(tensors) != 1 or isinstance(tensors[0], bool) or tensors[0].dtype.name not in _MASKS:
        return False
    check_dtype(name, tensors[0], {"bool"})
    return True


def _number(item: Item) -> Item:
    """Take a tensor of rank 0 for a number or, as a mask, a bool."""
    if not isinstance(item, np.ndarray) or item.ndim or item.dtype.kind not in "biu":
        return item
    return bool(item) if item.dtype.name in _MASKS else int(item)


def _consumed(item: Item) -> int:
    """Count the axes of data that an item stands for."""
    if isinstance(item, np.ndarray):
        return item.ndim if item.dtype.name in _MASKS else 1
    return int(not (item is None or item is Ellipsis or isinstance(item, bool)))


def _only(dim: int, rank: int) -> list[int]:
    return [-1 if d == dim else 1 for d in range(rank)]


def _spread(name: str, values: Array, shape: tuple[int, ...]) -> Any:
    try:
        return np.broadcast_to(values, shape)
    except ValueError:
        raise ValueError(
            f"{name} has shape {values.shape}, and must broadcast to {shape}"
        ) from None

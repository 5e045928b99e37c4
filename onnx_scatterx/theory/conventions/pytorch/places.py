"""Makes the transformer of a PyTorch index from its items. Each axis of data is one of

    a slice                    J_c = start + step * I_d
    a number                   J_c = that number
    given by an index tensor J_c = tensor[I_a..I_b]

All index tensors broadcast to one shape, whose dims I_a..I_b are in the place of the tensors, or
first if a slice is between the tensors. A mask is the coordinates of its true elements: a tensor
for each of its dims. None is a dim of extent 1 without an axis. A bool is an index tensor without
an axis, with one element or none. Negative numbers count from the end.
"""

from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import Literal, NamedTuple, TypeAlias

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


class _Part(NamedTuple):
    """The numbers that an item gives to an axis; without an axis, the item only adds a dim."""

    kind: Literal["number", "slice", "tensor"]
    axis: int | None
    numbers: Integers


def by_items(name: str, data_shape: tuple[int, ...], items: Sequence[Item]) -> XTransformer:
    """Make the transformer of the items of an index."""
    parts = _parts(name, data_shape, items)
    dims = [part for part in parts if part.kind != "number"]
    slices, tensors = ([p for p in dims if p.kind == kind] for kind in ("slice", "tensor"))
    common = _common(name, data_shape, tensors)
    before = _before(dims)
    extents = [part.numbers.size for part in slices]
    shape = (*extents[:before], *common, *extents[before:])
    axes: dict[int | None, int | Integers] = {p.axis: p.numbers for p in parts}
    for i, (_, axis, numbers) in enumerate(slices):
        if axis is not None:
            d = i + len(common) * (i >= before)
            whole = numbers.size == data_shape[axis]  # slices ascend, so this one is the axis
            axes[axis] = d if whole else numbers.reshape(-1, *(1,) * (len(shape) - 1 - d))
    for _, axis, numbers in tensors:
        if axis is not None:
            if 0 not in shape:
                check_range(name, numbers, -data_shape[axis], data_shape[axis] - 1)
            axes[axis] = numbers.reshape(numbers.shape + (1,) * (len(slices) - before))
    return by_axes(shape, data_shape, [axes[c] for c in range(len(data_shape))])


def _parts(name: str, shape: tuple[int, ...], items: Sequence[Item]) -> list[_Part]:
    """Assign the items, one by one, to the axes of a shape."""
    rest = len(shape) - sum(map(_consumed, items))
    check(rest >= 0, f"{name} names more than the {len(shape)} axes of input")
    dots = [i for i, item in enumerate(items) if item is Ellipsis] or [len(items)]
    check(len(dots) == 1, f"{name} has more than one Ellipsis")
    parts, axis = list[_Part](), 0
    for item in (*items[: dots[0]], *[slice(None)] * rest, *items[dots[0] + 1 :]):
        first, axis = axis, axis + _consumed(item)
        covered = shape[first:axis]
        if isinstance(item, np.ndarray):
            parts += _of_tensor(name, item, first, covered)
        elif isinstance(item, slice):
            ascends = item.step is None or item.step >= 1
            check(ascends, f"{name} has a slice with the step {item.step}")
            parts.append(_Part("slice", first, np.arange(*covered)[item]))
        elif item is None:
            parts.append(_Part("slice", None, np.arange(1)))
        elif isinstance(item, bool):
            parts.append(_Part("tensor", None, np.arange(int(item))))
        else:
            (size,), number = covered, int(item)  # type: ignore[arg-type] # no Ellipsis is left
            within = -size <= number < size
            check(within, f"{name} is {number} on axis {first}, which has size {size}")
            parts.append(_Part("number", first, np.array(number)))
    return parts


def _of_tensor(name: str, item: Array, first: int, covered: tuple[int, ...]) -> Iterator[_Part]:
    """Yield the index tensors of an item; a mask of rank 0 gives a tensor without an axis."""
    check_dtype(name, item, _TENSORS)
    numbers = [item.astype(np.int64)]
    if is_mask(item):
        fault = f"{name} has a mask of shape {item.shape} on axes of {covered}"
        check(item.shape == covered, fault)
        numbers = list(np.argwhere(np.atleast_1d(item)).T)
    for offset, each in enumerate(numbers):
        yield _Part("tensor", first + offset if covered else None, each)


def _common(name: str, data_shape: tuple[int, ...], tensors: Sequence[_Part]) -> tuple[int, ...]:
    """Return the shape to which all tensors broadcast."""
    shapes = [part.numbers.shape for part in tensors]
    try:
        common = np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(map(str, shapes))
        raise ValueError(f"{name} has tensors of shapes {listed}") from None
    exist = 0 in common or all(t.axis is None or data_shape[t.axis] for t in tensors)
    check(exist, f"{name} has elements for an axis of size 0")
    return common


def _before(dims: Sequence[_Part]) -> int:
    """Count the slices before the dims of the tensors: 0 if slices are between the tensors."""
    at = [i for i, part in enumerate(dims) if part.kind == "tensor"]
    together = bool(at) and at[-1] - at[0] == len(at) - 1
    return at[0] if together else 0


def _consumed(item: Item) -> int:
    """Count the axes of data that an item indexes."""
    if isinstance(item, np.ndarray):
        return item.ndim if is_mask(item) else 1
    return int(not (item is None or item is Ellipsis or isinstance(item, bool)))

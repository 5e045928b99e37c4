"""PyTorch's indexed writes: index_put, and ``x[index] = value`` as setitem.

    p1 = the dims of index tensors and of slices    f(p1(I)) = their numbers    p2 = whole axes

The docstring of ``places.py`` explains the items of an index.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from onnx_scatterx.theory.conventions.axes import check, check_dtype, check_same_dtype, nothing
from onnx_scatterx.theory.conventions.pytorch.arguments import (
    Array,
    Scalar,
    as_scalar,
    check_tensor,
    converted,
)
from onnx_scatterx.theory.conventions.pytorch.places import Item, by_items, is_mask
from onnx_scatterx.theory.scattering import Reduction, Scattering


def index_put(
    input: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False
) -> Scattering:
    """``torch.index_put``; the index None is a whole axis, as in ``torch.ops.aten``.

    >>> index_put(np.zeros((2, 2)), (np.array([0, 0]), np.array([1, 1])), np.ones(2), True).run()
    array([[0., 2.], [0., 0.]])
    """
    check_tensor(input)
    tensors = [index for index in indices if index is not None]
    if values.size == 1 and not accumulate and _is_fill("indices", tensors):
        values = converted("values", values, input.dtype).reshape(())
    else:
        masks = (tensor for tensor in tensors if is_mask(tensor))
        check(all(mask.ndim for mask in masks), "indices has a mask of rank 0")
        check(tensors, "indices has no tensor")
    check_same_dtype("values", values, "input", input)
    items = [slice(None) if index is None else index for index in indices]
    transformer = by_items("indices", input.shape, items)
    updates = _spread("values", values, transformer.shape)
    reduction = Reduction.ADD if accumulate else Reduction.NONE
    return Scattering(input, updates, transformer, reduction)


def setitem(input: Array, index: Item | tuple[Item, ...], value: Array | Scalar) -> Scattering:
    """``input[index] = value``, with every index that PyTorch takes.

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
    tensors = [item for item in items if isinstance(item, (bool, np.ndarray))]
    fill = np.size(value) == 1 and _is_fill("index", tensors)
    if tensors:
        check_tensor(input)
    transformer = by_items("index", input.shape, items)
    if not isinstance(value, np.ndarray):
        # PyTorch converts to the half types from double, which holds all numbers but large
        # integers.
        held = not isinstance(value, int) or value < 2**63
        check(held, f"value is {value}, which 64 bits cannot hold")
        half = input.dtype.name in ("float16", "bfloat16")
        updates = as_scalar("value", value, np.dtype(np.float64) if half else input.dtype)
        updates = converted("value", updates, input.dtype)
    elif tensors and not fill:
        check_same_dtype("value", value, "input", input)
        updates = value
    else:
        updates = converted("value", value, input.dtype)
    while updates.ndim > len(transformer.shape) and updates.shape[0] == 1:
        updates = updates[0]
    return Scattering(input, _spread("value", updates, transformer.shape), transformer)


def _is_fill(name: str, tensors: Sequence[Array | bool]) -> bool:
    """Whether PyTorch writes a number by masked_fill, which takes only masks of type bool."""
    if len(tensors) != 1 or isinstance(tensors[0], bool) or not is_mask(tensors[0]):
        return False
    check_dtype(name, tensors[0], {"bool"})
    return True


def _number(item: Item) -> Item:
    """Return a tensor of rank 0 as a number or, if it is a mask, as a bool."""
    if not isinstance(item, np.ndarray) or item.ndim or item.dtype.kind not in "biu":
        return item
    return bool(item) if is_mask(item) else int(item)


def _spread(name: str, values: Array, shape: tuple[int, ...]) -> Any:
    try:
        return np.broadcast_to(values, shape)
    except ValueError:
        fault = f"{name} has shape {values.shape}, and must broadcast to {shape}"
        raise ValueError(fault) from None

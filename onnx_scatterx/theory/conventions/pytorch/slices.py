"""PyTorch's calls that write a slice, or write by a mask: slice_scatter, masked_fill and others.

    slice_scatter       J_dim = start + step * I_dim
    select_scatter      J_dim = index
    diagonal_scatter    J_dim1 = I_last + max(-offset, 0), J_dim2 = I_last + max(offset, 0)

All other axes are dims of the updates: p2. For a mask, the updates have one dim:

    p1 = the one dim    f(p1(I)) = the I-th true element of the mask    p2 = nothing

Data and mask broadcast to each other.
"""

import numpy as np

from onnx_scatterx.theory.conventions import axes
from onnx_scatterx.theory.conventions.axes import (
    Integers,
    by_axes,
    by_axis,
    check,
    check_dims,
    check_dtype,
    check_same_dtype,
    check_shape,
)
from onnx_scatterx.theory.conventions.pytorch.arguments import (
    Array,
    Scalar,
    as_filling,
    check_tensor,
    converted,
    wrap,
)
from onnx_scatterx.theory.scattering import Scattering
from onnx_scatterx.theory.transformer import XTransformer


def slice_scatter(
    input: Array,
    src: Array,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Scattering:
    """``torch.slice_scatter``: ``output[:, start:end:step] = src``, along a dim.

    >>> slice_scatter(np.zeros(5), np.array([1.0, 2.0]), 0, 1, 4, 2).run()
    array([0., 1., 0., 2., 0.])
    """
    check_tensor(input, copied=True)
    check_dims(("input", input))
    dim = wrap(dim, input.ndim)
    check(step >= 1, f"step must be 1 or more, not {step}")
    taken = np.arange(input.shape[dim])[start:end:step]
    return _written(input, src, by_axis(input.shape, taken, dim))


def select_scatter(input: Array, src: Array, dim: int, index: int) -> Scattering:
    """``torch.select_scatter``: ``output[:, index] = src``, along a dim.

    >>> select_scatter(np.zeros((2, 2)), np.array([1.0, 2.0]), 1, -1).run()
    array([[0., 1.], [0., 2.]])
    """
    check_tensor(input, copied=True)
    check_dims(("input", input))
    dim = wrap(dim, input.ndim)
    position = np.array(axes.wrap("index", index, input.shape[dim]))
    return _written(input, src, by_axis(input.shape, position, dim))


def diagonal_scatter(
    input: Array, src: Array, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Scattering:
    """``torch.diagonal_scatter``: src becomes the diagonal of two dims.

    >>> diagonal_scatter(np.zeros((2, 3)), np.array([1.0, 2.0]), 1).run()
    array([[0., 1., 0.], [0., 0., 2.]])
    """
    check_tensor(input, copied=True)
    first, second = wrap(dim1, input.ndim, "dim1"), wrap(dim2, input.ndim, "dim2")
    check(first != second, f"dim1 and dim2 are the same dim, {first}")
    down, right = max(-offset, 0), max(offset, 0)
    length = max(min(input.shape[first] - down, input.shape[second] - right), 0)
    others = [d for d in range(input.ndim) if d not in (first, second)]
    shape = (*(input.shape[d] for d in others), length)
    column = np.arange(length)
    moved: dict[int, int | Integers] = {d: k for k, d in enumerate(others)}
    moved |= {first: column + down, second: column + right}
    axes = [moved[d] for d in range(input.ndim)]
    return _written(input, src, by_axes(shape, input.shape, axes))


def _written(input: Array, src: Array, transformer: XTransformer) -> Scattering:
    check_shape("src", src, transformer.shape)
    return Scattering(input, converted("src", src, input.dtype), transformer)


_MASKS = frozenset({"bool"})


def masked_scatter(input: Array, mask: Array, source: Array) -> Scattering:
    """``torch.masked_scatter``: writes elements of source in order; source may have more of them.

    >>> masked_scatter(np.zeros(3), np.array([True, False, True]), np.array([1.0, 2.0, 3.0])).run()
    array([1., 0., 2.])
    """
    check_same_dtype("source", source, "input", input)
    data, transformer = _masked(input, mask)
    (count,) = transformer.shape
    fault = f"source has {source.size} elements, and the mask is true {count} times"
    check(source.size >= count, fault)
    return Scattering(data, source.reshape(-1)[:count], transformer)


def masked_fill(input: Array, mask: Array, value: Array | Scalar) -> Scattering:
    """``torch.masked_fill`` with a number or a tensor of rank 0.

    >>> masked_fill(np.zeros((2, 2)), np.array([True, False]), 5).run()
    array([[5., 0.], [5., 0.]])
    """
    data, transformer = _masked(input, mask)
    number = as_filling(value, input.dtype)
    return Scattering(data, np.broadcast_to(number, transformer.shape), transformer)


def _masked(input: Array, mask: Array) -> tuple[Array, XTransformer]:
    check_tensor(input)
    check_dtype("mask", mask, _MASKS)
    try:
        data, true = np.broadcast_arrays(input, mask)
    except ValueError:
        shapes = f"{mask.shape}, and input of shape {input.shape}"
        raise ValueError(f"mask has shape {shapes} does not go with it") from None
    positions = np.argwhere(true)
    return data, by_axes(positions.shape[:1], data.shape, list(positions.T))

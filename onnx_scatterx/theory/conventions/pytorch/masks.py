"""PyTorch's calls with a mask: masked_scatter and masked_fill.

    p1 = the one dim    f(p1(I)) = the I-th true element of the mask    p2 = nothing

Data and mask broadcast to each other.
"""

import numpy as np

from onnx_scatterx.theory.conventions.axes import by_axes
from onnx_scatterx.theory.conventions.checks import check_dtype, check_same_dtype
from onnx_scatterx.theory.conventions.pytorch.arguments import (
    Array,
    Scalar,
    as_filling,
    check_tensor,
)
from onnx_scatterx.theory.scattering import Scattering
from onnx_scatterx.theory.transformer import XTransformer

_MASKS = frozenset({"bool"})


def masked_scatter(input: Array, mask: Array, source: Array) -> Scattering:
    """``torch.masked_scatter``: the elements of source in order; source may have more of them.

    >>> masked_scatter(np.zeros(3), np.array([True, False, True]), np.array([1.0, 2.0, 3.0])).run()
    array([1., 0., 2.])
    """
    check_same_dtype("source", source, "input", input)
    data, transformer = _masked(input, mask)
    (count,) = transformer.shape
    if source.size < count:
        raise ValueError(f"source has {source.size} elements, and the mask is true {count} times")
    return Scattering(data, source.reshape(-1)[:count], transformer)


def masked_fill(input: Array, mask: Array, value: Array | Scalar) -> Scattering:
    """``torch.masked_fill``: with a number, or a tensor of rank 0.

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
    places = np.argwhere(true)
    return data, by_axes(places.shape[:1], data.shape, list(places.T))

"""PyTorch's calls that write a slice: slice_scatter, select_scatter, diagonal_scatter.

    slice_scatter       J_dim = start + step * I_dim
    select_scatter      J_dim = index
    diagonal_scatter    J_dim1 = I_last + max(-offset, 0), J_dim2 = I_last + max(offset, 0)

All other axes are dims of the updates: p2.
"""

import numpy as np

from onnx_scatterx.theory.conventions import checks
from onnx_scatterx.theory.conventions.axes import Integers, by_axes, by_axis
from onnx_scatterx.theory.conventions.checks import check_dims, check_shape
from onnx_scatterx.theory.conventions.pytorch.arguments import Array, check_tensor, converted, wrap
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
    if step < 1:
        raise ValueError(f"step must be 1 or more, not {step}")
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
    position = np.array(checks.wrap("index", index, input.shape[dim]))
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
    if first == second:
        raise ValueError(f"dim1 and dim2 are the same dim, {first}")
    down, right = max(-offset, 0), max(offset, 0)
    length = max(min(input.shape[first] - down, input.shape[second] - right), 0)
    others = [d for d in range(input.ndim) if d not in (first, second)]
    shape = (*(input.shape[d] for d in others), length)
    column = np.arange(length)
    moved: dict[int, int | Integers] = {d: place for place, d in enumerate(others)}
    moved |= {first: column + down, second: column + right}
    axes = [moved[d] for d in range(input.ndim)]
    return _written(input, src, by_axes(shape, input.shape, axes))


def _written(input: Array, src: Array, transformer: XTransformer) -> Scattering:
    check_shape("src", src, transformer.shape)
    return Scattering(input, converted("src", src, input.dtype), transformer)

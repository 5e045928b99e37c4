"""TIM-VX's scatter and reads, whose index tuples are reversed.

TIM-VX counts axes from the fastest axis on: W, H, C, N. The arrays here have the memory layout of
TIM-VX's tensors, so the last axis of an array is TIM-VX's axis 0. ``shape`` and ``axis`` keep the
order of TIM-VX. So do the tuples on the last axis of ``indices``: they name the last of TIM-VX's
axes, and of these the fastest first.

    operator                       p1             f(p1(I))                          p2
    ScatterND, indices [q.., k]    first m dims   indices[I1..Im] reversed          the rest
    GatherND, indices [q.., k]     first m dims   indices[I1..Im] reversed          the rest
    Gather, axis a, b batch dims   batch dims and those of indices                  the rest
    GatherElements, axis a         all dims       indices[I], one number            all but a
    ScatterND_ONNX_V16             first m dims   indices[I1..Im], as in ONNX       the rest

TIM-VX's kernels of GatherND read the tuples in this order. Its kernels of ScatterND read the tuples
from the slowest axis on, as ONNX does. So the input of a ScatterND kernel is ``indices[..., ::-1]``
of the indices here.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.conventions import onnx
from onnx_scatterx.theory.conventions.axes import (
    Integers,
    by_axis,
    by_tuples,
    check,
    check_columns,
    check_dims,
    check_integers,
    check_names,
    check_range,
    check_shape,
    wrap_batch,
)
from onnx_scatterx.theory.scattering import Gathering, Reduction, Scattering


def scatter_nd(indices: Integers, updates: NDArray[Any], shape: Sequence[int]) -> Scattering:
    """ScatterND: adds ``updates`` to a new tensor of zeros of ``shape``, W first.

    ``indices`` has shape q1, ..., qm, k. ``updates`` has the dims q1, ..., qm, and those of the
    axes that no tuple names.

    >>> scatter_nd(np.array([[0, 1], [2, 0]]), np.array([5.0, 6.0]), (3, 2)).run()
    array([[0., 0., 6.],
           [5., 0., 0.]])
    """
    are_sizes = all(n >= 0 for n in shape)
    check(are_sizes, f"shape is {tuple(shape)}, and must not have negative extents")
    data = np.zeros(tuple(shape)[::-1], updates.dtype)
    named = _tuples(indices, "shape", data.shape)
    lead, rest = indices.shape[:-1], data.shape[len(named) :]
    check_shape("updates", updates, lead + rest)
    return Scattering(data, updates, by_tuples(data.shape, named, lead), Reduction.ADD)


def gather_nd(input: NDArray[Any], indices: Integers) -> Gathering:
    """GatherND: the output has the dims q1, ..., qm, and those of the axes that no tuple names.

    >>> gather_nd(np.array([[1, 2, 3], [4, 5, 6]]), np.array([[0, 1], [2, 0]])).run()
    array([4, 3])
    """
    named = _tuples(indices, "input", input.shape)
    return Gathering(input, by_tuples(input.shape, named, indices.shape[:-1]))


def gather(input: NDArray[Any], indices: Integers, axis: int, batch_dims: int = 0) -> Gathering:
    """Gather along ``axis``, counted from W; in the output, the dims of the indices replace it.

    With ``batch_dims``, each index of so many of the slowest axes has its own ``indices``.

    >>> gather(np.array([[1, 2, 3], [4, 5, 6]]), np.array([2, 0]), 0).run()
    array([[3, 1], [6, 4]])
    >>> gather(np.array([[1, 2, 3], [4, 5, 6]]), np.array([[2], [0]]), 0, 1).run()
    array([[3], [4]])
    """
    own = _from_slowest(indices, axis, input.ndim)
    most = min(own, indices.ndim)
    wrap_batch(batch_dims, most, indices, "input", input, signed=False)
    check_range("indices", indices, 0, input.shape[own] - 1)
    return Gathering(input, by_axis(input.shape, indices, own, batch_dims))


def gather_elements(input: NDArray[Any], indices: Integers, axis: int) -> Gathering:
    """GatherElements along ``axis``, counted from W; negative indices count from the end.

    >>> gather_elements(np.array([[1, 2, 3], [4, 5, 6]]), np.array([[1, 2], [0, -1]]), 0).run()
    array([[2, 3], [4, 6]])
    """
    return onnx.gather_elements(input, indices, _from_slowest(indices, axis, input.ndim))


def scatter_nd_onnx_v16(
    input: NDArray[Any], indices: Integers, updates: NDArray[Any], reduction: str = "none"
) -> Scattering:
    """ScatterND_ONNX_V16: writes into ``input``, by index tuples from the slowest axis on.

    ``reduction`` is "none", "add", "mul", "max" or "min". With "none", raises ValueError if updates
    collide, because TIM-VX's kernels add some of them.

    >>> data, at = np.zeros((2, 3)), np.array([[1, 0], [0, 2]])
    >>> scatter_nd_onnx_v16(data, at, np.array([5.0, 6.0])).run()
    array([[0., 0., 6.],
           [5., 0., 0.]])
    """
    check_integers("indices", indices)
    scattering = onnx.scatter_nd(input, indices, updates, reduction)
    check_columns(np.moveaxis(indices, -1, 0), input.shape)
    apart = scattering.reduction is not Reduction.NONE or scattering.transformer.is_injective()
    check(apart, "indices let updates collide, and reduction is 'none'")
    return scattering


def _from_slowest(indices: Integers, axis: int, rank: int) -> int:
    """Return an axis number counted from the slowest axis, given one counted from the fastest."""
    check_integers("indices", indices)
    check(0 <= axis < rank, f"axis is {axis}, and must be in [0, {rank - 1}]")
    return rank - 1 - axis


def _tuples(indices: Integers, name: str, data_shape: tuple[int, ...]) -> list[Integers]:
    """Return the numbers for each of the first axes of data, which a tuple has in reverse."""
    check_integers("indices", indices)
    check_dims(("indices", indices))
    k = indices.shape[-1]
    check_names(k, name, len(data_shape))
    columns = list(np.moveaxis(indices, -1, 0))
    check_columns(columns, data_shape[:k][::-1])
    return columns[::-1]

"""ONNX's scatters and gathers as the equation of the paper, with the checks of ONNX Runtime.

    operator                          p1             f(p1(I))                     p2
    ScatterND, indices [q1..qm, k]    first m dims   indices[I1..Im], k numbers   the rest
    ScatterElements, axis a           all dims       indices[I], one number       all but a
    TensorScatter, axis a             0 and a        write_indices[I0] + I_a      all but a
    Gather, axis a                    a..a+q-1       indices[Ia..], one number    the rest
    GatherElements, axis a            all dims       indices[I], one number       all but a
    GatherND, batch_dims b            first m dims   indices[I1..Im], k numbers   batch, the rest

For ScatterND, p is the identity. For GatherND, p moves f's numbers after the batch. For the other
operators, p moves f's number to axis a. If ONNX Runtime refuses a call, the call raises a
ValueError that names the argument.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.conventions.axes import (
    Integers,
    by_axis,
    by_own_index,
    by_tuples,
    check,
    check_choice,
    check_columns,
    check_dims,
    check_names,
    check_range,
    check_same_rank,
    check_same_shape,
    check_shape,
    wrap_batch,
)
from onnx_scatterx.theory.picks import Pick
from onnx_scatterx.theory.scattering import Gathering, Reduction, Scattering
from onnx_scatterx.theory.transformer import XTransformer

REDUCTIONS = (Reduction.NONE, Reduction.ADD, Reduction.MUL, Reduction.MIN, Reduction.MAX)


def scatter_nd(
    data: NDArray[Any],
    indices: Integers,
    updates: NDArray[Any],
    reduction: str = "none",
) -> Scattering:
    """ScatterND (opset 11 to 18).

    ``indices`` has shape q1, ..., qm, k, and ``updates`` must have the shape
    ``(q1, ..., qm) + data.shape[k:]``.

    >>> scatter_nd(np.zeros((3, 2)), np.array([[2], [-3]]), np.array([[1, 2], [3, 4.0]])).run()
    array([[3., 4.], [0., 0.], [1., 2.]])
    """
    check_dims(("data", data), ("indices", indices))
    m, k = indices.ndim - 1, indices.shape[-1]
    check_names(k, "data", data.ndim)
    check_shape("updates", updates, indices.shape[:-1] + data.shape[k:])
    # If data[indices[I]] is empty, no update is out of bounds, so the indices are checked here.
    check_columns(np.moveaxis(indices, -1, 0), data.shape, signed=True)
    p1, p2 = Pick.identity(m), Pick.identity(m, updates.ndim)
    transformer = XTransformer(updates.shape, data.shape, indices, p1, p2, Pick.identity(data.ndim))
    return Scattering(data, updates, transformer, _reduction(reduction))


def scatter_elements(
    data: NDArray[Any],
    indices: Integers,
    updates: NDArray[Any],
    axis: int = 0,
    reduction: str = "none",
) -> Scattering:
    """ScatterElements (opset 11 to 18), and Scatter (opset 9) without a reduction.

    ``indices`` and ``updates`` have the same shape, and the rank of ``data``. They may be larger
    than ``data`` only on ``axis``.

    >>> scatter_elements(np.zeros((1, 4)), np.array([[1, -1]]), np.array([[5.0, 6.0]]), 1).run()
    array([[0., 5., 0., 6.]])
    """
    transformer = gather_elements(data, indices, axis).transformer
    check_same_shape("updates", updates, "indices", indices)
    return Scattering(data, updates, transformer, _reduction(reduction))


def tensor_scatter(
    past_cache: NDArray[Any],
    update: NDArray[Any],
    write_indices: Integers | None = None,
    axis: int = -2,
    mode: str = "linear",
) -> Scattering:
    """TensorScatter (opset 24).

    ``update`` has the shape of ``past_cache``, but may be shorter on ``axis``. Each sample of the
    batch is written from ``write_indices[sample]`` on, or from 0 on without ``write_indices``. No
    number is negative. In the mode "circular", position 0 follows the end of the axis.

    >>> ring = tensor_scatter(np.zeros((1, 4)), np.ones((1, 2)), np.array([3]), 1, "circular")
    >>> ring.run()
    array([[1., 0., 0., 1.]])
    """
    check_choice("mode", mode, ("linear", "circular"))
    check_same_rank("update", update, "past_cache", past_cache)
    axis = _axis(axis, past_cache.ndim, 1)
    for d, (extent, size) in enumerate(zip(update.shape, past_cache.shape, strict=True)):
        fits = extent <= size if d == axis else extent == size
        check(fits, f"dim {d} of update is {extent}, and {size} in past_cache")
    batch, length, size = update.shape[0], update.shape[axis], past_cache.shape[axis]
    starts = np.zeros(batch, np.int64) if write_indices is None else write_indices
    check_shape("write_indices", starts, (batch,))
    last = size - length if mode == "linear" else np.iinfo(np.int64).max
    check_range("write_indices", starts, 0, last)
    f = (starts[:, None] % max(size, 1) + np.arange(length)) % max(size, 1)
    others = [d for d in range(past_cache.ndim) if d != axis]
    picks = Pick((0, axis)), Pick(others), Pick([axis, *others]).inverse()
    transformer = XTransformer(update.shape, past_cache.shape, f[..., None], *picks)
    return Scattering(past_cache, update, transformer)


def gather(data: NDArray[Any], indices: Integers, axis: int = 0) -> Gathering:
    """Gather (opset 1 to 13).

    >>> gather(np.array([[1, 2, 3], [4, 5, 6]]), np.array([-1, 0]), 1).run()
    array([[3, 1], [6, 4]])
    """
    axis = _axis(axis, data.ndim, 0)
    check_range("indices", indices, -data.shape[axis], data.shape[axis] - 1)
    return Gathering(data, by_axis(data.shape, indices, axis))


def gather_elements(data: NDArray[Any], indices: Integers, axis: int = 0) -> Gathering:
    """GatherElements (opset 11 to 13): ``indices`` may be larger than ``data`` only on ``axis``.

    >>> gather_elements(np.array([[1, 2], [3, 4]]), np.array([[1, 1], [0, -1]]), 1).run()
    array([[2, 2], [3, 4]])
    """
    check_same_rank("indices", indices, "data", data)
    axis = _axis(axis, data.ndim, 0)
    return Gathering(data, by_own_index(("data", data), ("indices", indices), axis))


def gather_nd(data: NDArray[Any], indices: Integers, batch_dims: int = 0) -> Gathering:
    """GatherND (opset 11 to 13), whose indices are int64.

    The first ``batch_dims`` dims of data and indices are the same.

    >>> gather_nd(np.array([[1, 2], [3, 4]]), np.array([[1, 0], [0, -1]])).run()
    array([3, 2])
    >>> gather_nd(np.array([[1, 2], [3, 4]]), np.array([[1], [0]]), 1).run()
    array([2, 3])
    """
    check(indices.dtype == np.int64, f"indices must hold int64, not {indices.dtype}")
    check_dims(("data", data), ("indices", indices))
    k, most = indices.shape[-1], min(indices.ndim, data.ndim) - 1
    wrap_batch(batch_dims, most, indices, "data", data, signed=False)
    check_names(k, "data", data.ndim - batch_dims)
    columns = list(np.moveaxis(indices, -1, 0))
    if 0 not in data.shape[batch_dims + k :]:
        check_columns(columns, data.shape[batch_dims:], signed=True)
    return Gathering(data, by_tuples(data.shape, columns, indices.shape[:-1], batch_dims))


def _axis(axis: int, rank: int, first: int) -> int:
    exists = -rank <= axis < rank and axis % rank >= first
    check(exists, f"axis {axis} is none of {first}..{rank - 1} of a tensor of rank {rank}")
    return axis % rank


def _reduction(name: str) -> Reduction:
    check_choice("reduction", name, REDUCTIONS)
    return Reduction(name)

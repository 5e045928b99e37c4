"""ONNX's scatter operators in the one equation, with the checks of ONNX Runtime.

    operator                          p1             f(p1(I))                    p2
    ScatterND, indices [q1..qm, k]    first m dims   indices[I1..Im], k numbers  the rest
    ScatterElements, axis a           all dims       indices[I], one number      all but a
    TensorScatter, axis a             0 and a        write_indices[I0] + I_a     all but a

p is the identity for ScatterND, and moves f's number to place a for the others. Whatever ONNX
Runtime refuses is a ``ValueError``.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.conventions.axes import Integers
from onnx_scatterx.conventions.checks import check_range
from onnx_scatterx.picks import Pick
from onnx_scatterx.scattering import Reduction, Scattering
from onnx_scatterx.transformer import XTransformer

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
    if data.ndim == 0 or indices.ndim == 0:
        raise ValueError("ScatterND needs data and indices of rank 1 or more")
    m, k = indices.ndim - 1, indices.shape[-1]
    if k > data.ndim:
        raise ValueError(f"indices names {k} axes of data, which has only {data.ndim}")
    if updates.shape != (expected := indices.shape[:-1] + data.shape[k:]):
        raise ValueError(f"updates must have shape {expected}, not {updates.shape}")
    # Where data[indices[I]] is empty, there is no update to find these by.
    for axis, size in enumerate(data.shape[:k]):
        check_range(f"indices[..., {axis}]", indices[..., axis], -size, size - 1)
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
    """ScatterElements (opset 11 to 18), and Scatter (opset 9) with no reduction.

    ``indices`` and ``updates`` have one shape, of the rank of ``data``, which is exceeded at most
    on ``axis``.

    >>> scatter_elements(np.zeros((1, 4)), np.array([[1, -1]]), np.array([[5.0, 6.0]]), 1).run()
    array([[0., 5., 0., 6.]])
    """
    if indices.ndim != data.ndim:
        raise ValueError(f"indices must have the rank of data, {data.ndim}, not {indices.ndim}")
    if updates.shape != indices.shape:
        raise ValueError(f"updates must have the shape of indices, {indices.shape}")
    axis = _axis(axis, data.ndim, 0)
    for d, (extent, size) in enumerate(zip(indices.shape, data.shape, strict=True)):
        if d != axis and extent > size:
            raise ValueError(f"dim {d} of indices is {extent}, but data has only {size} there")
    transformer = XTransformer(
        updates.shape,
        data.shape,
        indices[..., None],
        Pick.identity(data.ndim),
        *_beside(axis, data.ndim),
    )
    return Scattering(data, updates, transformer, _reduction(reduction))


def tensor_scatter(
    past_cache: NDArray[Any],
    update: NDArray[Any],
    write_indices: Integers | None = None,
    axis: int = -2,
    mode: str = "linear",
) -> Scattering:
    """TensorScatter (opset 24).

    ``update`` has the shape of ``past_cache`` but for ``axis``, where it is not longer. Each
    sample of the batch is written from ``write_indices[sample]`` on, 0 if there are none; they
    are not negative. The mode "circular" goes on at 0 after the end of the axis.

    >>> ring = tensor_scatter(np.zeros((1, 4)), np.ones((1, 2)), np.array([3]), 1, "circular")
    >>> ring.run()
    array([[1., 0., 0., 1.]])
    """
    if mode not in ("linear", "circular"):
        raise ValueError(f"mode must be 'linear' or 'circular', not {mode!r}")
    if update.ndim != past_cache.ndim:
        raise ValueError(f"update must have the rank of past_cache, {past_cache.ndim}")
    axis = _axis(axis, past_cache.ndim, 1)
    for d, (extent, size) in enumerate(zip(update.shape, past_cache.shape, strict=True)):
        if extent > size or (d != axis and extent != size):
            raise ValueError(f"dim {d} of update is {extent}, and {size} in past_cache")
    batch, length, size = update.shape[0], update.shape[axis], past_cache.shape[axis]
    starts = np.zeros(batch, np.int64) if write_indices is None else write_indices
    if starts.shape != (batch,):
        raise ValueError(f"write_indices must have shape {(batch,)}, not {starts.shape}")
    last = size - length if mode == "linear" else np.iinfo(np.int64).max
    check_range("write_indices", starts, 0, last)
    f = starts[:, None] + np.arange(length)
    if mode == "circular" and size:
        f = (starts[:, None] % size + np.arange(length)) % size
    transformer = XTransformer(
        update.shape,
        past_cache.shape,
        f[..., None],
        Pick((0, axis)),
        *_beside(axis, past_cache.ndim),
    )
    return Scattering(past_cache, update, transformer)


def _beside(axis: int, rank: int) -> tuple[Pick, Pick]:
    """Return the p2 that takes all dims but one, and the p that moves f's number there."""
    others = [d for d in range(rank) if d != axis]
    return Pick(others), Pick([axis, *others]).inverse()


def _axis(axis: int, rank: int, first: int) -> int:
    if not -rank <= axis < rank or axis % rank < first:
        raise ValueError(f"axis {axis} is none of {first}..{rank - 1} of a tensor of rank {rank}")
    return axis % rank


def _reduction(name: str) -> Reduction:
    if name not in REDUCTIONS:
        raise ValueError(f"reduction must be one of {', '.join(REDUCTIONS)}, not {name!r}")
    return Reduction(name)

"""TVM's scatters by an index for every element, and by index tuples.

    call                                p1             f(p1(I))                      p2
    scatter_elements, axis a            all dims       indices[I], one number        all but a
    scatter_nd, indices [k, q1..qm]     first m dims   indices[:, I1..Im], k numbers the rest

The tuples of ``scatter_nd`` are on the first axis of ``indices``, not on the last one.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.conventions.axes import Integers, by_element, by_tuples
from onnx_scatterx.theory.conventions.checks import (
    check_choice,
    check_dims,
    check_integers,
    check_range,
    check_same_dtype,
    check_same_rank,
    check_shape,
    wrap,
)
from onnx_scatterx.theory.scattering import Reduction, Scattering

_REDUCTIONS = {
    "update": Reduction.NONE,
    "add": Reduction.ADD,
    "mul": Reduction.MUL,
    "min": Reduction.MIN,
    "max": Reduction.MAX,
}


def scatter_elements(
    data: NDArray[Any],
    indices: Integers,
    updates: NDArray[Any],
    axis: int = 0,
    reduction: str = "update",
) -> Scattering:
    """``topi.scatter_elements``; ``reduction`` is "update", "add", "mul", "min" or "max".

    ``indices`` and ``updates`` have one shape: that of ``data``, except on ``axis``. Negative
    indices count from the end. The reduction "mean" is refused: it halves the sum at every update,
    which a scattering cannot do.

    >>> data, indices = np.zeros((1, 4)), np.array([[1, -1]])
    >>> scatter_elements(data, indices, np.array([[5.0, 6.0]]), 1).run()
    array([[0., 5., 0., 6.]])
    """
    reduction = _checked("reduction", reduction, data)
    check_integers("indices", indices)
    axis = wrap("axis", axis, data.ndim)
    check_same_rank("indices", indices, "data", data)
    if updates.shape != indices.shape:
        raise ValueError(f"updates must have the shape of indices, {indices.shape}")
    check_same_dtype("updates", updates, "data", data)
    for d, (extent, size) in enumerate(zip(indices.shape, data.shape, strict=True)):
        if d != axis and extent != size:
            raise ValueError(f"dim {d} of indices is {extent}, and must be {size} as in data")
    if 0 in indices.shape[axis + 1 :]:
        raise ValueError(f"indices has an extent of 0 behind the axis {axis}")
    size = data.shape[axis]
    check_range("indices", indices, -size, size - 1)
    transformer = by_element(data.shape, indices.astype(np.int64), axis)
    return Scattering(data, updates, transformer, reduction)


def scatter(data: NDArray[Any], indices: Integers, updates: NDArray[Any], axis: int) -> Scattering:
    """``relay.scatter``: today ``scatter_elements``.

    >>> scatter(np.zeros(3), np.array([2]), np.array([5.0]), 0).run()
    array([0., 0., 5.])
    """
    return scatter_elements(data, indices, updates, axis)


def scatter_add(
    data: NDArray[Any], indices: Integers, updates: NDArray[Any], axis: int
) -> Scattering:
    """``relay.scatter_add``: today ``scatter_elements`` with the reduction "add".

    >>> scatter_add(np.zeros(3), np.array([2, 2]), np.array([5.0, 1.0]), 0).run()
    array([0., 0., 6.])
    """
    return scatter_elements(data, indices, updates, axis, "add")


def scatter_nd(
    data: NDArray[Any], indices: Integers, updates: NDArray[Any], mode: str = "update"
) -> Scattering:
    """``topi.scatter_nd``; ``mode`` is "update", "add", "mul", "min" or "max".

    ``indices`` has shape k, q1, ..., qm, and ``updates`` must have the shape
    ``(q1, ..., qm) + data.shape[k:]`` and at least one element. Indices are not negative.

    >>> scatter_nd(np.zeros((2, 3)), np.array([[1, 0], [2, 0]]), np.array([5.0, 6.0])).run()
    array([[6., 0., 0.],
           [0., 0., 5.]])
    """
    reduction = _checked("mode", mode, data)
    check_integers("indices", indices)
    check_dims(("data", data), ("indices", indices))
    k, lead = indices.shape[0], indices.shape[1:]
    if k > data.ndim:
        raise ValueError(f"indices names {k} axes of data, which has only {data.ndim}")
    check_shape("updates", updates, lead + data.shape[k:])
    if updates.size == 0:
        raise ValueError(f"updates of shape {updates.shape} has no elements")
    check_same_dtype("updates", updates, "data", data)
    for axis, size in enumerate(data.shape[:k]):
        check_range(f"indices[{axis}]", indices[axis], 0, size - 1)
    transformer = by_tuples(data.shape, list(indices.astype(np.int64)), lead)
    return Scattering(data, updates, transformer, reduction)


def _checked(name: str, reduction: str, data: NDArray[Any]) -> Reduction:
    check_choice(name, reduction, _REDUCTIONS)
    if reduction != "update" and data.dtype == np.bool_:
        raise ValueError(f"data holds bool, which TVM does not reduce, and {name} is {reduction!r}")
    return _REDUCTIONS[reduction]

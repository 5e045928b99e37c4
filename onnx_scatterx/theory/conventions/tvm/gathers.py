"""TVM's gathers.

    call                                  output[I] = data[J]
    gather, axis a                        J = I, but J_a = indices[I]
    gather_nd, indices [k, q1..qm]        J = I1..Ib ++ indices[:, I1..Im] ++ the rest of I
    take, axis a, b batch dims            J = I before a, indices[I1..Ib, Ia..], the rest of I

The tuples of ``gather_nd`` are on the first axis of ``indices``, not on the last one.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.conventions.axes import (
    Integers,
    by_axes,
    by_axis,
    by_element,
    by_tuples,
    check_choice,
    check_dims,
    check_extents,
    check_integers,
    check_range,
    check_same_rank,
    wrap,
)
from onnx_scatterx.theory.scattering import Gathering

_MODES = ("fast", "clip", "wrap", "nan")


def gather(data: NDArray[Any], axis: int, indices: Integers) -> Gathering:
    """``topi.gather``, and ``relay.gather``.

    ``indices`` has the rank of ``data``. Only on ``axis`` it may be larger than ``data``; there its
    extent is 1 or more. Indices are not negative.

    >>> gather(np.array([[1, 2], [3, 4]]), 1, np.array([[1, 1], [0, 1]])).run()
    array([[2, 2], [3, 4]])
    """
    check_integers("indices", indices)
    check_dims(("data", data))
    axis = wrap("axis", axis, data.ndim)
    check_same_rank("indices", indices, "data", data)
    if indices.shape[axis] == 0:
        raise ValueError(f"indices has no elements on the axis {axis}")
    check_extents("indices", indices.shape, "data", data.shape, axis)
    check_range("indices", indices, 0, data.shape[axis] - 1)
    return Gathering(data, by_element(data.shape, indices.astype(np.int64), axis))


def gather_nd(a: NDArray[Any], indices: NDArray[Any], batch_dims: int = 0) -> Gathering:
    """``topi.gather_nd``, and ``relay.gather_nd``.

    ``indices`` has shape k, q1, ..., qm. The first ``batch_dims`` of the q are not larger than
    those of ``a``. The output has the shape ``(q1, ..., qm) + a.shape[batch_dims + k:]``. Indices
    are not negative; fractions are dropped.

    >>> gather_nd(np.array([[1, 2, 3], [4, 5, 6]]), np.array([[1, 0], [2, 0]])).run()
    array([6, 1])
    >>> gather_nd(np.array([[1, 2, 3], [4, 5, 6]]), np.array([[2, 0]]), batch_dims=1).run()
    array([3, 4])
    """
    check_dims(("indices", indices))
    k, lead = indices.shape[0], indices.shape[1:]
    if not 0 <= batch_dims <= len(lead):
        raise ValueError(f"batch_dims is {batch_dims}, and must be in [0, {len(lead)}]")
    if batch_dims + k > a.ndim:
        raise ValueError(
            f"indices names {k} axes of a behind {batch_dims}, and a has only {a.ndim}"
        )
    for d, (extent, size) in enumerate(zip(lead[:batch_dims], a.shape, strict=False)):
        if extent > size:
            raise ValueError(f"dim {d + 1} of indices is {extent}, but a has only {size} there")
    whole = indices.astype(np.int64)
    for row, size in enumerate(a.shape[batch_dims : batch_dims + k]):
        check_range(f"indices[{row}]", whole[row], 0, size - 1)
    return Gathering(a, by_tuples(a.shape, list(whole), lead, batch_dims))


def take(
    a: NDArray[Any],
    indices: Integers,
    axis: int | None = None,
    batch_dims: int = 0,
    mode: str = "fast",
) -> Gathering:
    """``topi.take``, and ``relay.take``, whose default mode is "clip".

    Without an axis, ``a`` is read as if flattened. With ``batch_dims``, each index of the first
    dims of ``a`` has its own ``indices``, in the mode "clip" only. For an index out of bounds, the
    mode "clip" takes the nearest one, and "wrap" counts around the axis. The modes "fast" and "nan"
    refuse it here: TVM does not check it in "fast", and its result in "nan" is not an element of
    ``a``.

    >>> a = np.array([[1, 2, 3], [4, 5, 6]])
    >>> take(a, np.array([2, 9, -1]), 1, mode="clip").run()
    array([[3, 3, 1], [6, 6, 4]])
    >>> take(a, np.array([5, -1]), mode="wrap").run()
    array([6, 6])
    >>> take(a, np.array([[0], [2]]), 1, batch_dims=1, mode="clip").run()
    array([[1], [6]])
    """
    check_choice("mode", mode, _MODES)
    if mode == "nan" and a.dtype.kind in "biu":
        raise ValueError(f"mode is 'nan', and a holds {a.dtype}, which has no NaN")
    check_integers("indices", indices)
    if axis is None and mode == "nan":
        raise ValueError("mode is 'nan', which needs an axis")
    if axis is None:
        flat = _inside(indices, a.size, mode)
        strides = [math.prod(a.shape[d + 1 :]) for d in range(a.ndim)]
        spread = [flat // max(s, 1) % max(n, 1) for s, n in zip(strides, a.shape, strict=True)]
        return Gathering(a, by_axes(indices.shape, a.shape, spread))
    axis = wrap("axis", axis, a.ndim)
    batch_dims = _batch_dims(a, indices, axis, batch_dims)
    if batch_dims and mode != "clip":
        raise ValueError(f"batch_dims is {batch_dims}, and mode is {mode!r}, not 'clip'")
    numbers = _inside(indices, a.shape[axis], mode)
    return Gathering(a, by_axis(a.shape, numbers, axis, batch_dims))


def _batch_dims(a: NDArray[Any], indices: Integers, axis: int, batch_dims: int) -> int:
    """Count the batch dims from the start, and check that both tensors have them."""
    count = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    most = min(axis, indices.ndim)
    if not 0 <= count <= most:
        raise ValueError(f"batch_dims is {batch_dims}, and must be in [{-indices.ndim}, {most}]")
    if a.shape[:count] != indices.shape[:count]:
        raise ValueError(f"indices must begin with the batch dims of a, {a.shape[:count]}")
    return count


def _inside(indices: Integers, size: int, mode: str) -> NDArray[np.int64]:
    """Bring indices into an axis as a mode does."""
    if mode == "wrap" and size == 0:
        raise ValueError("a has no elements to wrap indices around")
    if mode == "wrap":
        return np.mod(indices, size).astype(np.int64)
    if mode == "clip" and size:
        return np.clip(indices, 0, size - 1).astype(np.int64)
    check_range("indices", indices, 0, size - 1)
    return indices.astype(np.int64)

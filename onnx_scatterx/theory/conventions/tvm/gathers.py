"""TVM's gathers.

    call                                  output[I] = data[J]
    gather, axis a                        J = I, but J_a = indices[I]
    gather_nd, indices [k, q1..qm]        J = I1..Ib ++ indices[:, I1..Im] ++ the rest of I
    take, axis a, b batch dims            J = I before a, indices[I1..Ib, Ia..], the rest of I

The tuples of ``gather_nd`` are on the first axis of ``indices``, not on the last one.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.conventions.axes import (
    Integers,
    by_axis,
    by_offset,
    by_own_index,
    by_tuples,
    check,
    check_choice,
    check_columns,
    check_dims,
    check_extents,
    check_integers,
    check_names,
    check_range,
    check_same_rank,
    wrap,
    wrap_batch,
)
from onnx_scatterx.theory.scattering import Gathering

_MODES = ("fast", "clip", "wrap", "nan")


def gather(data: NDArray[Any], axis: int, indices: Integers) -> Gathering:
    """``topi.gather``, and ``relay.gather``.

    ``indices`` has the rank of ``data``. It may be larger than ``data`` only on ``axis``, where its
    extent is 1 or more. Indices are not negative.

    >>> gather(np.array([[1, 2], [3, 4]]), 1, np.array([[1, 1], [0, 1]])).run()
    array([[2, 2], [3, 4]])
    """
    check_integers("indices", indices)
    check_dims(("data", data))
    axis = wrap("axis", axis, data.ndim)
    check_same_rank("indices", indices, "data", data)
    check(indices.shape[axis], f"indices has no elements on the axis {axis}")
    transformer = by_own_index(("data", data), ("indices", indices), axis, signed=False)
    return Gathering(data, transformer)


def gather_nd(a: NDArray[Any], indices: NDArray[Any], batch_dims: int = 0) -> Gathering:
    """``topi.gather_nd``, and ``relay.gather_nd``.

    ``indices`` has shape k, q1, ..., qm. The first ``batch_dims`` of the q are not larger than the
    first dims of ``a``. The output has the shape ``(q1, ..., qm) + a.shape[batch_dims + k:]``.
    Indices are not negative. Fractions of indices are dropped.

    >>> gather_nd(np.array([[1, 2, 3], [4, 5, 6]]), np.array([[1, 0], [2, 0]])).run()
    array([6, 1])
    >>> gather_nd(np.array([[1, 2, 3], [4, 5, 6]]), np.array([[2, 0]]), batch_dims=1).run()
    array([3, 4])
    """
    check_dims(("indices", indices))
    k, lead = indices.shape[0], indices.shape[1:]
    most = len(lead)
    check(0 <= batch_dims <= most, f"batch_dims is {batch_dims}, and must be in [0, {most}]")
    check_names(k, "a", a.ndim - batch_dims)
    check_extents("indices", indices.shape[: batch_dims + 1], "a", (k, *a.shape[:batch_dims]))
    whole = indices.astype(np.int64)
    check_columns(whole, a.shape[batch_dims:], "indices[{}]")
    return Gathering(a, by_tuples(a.shape, list(whole), lead, batch_dims))


def take(
    a: NDArray[Any],
    indices: Integers,
    axis: int | None = None,
    batch_dims: int = 0,
    mode: str = "fast",
) -> Gathering:
    """``topi.take``, and ``relay.take``, whose default mode is "clip".

    Without an axis, ``a`` is read as if flattened. With ``batch_dims``, which needs the mode
    "clip", each index of the first dims of ``a`` has its own ``indices``. If an index is out of
    bounds, the mode "clip" takes the nearest index, and "wrap" counts around the axis. The modes
    "fast" and "nan" raise ValueError: in "fast", TVM does not check the index, and in "nan", the
    result is not an element of ``a``.

    >>> a = np.array([[1, 2, 3], [4, 5, 6]])
    >>> take(a, np.array([2, 9, -1]), 1, mode="clip").run()
    array([[3, 3, 1], [6, 6, 4]])
    >>> take(a, np.array([5, -1]), mode="wrap").run()
    array([6, 6])
    >>> take(a, np.array([[0], [2]]), 1, batch_dims=1, mode="clip").run()
    array([[1], [6]])
    """
    check_choice("mode", mode, _MODES)
    is_nan = mode == "nan"
    may = not is_nan or a.dtype.kind not in "biu"
    check(may, f"mode is 'nan', and a holds {a.dtype}, which has no NaN")
    check_integers("indices", indices)
    check(not is_nan or axis is not None, "mode is 'nan', which needs an axis")
    if axis is None:
        return Gathering(a, by_offset(a.shape, _inside(indices, a.size, mode)))
    axis = wrap("axis", axis, a.ndim)
    batch = wrap_batch(batch_dims, min(axis, indices.ndim), indices, "a", a)
    may = not batch or mode == "clip"
    check(may, f"batch_dims is {batch}, and mode is {mode!r}, not 'clip'")
    numbers = _inside(indices, a.shape[axis], mode)
    return Gathering(a, by_axis(a.shape, numbers, axis, batch))


def _inside(indices: Integers, size: int, mode: str) -> NDArray[np.int64]:
    """Return indices within an axis, changed as the mode says."""
    if mode == "wrap":
        check(size, "a has no elements to wrap indices around")
        return np.mod(indices, size).astype(np.int64)
    if mode == "clip" and size:
        return np.clip(indices, 0, size - 1).astype(np.int64)
    check_range("indices", indices, 0, size - 1)
    return indices.astype(np.int64)

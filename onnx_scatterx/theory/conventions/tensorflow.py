"""TensorFlow's scatters and gathers as the equation of the paper, with its checks on the CPU.

    call                                      p1                f(p1(I))               p2
    tensor_scatter_nd_*, scatter_nd,          first m dims      indices[I1..Im], k     the rest
      indices [q1..qm, k]
    gather, axis a, batch_dims b              dims of indices   indices[I..], one      all but these
    gather_nd, batch_dims b                   first m dims      batch I1..Ib and       the rest
                                                                indices[I1..Im], k

For gather, p moves f's number to axis a. For the other calls, p is the identity. If TensorFlow
refuses a call, the call raises a ValueError that names the argument. Negative indices and indices
out of bounds are refused. TensorFlow does not define which of two colliding updates wins. Here the
updates are written in row-major order.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.conventions.axes import (
    FLOATS,
    INDICES,
    INTEGERS,
    Integers,
    by_axis,
    by_last_dim,
    check,
    check_dims,
    check_dtype,
    check_names,
    check_range,
    check_same_dtype,
    check_shape,
    wrap_batch,
)
from onnx_scatterx.theory.scattering import Gathering, Reduction, Scattering

Array = NDArray[Any]
_READ_INDICES = INDICES | {"int16"}
_REAL = INTEGERS | FLOATS
_NUMBERS = _REAL | {"complex64", "complex128"}
_ALL = _NUMBERS | {"bool"}


def tensor_scatter_nd_update(tensor: Array, indices: Integers, updates: Array) -> Scattering:
    """``tf.tensor_scatter_nd_update``.

    >>> tensor_scatter_nd_update(np.zeros(4), np.array([[3], [1]]), np.array([7.0, 8.0])).run()
    array([0., 8., 0., 7.])
    """
    return _scattering(tensor, indices, updates, Reduction.NONE, _ALL)


def tensor_scatter_nd_add(tensor: Array, indices: Integers, updates: Array) -> Scattering:
    """``tf.tensor_scatter_nd_add``.

    >>> tensor_scatter_nd_add(np.ones(2), np.array([[1], [1]]), np.array([7.0, 8.0])).run()
    array([ 1., 16.])
    """
    return _scattering(tensor, indices, updates, Reduction.ADD, _NUMBERS)


def tensor_scatter_nd_sub(tensor: Array, indices: Integers, updates: Array) -> Scattering:
    """``tf.tensor_scatter_nd_sub``: subtracts the updates.

    >>> tensor_scatter_nd_sub(np.ones(2), np.array([[1], [1]]), np.array([7.0, 8.0])).run()
    array([  1., -14.])
    """
    if updates.dtype.name in _NUMBERS:
        updates = np.negative(updates)
    return _scattering(tensor, indices, updates, Reduction.ADD, _NUMBERS)


def tensor_scatter_nd_min(tensor: Array, indices: Integers, updates: Array) -> Scattering:
    """``tf.tensor_scatter_nd_min``: an update is taken if it is less.

    >>> tensor_scatter_nd_min(np.ones(2), np.array([[1], [1]]), np.array([7.0, 0.0])).run()
    array([1., 0.])
    """
    return _scattering(tensor, indices, updates, Reduction.LESS, _REAL)


def tensor_scatter_nd_max(tensor: Array, indices: Integers, updates: Array) -> Scattering:
    """``tf.tensor_scatter_nd_max``: an update is taken if it is greater.

    >>> tensor_scatter_nd_max(np.ones(2), np.array([[1], [1]]), np.array([7.0, 0.0])).run()
    array([1., 7.])
    """
    return _scattering(tensor, indices, updates, Reduction.GREATER, _REAL)


def scatter_nd(indices: Integers, updates: Array, shape: Integers) -> Scattering:
    """``tf.scatter_nd``: adds the updates to zeros of a shape.

    >>> scatter_nd(np.array([[1], [1]]), np.array([7, 8]), np.array([3])).run()
    array([ 0, 15,  0])
    """
    check_dtype("shape", shape, INDICES)
    is_shape = shape.ndim == 1 and (shape >= 0).all()
    check(is_shape, f"shape must be a vector of sizes, not {shape.tolist()}")
    check(shape.size, "shape must have 1 size or more")
    tensor = np.zeros(tuple(int(n) for n in shape), updates.dtype)
    return _scattering(tensor, indices, updates, Reduction.ADD, _ALL)


def gather(
    params: Array, indices: Integers, axis: int | None = None, batch_dims: int = 0
) -> Gathering:
    """``tf.gather``: slices along an axis, by default the axis ``batch_dims``.

    If the axis is 0, TensorFlow ignores ``batch_dims``.

    >>> gather(np.array([[1, 2], [3, 4]]), np.array([[1, 1], [0, 1]]), batch_dims=1).run()
    array([[2, 2], [3, 4]])
    """
    check_dtype("indices", indices, _READ_INDICES)
    axis = batch_dims if axis is None else axis
    batch, rank = _batch(params, indices, batch_dims) if axis else 0, params.ndim
    exists = -rank <= axis < rank and axis % rank >= batch
    check(exists, f"axis is {axis}, and must be one of {batch}..{rank - 1}")
    axis %= rank
    transformer = by_axis(params.shape, indices, axis, batch)
    if 0 not in transformer.shape:
        check_range("indices", indices, 0, params.shape[axis] - 1)
    return Gathering(params, transformer)


def gather_nd(params: Array, indices: Integers, batch_dims: int = 0) -> Gathering:
    """``tf.gather_nd``.

    >>> gather_nd(np.array([[1, 2], [3, 4]]), np.array([[1, 0], [0, 0]])).run()
    array([3, 1])
    >>> gather_nd(np.array([[1, 2], [3, 4]]), np.array([[1], [0]]), batch_dims=1).run()
    array([2, 3])
    """
    check_dtype("indices", indices, _READ_INDICES)
    check_dims(("indices", indices), ("params", params))
    m, k = indices.ndim - 1, indices.shape[-1]
    check(0 <= batch_dims <= m, f"batch_dims is {batch_dims}, and must be in [0, {m}]")
    if not k and batch_dims < params.ndim:  # TensorFlow then ignores the batch of indices
        shape = params.shape[:batch_dims] + indices.shape[batch_dims:]
        indices = np.empty(shape, indices.dtype)
    batch = _batch(params, indices, batch_dims)
    check(batch + k <= 7, f"indices names {k} axes behind {batch}, and may name 7 in all")
    check_names(k, "params", params.ndim - batch)
    check(0 in indices.shape[:-1] or params.size, "indices has elements, and params has none")
    return Gathering(params, by_last_dim(params.shape, indices, batch))


def _scattering(
    tensor: Array, indices: Integers, updates: Array, reduction: Reduction, types: frozenset[str]
) -> Scattering:
    check_dtype("updates", updates, types)
    check_same_dtype("updates", updates, "tensor", tensor)
    check_dtype("indices", indices, INDICES)
    check_dims(("tensor", tensor))
    if indices.ndim == 1 and indices.shape == updates.shape[:1] == tensor.shape[:1] == (0,):
        indices = indices[:, None]
    check(indices.ndim >= 2, f"indices must have rank 2 or more, not {indices.ndim}")
    sizes, k = (indices.size, updates.size, tensor.size), indices.shape[-1]
    agree = all(sizes) or not any(sizes[:2])
    check(agree, f"updates has {updates.size} elements, and indices {indices.size}")
    named = not tensor.size or 1 <= k <= 7
    check(named, f"indices names {k} axes of a tensor, and may name 1 to 7")
    check_names(k, "tensor", tensor.ndim)
    check_shape("updates", updates, indices.shape[:-1] + tensor.shape[k:])
    return Scattering(tensor, updates, by_last_dim(tensor.shape, indices), reduction)


def _batch(params: Array, indices: Integers, batch_dims: int) -> int:
    """Return the number of batch dims, which may count from the rank of the indices."""
    return wrap_batch(batch_dims, min(indices.ndim, params.ndim - 1), indices, "params", params)

"""MindSpore's scatters by an index for every element, and its gathers.

    scatters, gather_elements    p1 = all dims               f = index[I]
    gather, axis a, batch b      p1 = the dims of indices    f = input_indices[I1..Ib, Ia..]
    gather_nd                    p1 = first m dims           f = indices[I1..Im], k numbers

p2 takes the other dims; for an index for every element, all dims but ``dim``. p puts f's number to
the axis. The updates have the shape of the index. Except in ``gather_nd``, negative indices count
from the end. A call raises ValueError if MindSpore refuses it, and if an index is out of bounds,
for which MindSpore guarantees nothing.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.conventions.axes import (
    FLOATS,
    INDICES,
    INTEGERS,
    Integers,
    by_axis,
    by_last_dim,
    by_own_index,
    check,
    check_choice,
    check_dtype,
    check_extents,
    check_integers,
    check_range,
    check_same_dtype,
    check_same_rank,
    check_same_shape,
    nothing,
    wrap,
    wrap_batch,
)
from onnx_scatterx.theory.scattering import Gathering, Reduction, Scattering

Number: TypeAlias = bool | int | float

_REAL = INTEGERS | FLOATS | {"bool"}
_REDUCE = {None: Reduction.NONE, "add": Reduction.ADD, "multiply": Reduction.MUL}
_MOST = 8  # the highest rank


def scatter_(
    self: NDArray[Any],
    dim: int,
    index: Integers,
    src: NDArray[Any] | Number | None = None,
    *,
    value: Number | None = None,
    reduce: str | None = None,
) -> Scattering:
    """``Tensor.scatter_`` in its four overloads: ``src`` or ``value``, with ``reduce`` or without.

    ``index``, ``self`` and ``src`` have the same rank, at most 8. On every dim, ``self`` and
    ``src`` are at least as large as ``index``; the rest of ``src`` is not read. ``value`` is
    converted to the type of ``self``. ``reduce`` is "add" or "multiply". An ``index`` without
    elements may have any shape, and writes nothing. MindSpore writes into ``self``; here the output
    is the new ``self``.

    >>> self, index = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1, 0], [1, 0]])
    >>> scatter_(self, 1, index, np.array([[4.0, 3.0], [2.0, 1.0]])).run()
    array([[3., 4.], [1., 2.]])
    >>> scatter_(self, 0, np.array([[0], [1]]), 3, reduce="multiply").run()
    array([[3., 2.], [9., 4.]])
    """
    check((src is None) != (value is None), "either src or value must be given")
    check(reduce in _REDUCE, f"reduce must be 'add' or 'multiply', not {reduce!r}")
    reduction = _REDUCE[reduce]
    check_dtype("self", self, _REAL)
    check_dtype("index", index, INDICES)
    check(self.ndim <= _MOST, f"self has rank {self.ndim}, and may have {_MOST} at most")
    dim = wrap("dim", dim, self.ndim)
    if isinstance(src, np.ndarray):
        check_same_dtype("src", src, "self", self)
        array = src
    else:
        array = _converted("value" if src is None else "src", value if src is None else src, self)
    if index.size == 0:
        updates = np.empty(0, self.dtype)
        return Scattering(self, updates, nothing(self.shape), reduction)
    check_same_rank("index", index, "self", self)
    check_extents("index", index.shape, "self", self.shape)
    if isinstance(src, np.ndarray):
        check_same_rank("src", src, "self", self)
        check_extents("index", index.shape, "src", src.shape)
        array = src[tuple(slice(n) for n in index.shape)]
    transformer = by_own_index(("self", self), ("index", index), dim)
    return Scattering(self, np.broadcast_to(array, index.shape), transformer, reduction)


def scatter(
    input: NDArray[Any], axis: int, index: Integers, src: NDArray[Any] | float
) -> Scattering:
    """``mindspore.ops.scatter``, as its CPU kernels compute it.

    ``index`` has the shape of ``src`` and the rank of ``input``. It may be larger than ``input``
    only on ``axis``. No tensor is empty. If ``src`` is a float, it is rounded to float32 before it
    is converted.

    >>> input, index = np.zeros((1, 4)), np.array([[1, -1]])
    >>> scatter(input, 1, index, np.array([[5.0, 6.0]])).run()
    array([[0., 5., 0., 6.]])
    """
    if not isinstance(src, np.ndarray):
        check(isinstance(src, float), f"src must be a tensor or a float, not {src!r}")
        check(index.size, f"index of shape {index.shape} has no elements")
        with np.errstate(all="ignore"):
            src = np.broadcast_to(np.float32(src).astype(input.dtype), index.shape)
    check(src.size, f"src of shape {src.shape} has no elements")
    return _elements(("input", input), ("index", index), ("src", src), axis)


def tensor_scatter_elements(
    input_x: NDArray[Any],
    indices: Integers,
    updates: NDArray[Any],
    axis: int = 0,
    reduction: str = "none",
) -> Scattering:
    """``mindspore.ops.tensor_scatter_elements``; ``reduction`` is "none" or "add".

    ``indices`` and ``updates`` have the same shape, and the rank of ``input_x``. They may be larger
    than ``input_x`` only on ``axis``.

    >>> input_x, indices = np.array([[1, 2, 3, 4, 5]]), np.array([[2, 4]])
    >>> tensor_scatter_elements(input_x, indices, np.array([[8, 8]]), 1, "add").run()
    array([[ 1,  2, 11,  4, 13]])
    """
    check_choice("reduction", reduction, ("none", "add"))
    named = ("input_x", input_x), ("indices", indices), ("updates", updates)
    return _elements(*named, axis, Reduction(reduction))


def gather(
    input_params: NDArray[Any], input_indices: Integers, axis: int, batch_dims: int = 0
) -> Gathering:
    """``mindspore.ops.gather``: the indices take the place of ``axis``, as on the CPU.

    The first ``batch_dims`` dims of ``input_params`` and ``input_indices`` are the same.
    ``batch_dims`` is less than the rank of the indices, and may count from this rank. ``axis``
    comes after these dims.

    >>> gather(np.array([[1, 2, 3], [4, 5, 6]]), np.array([2, 0]), 1).run()
    array([[3, 1], [6, 4]])
    >>> gather(np.array([[1, 2, 3], [4, 5, 6]]), np.array([[2], [0]]), 1, 1).run()
    array([[3], [4]])
    """
    check_integers("input_indices", input_indices)
    axis, rank = wrap("axis", axis, input_params.ndim), input_params.ndim
    check(batch_dims >= -rank, f"batch_dims is {batch_dims}, and must be {-rank} or more")
    most = min(axis, max(input_indices.ndim - 1, 0))
    batch = wrap_batch(batch_dims, most, input_indices, "input_params", input_params)
    size = input_params.shape[axis]
    check_range("input_indices", input_indices, -size, size - 1)
    return Gathering(input_params, by_axis(input_params.shape, input_indices, axis, batch))


def gather_elements(input: NDArray[Any], dim: int, index: Integers) -> Gathering:
    """``mindspore.ops.gather_elements``, and ``Tensor.gather(dim, index)``.

    ``index`` has the rank of ``input``. It may be larger than ``input`` only on ``dim``.

    >>> gather_elements(np.array([[1, 2], [3, 4]]), 1, np.array([[1, 1], [0, -1]])).run()
    array([[2, 2], [3, 4]])
    """
    check_dtype("index", index, INDICES)
    dim = wrap("dim", dim, input.ndim)
    return Gathering(input, by_own_index(("input", input), ("index", index), dim))


def gather_nd(input_x: NDArray[Any], indices: Integers) -> Gathering:
    """``mindspore.ops.gather_nd``: index tuples on the last axis; no number counts from the end.

    >>> gather_nd(np.array([[1, 2], [3, 4]]), np.array([[1, 0], [0, 1]])).run()
    array([3, 2])
    """
    check_integers("indices", indices)
    fits = indices.ndim and indices.shape[-1] <= input_x.ndim
    check(fits, f"indices has shape {indices.shape}, for a rank of {input_x.ndim}")
    return Gathering(input_x, by_last_dim(input_x.shape, indices))


Named: TypeAlias = tuple[str, NDArray[Any]]


def _elements(
    data: Named, index: Named, updates: Named, axis: int, reduction: Reduction = Reduction.NONE
) -> Scattering:
    check_dtype(*data, _REAL)
    check_dtype(*index, INDICES)
    check_same_dtype(*updates, *data)
    axis = wrap("axis", axis, data[1].ndim)
    check_same_shape(*updates, *index)
    return Scattering(data[1], updates[1], by_own_index(data, index, axis), reduction)


def _converted(name: str, number: Any, data: NDArray[Any]) -> NDArray[Any]:
    held = isinstance(number, (bool, int, float))
    check(held, f"{name} must be an int, a float or a bool, not {number!r}")
    with np.errstate(all="ignore"):
        return np.array(number).astype(data.dtype)

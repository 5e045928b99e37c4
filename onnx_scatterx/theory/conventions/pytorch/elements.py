"""PyTorch's calls with an index for every element, and results with a further step.

    p1 = all dims    f(p1(I)) = index[I], one number    p2 = all but dim    p puts f's number to dim

The updates have the shape of index: src may be larger, but the rest is not used. Indices are not
negative. An index without elements may have any shape, and writes nothing. A ``Rounded`` and a
``Mean`` have the transformer of the scatterings in them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.conventions.axes import (
    INDICES,
    Integers,
    by_axes,
    by_element,
    by_offset,
    check,
    check_choice,
    check_dtype,
    check_extents,
    check_range,
    check_same_dtype,
    nothing,
)
from onnx_scatterx.theory.conventions.pytorch.arguments import (
    LONG,
    TENSORS,
    Array,
    Scalar,
    as_scalar,
    check_tensor,
    extent,
    wrap,
)
from onnx_scatterx.theory.scattering import Gathering, Reduction, Scattering
from onnx_scatterx.theory.transformer import XTransformer


@dataclass(frozen=True, eq=False)
class Rounded:
    """A scattering computed in a wider type, whose output is rounded once at the end.

    >>> import ml_dtypes
    >>> T = XTransformer.from_provision(np.zeros((44, 1), int), (1,))
    >>> data, updates = np.full(1, 256, np.float32), np.ones(44, np.float32)
    >>> Rounded(Scattering(data, updates, T, "add"), np.dtype(ml_dtypes.bfloat16)).run()
    array([300], dtype=bfloat16)
    """

    scattering: Scattering
    dtype: np.dtype[Any]

    @property
    def transformer(self) -> XTransformer:
        return self.scattering.transformer

    def run(self) -> NDArray[Any]:
        """Compute the output, a new array."""
        with np.errstate(all="ignore"):
            return self.scattering.run().astype(self.dtype)


def rounded_once(
    data: NDArray[Any], updates: NDArray[Any], transformer: XTransformer, reduction: Reduction
) -> Scattering | Rounded:
    """Return a scattering that adds and multiplies float16 and bfloat16 in float32."""
    half = data.dtype.name in ("float16", "bfloat16")
    if not half or reduction not in (Reduction.ADD, Reduction.MUL):
        return Scattering(data, updates, transformer, reduction)
    wide = data.astype(np.float32), updates.astype(np.float32)
    return Rounded(Scattering(*wide, transformer, reduction), data.dtype)


@dataclass(frozen=True, eq=False)
class Mean:
    """A sum divided by a count, both of the same transformer.

    Elements with the count 0 are divided by 1. Quotients of integers are rounded down.

    >>> T = XTransformer.from_provision(np.array([[1], [1]]), (3,))
    >>> total = Scattering(np.array([7, 0, 7]), np.array([2, 3]), T, "add")
    >>> count = Scattering(np.array([0, 0, 0]), np.array([1, 1]), T, "add")
    >>> Mean(total, count).run()
    array([7, 2, 7])
    """

    total: Scattering | Rounded
    count: Scattering | Rounded

    @property
    def transformer(self) -> XTransformer:
        return self.total.transformer

    def run(self) -> NDArray[Any]:
        """Compute the output, a new array."""
        total, count = self.total.run(), self.count.run()
        count[count == 0] = 1
        with np.errstate(all="ignore"):
            divide = np.floor_divide if total.dtype.kind in "iu" else np.divide
            return np.asarray(divide(total, count))


def without_self(data: NDArray[Any], transformer: XTransformer, start: Any) -> NDArray[Any]:
    """Return data with a start value in place of each element that has an update.

    >>> T = XTransformer.from_provision(np.array([[1], [1]]), (3,))
    >>> without_self(np.array([7, 8, 9]), T, 0)
    array([7, 0, 9])
    """
    updates = np.full(transformer.shape, start, data.dtype)
    return Scattering(data, updates, transformer).run()


_DEPRECATED = {None: Reduction.NONE, "add": Reduction.ADD, "multiply": Reduction.MUL}
_REDUCTIONS = {
    "sum": Reduction.ADD,
    "prod": Reduction.MUL,
    "mean": Reduction.ADD,
    **dict.fromkeys(("amax", "max"), Reduction.MAXIMUM),
    **dict.fromkeys(("amin", "min"), Reduction.MINIMUM),
}


def scatter(
    input: Array,
    dim: int,
    index: Integers,
    src: Array | Scalar | None = None,
    *,
    value: Scalar | None = None,
    reduce: str | None = None,
) -> Scattering | Rounded:
    """``torch.scatter`` of a tensor or a number; ``reduce`` is None, "add" or "multiply".

    >>> scatter(np.zeros((1, 4)), 1, np.array([[1, 3]]), np.array([[5.0, 6.0, 7.0]])).run()
    array([[0., 5., 0., 6.]])
    >>> scatter(np.ones((1, 4)), 1, np.array([[1, 3]]), value=2, reduce="add").run()
    array([[1., 3., 1., 3.]])
    """
    check((src is None) != (value is None), "either src or value must be given")
    check(reduce in _DEPRECATED, f"reduce must be None, 'add' or 'multiply', not {reduce!r}")
    reduction = _DEPRECATED[reduce]
    if not isinstance(src, np.ndarray):
        check_tensor(input, copied=not index.size)
        updates = value if src is None else src
        assert updates is not None
        number = as_scalar("value", updates if index.size else 0, input.dtype)
        src = np.broadcast_to(number, index.shape)
    return _scatter(input, dim, index, src, reduction)


def scatter_add(input: Array, dim: int, index: Integers, src: Array) -> Scattering | Rounded:
    """``torch.scatter_add``.

    >>> scatter_add(np.zeros(3), 0, np.array([2, 2]), np.array([1.0, 5.0])).run()
    array([0., 0., 6.])
    """
    return _scatter(input, dim, index, src, Reduction.ADD)


def scatter_reduce(
    input: Array, dim: int, index: Integers, src: Array, reduce: str, *, include_self: bool = True
) -> Scattering | Rounded | Mean:
    """``torch.scatter_reduce``: ``reduce`` is "sum", "prod", "mean", "amax" or "amin".

    "max" and "min" are other names of the last two, as in PyTorch. Without ``include_self``, the
    elements with updates start from 0, 1, or the least or greatest number of the type. The result
    for "mean" is a ``Mean``.

    >>> data, index, src = np.array([9, 9]), np.array([0, 0]), np.array([1, 4])
    >>> scatter_reduce(data, 0, index, src, "amax", include_self=False).run()
    array([4, 9])
    >>> scatter_reduce(data, 0, index, src, "mean").run()
    array([4, 9])
    """
    check_choice("reduce", reduce, _REDUCTIONS)
    transformer, updates = _arranged(input, dim, index, src)
    if reduce == "mean":
        check_dtype("input", input, TENSORS - {"bool"})
    reduction = _REDUCTIONS[reduce] if index.size else Reduction.ADD
    ordered = input.dtype.kind != "c" or reduction in (Reduction.ADD, Reduction.MUL)
    check(ordered, f"input holds {input.dtype.name}, which is not ordered")
    data = input
    if not include_self:
        data = without_self(input, transformer, _start(reduction, input.dtype))
    total = rounded_once(data, updates, transformer, reduction)
    if reduce != "mean":
        return total
    counted = np.full(input.shape, int(include_self), input.dtype)
    ones = np.ones(transformer.shape, input.dtype)
    return Mean(total, rounded_once(counted, ones, transformer, Reduction.ADD))


def gather(input: Array, dim: int, index: Integers) -> Gathering:
    """``torch.gather``.

    >>> gather(np.array([[1, 2], [3, 4]]), 1, np.array([[1, 1], [0, 1]])).run()
    array([[2, 2], [3, 4]])
    """
    check_tensor(input, copied=not index.size)
    dim = wrap(dim, input.ndim)
    if index.size == 0:
        return Gathering(input, nothing(input.shape, index.shape))
    return Gathering(input, _along(input, dim, index))


def take_along_dim(input: Array, indices: Integers, dim: int | None = None) -> Gathering:
    """``torch.take_along_dim``: input and indices broadcast to each other on all other dims.

    With a dim, indices are taken modulo its size. Without a dim, negative indices are refused.

    >>> take_along_dim(np.array([[1, 2], [3, 4]]), np.array([[1], [0]]), 1).run()
    array([[2], [3]])
    >>> take_along_dim(np.array([[1, 2], [3, 4]]), np.array([3, 0])).run()
    array([4, 1])
    """
    check_tensor(input, copied=not indices.size)
    if dim is None:
        if indices.size:
            check_dtype("indices", indices, INDICES)
        check_range("indices", indices, 0, input.size - 1)
        return gather(input.reshape(-1), 0, indices.reshape(-1))
    check_dtype("indices", indices, LONG)
    dim = wrap(dim, input.ndim)
    same = input.ndim == indices.ndim > 0
    check(same, f"indices must have the rank of input, {input.ndim}, and 1 or more")
    shape = list(indices.shape)
    axes: list[int | Integers] = [np.zeros((), np.int64)] * input.ndim
    axes[dim] = indices % max(input.shape[dim], 1)
    for d, size in enumerate(input.shape):
        if d != dim and size != 1:
            fits = shape[d] in (1, size)
            check(fits, f"dim {d} of indices is {shape[d]}, and {size} in input")
            shape[d], axes[d] = size, d
    reads = input.shape[dim] or 0 in shape
    check(reads, f"indices has elements, and dim {dim} of input has none")
    return Gathering(input, by_axes(shape, input.shape, axes))


def take(input: Array, index: Integers) -> Gathering:
    """``torch.take``: by positions in row-major order; negative positions count from the end.

    >>> take(np.array([[1, 2], [3, 4]]), np.array([[2, -1]])).run()
    array([[3, 4]])
    """
    check_tensor(input, copied=not index.size)
    check_dtype("index", index, LONG)
    check_range("index", index, -input.size, input.size - 1)
    return Gathering(input, by_offset(input.shape, index % max(input.size, 1)))


def _scatter(
    input: Array, dim: int, index: Integers, src: Array, reduction: Reduction
) -> Scattering | Rounded:
    transformer, updates = _arranged(input, dim, index, src)
    return rounded_once(input, updates, transformer, reduction)


def _arranged(input: Array, dim: int, index: Integers, src: Array) -> tuple[XTransformer, Array]:
    """Return the transformer, and the part of src with the shape of index."""
    check_tensor(input, copied=not index.size)
    check_same_dtype("src", src, "input", input)
    dim = wrap(dim, input.ndim)
    if index.size == 0:
        return nothing(input.shape), np.empty(0, input.dtype)
    same = max(src.ndim, 1) == max(index.ndim, 1)
    check(same, f"index has rank {index.ndim}, and src has rank {src.ndim}")
    fits = all(n <= extent(src, d) for d, n in enumerate(index.shape))
    check(fits, f"index has shape {index.shape}, and src has less: {src.shape}")
    part = src.reshape(src.shape or (1,))[tuple(slice(n) for n in index.shape or (1,))]
    return _along(input, dim, index), part.reshape(index.shape)


def _along(input: Array, dim: int, index: Integers) -> XTransformer:
    """Return the transformer of an index along a dim, if the index has elements."""
    check_dtype("index", index, INDICES)
    same = max(index.ndim, 1) == max(input.ndim, 1)
    check(same, f"index must have the rank of input, {input.ndim}, not {index.ndim}")
    check_extents("index", index.shape or (1,), "input", input.shape or (1,), dim)
    check_range("index", index, 0, extent(input, dim) - 1)
    return by_element(input.shape, index, dim)


def _start(reduction: Reduction, dtype: np.dtype[Any]) -> Any:
    """Return the start value of a reduction without operands."""
    if reduction in (Reduction.ADD, Reduction.MUL):
        return int(reduction is Reduction.MUL)
    lowest = reduction is Reduction.MAXIMUM
    if dtype == np.bool_:
        return not lowest
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if lowest else np.iinfo(dtype).max
    return -np.inf if lowest else np.inf

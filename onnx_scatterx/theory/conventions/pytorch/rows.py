"""PyTorch's calls with one index for each slice along a dim, such as index_copy.

    p1 = dim    f(p1(I)) = index[I_dim], one number    p2 = all but dim    p puts f's number to dim

Only index_fill takes negative indices.
"""

import numpy as np

from onnx_scatterx.theory.conventions.axes import (
    INDICES,
    Integers,
    by_axes,
    by_axis,
    check,
    check_dtype,
    check_range,
    check_same_dtype,
    check_same_rank,
    nothing,
)
from onnx_scatterx.theory.conventions.pytorch.arguments import (
    LONG,
    Array,
    Scalar,
    as_filling,
    as_scalar,
    check_tensor,
    extent,
    vector,
    wrap,
)
from onnx_scatterx.theory.conventions.pytorch.elements import Rounded, rounded_once
from onnx_scatterx.theory.scattering import Gathering, Reduction, Scattering, combine
from onnx_scatterx.theory.transformer import XTransformer


def index_copy(input: Array, dim: int, index: Integers, source: Array) -> Scattering:
    """``torch.index_copy``.

    >>> index_copy(np.zeros((3, 2)), 0, np.array([2, 0]), np.array([[1.0, 2.0], [3.0, 4.0]])).run()
    array([[3., 4.], [0., 0.], [1., 2.]])
    """
    dim, index = _checked(input, dim, index, LONG)
    _check_source(input, dim, index, source)
    transformer = _rows(input, dim, index)
    return Scattering(input, source.reshape(transformer.shape), transformer)


def index_add(
    input: Array, dim: int, index: Integers, source: Array, *, alpha: Scalar = 1
) -> Scattering | Rounded:
    """``torch.index_add``: the updates are ``alpha * source``, rounded to the type.

    If the product is not exact, some of PyTorch's kernels round it only together with the sum. With
    alpha 1, int64 indices, and the first or last of several dims, PyTorch calls ``scatter_add``.

    >>> index_add(np.ones(3), 0, np.array([2, 2]), np.array([1.0, 5.0]), alpha=2).run()
    array([ 1.,  1., 13.])
    """
    copied = input.ndim > 1 and not (input.size and index.size)
    dim, index = _checked(input, dim, index, INDICES, copied)
    _check_source(input, dim, index, source)
    check_same_rank("source", source, "input", input)
    if copied:
        return Scattering(input, np.empty(0, input.dtype), nothing(input.shape), Reduction.ADD)
    factor = as_scalar("alpha", alpha, input.dtype)
    if factor != 1:
        source = combine(Reduction.MUL, source, np.broadcast_to(factor, source.shape))
    transformer = _rows(input, dim, index)
    source = source.reshape(transformer.shape)
    at_an_end = input.ndim > 1 and dim in (0, input.ndim - 1)
    if at_an_end and factor == 1 and index.dtype == np.int64:
        return rounded_once(input, source, transformer, Reduction.ADD)
    return Scattering(input, source, transformer, Reduction.ADD)


def index_fill(input: Array, dim: int, index: Integers, value: Array | Scalar) -> Scattering:
    """``torch.index_fill`` with a number or a tensor of rank 0.

    >>> index_fill(np.zeros((2, 3)), 1, np.array([0, -1]), 7).run()
    array([[7., 0., 7.], [7., 0., 7.]])
    """
    dim, index = _checked(input, dim, index, LONG)
    may = not isinstance(value, complex) or input.dtype.kind == "c"
    check(may, f"value is complex, and input holds {input.dtype.name}")
    number = as_filling(value, input.dtype)
    transformer = _rows(input, dim, index, -extent(input, dim))
    return Scattering(input, np.broadcast_to(number, transformer.shape), transformer)


def index_select(input: Array, dim: int, index: Integers) -> Gathering:
    """``torch.index_select``.

    >>> index_select(np.array([[1, 2, 3], [4, 5, 6]]), 1, np.array([2, 0])).run()
    array([[3, 1], [6, 4]])
    """
    dim, index = _checked(input, dim, index, INDICES, input.ndim > 1)
    if not input.ndim:
        count = index.size
        check(count == 1, f"index must have 1 element where input has rank 0, not {count}")
        check_range("index", index, 0, 0)
        return Gathering(input, by_axes((), (), []))
    return Gathering(input, _rows(input, dim, index, always=True))


def _rows(
    input: Array, dim: int, index: Integers, low: int = 0, always: bool = False
) -> XTransformer:
    """Return the transformer; check the index only if elements are written, or ``always``."""
    made = by_axis(input.shape, index, dim) if input.ndim else by_axes(index.shape, (), [])
    if always or 0 not in made.shape:
        check_range("index", index, low, extent(input, dim) - 1)
    return made


def _checked(
    input: Array, dim: int, index: Integers, allowed: frozenset[str], copied: bool = False
) -> tuple[int, Integers]:
    """Return the dim, counted from the start, and the index as a vector, after PyTorch's checks."""
    check_tensor(input, copied)
    dim = wrap(dim, input.ndim)
    check_dtype("index", index, allowed)
    return dim, vector("index", index)


def _check_source(input: Array, dim: int, index: Integers, source: Array) -> None:
    check_same_dtype("source", source, "input", input)
    if source.ndim and input.ndim:
        check_same_rank("source", source, "input", input)
    same = index.size == extent(source, dim)
    check(same, f"index has {index.size} elements, and dim {dim} of source is another")
    beside, others = (array.shape[:dim] + array.shape[dim + 1 :] for array in (source, input))
    fault = f"source has shape {source.shape}, and input {input.shape} beside dim {dim}"
    check(beside == others, fault)

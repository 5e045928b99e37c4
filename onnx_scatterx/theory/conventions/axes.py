"""Makes transformers from a source for each axis of data, and checks the arguments of calls.

    J_c = I_d              axis c comes from the dim d: p2 takes it
    J_c = numbers_c[I]     axis c comes from an array: it is a column of f

p1 takes the dims on which an array depends, and p puts the axes into their order.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.errors import check as check
from onnx_scatterx.theory.picks import Pick
from onnx_scatterx.theory.transformer import XTransformer

Integers = NDArray[np.integer[Any]]

INDICES = frozenset({"int32", "int64"})
INTEGERS = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})


def check_range(name: str, values: Integers, low: int, high: int) -> None:
    """Raise ``ValueError`` if a value is outside low..high, both included."""
    outside = (values < low) | (values > high)
    if outside.any():
        at = tuple(int(i) for i in np.unravel_index(int(outside.argmax()), outside.shape))
        raise ValueError(f"{name} is {values[at]} at {at}, and must be in [{low}, {high}]")


def check_dtype(name: str, array: NDArray[Any], allowed: frozenset[str] | set[str]) -> None:
    """Raise ``ValueError`` if the type of an array is not among these types."""
    held = array.dtype.name
    check(held in allowed, f"{name} holds {held}, and may hold {', '.join(sorted(allowed))}")


def check_integers(name: str, array: NDArray[Any]) -> None:
    """Raise ``ValueError`` if an array does not hold integers."""
    check(array.dtype.kind in "iu", f"{name} must hold integers, not {array.dtype}")


def check_dims(*named: tuple[str, NDArray[Any]]) -> None:
    """Raise ``ValueError`` if an array has rank 0."""
    for name, array in named:
        check(array.ndim, f"{name} must have rank 1 or more")


def check_same_rank(name: str, array: NDArray[Any], other: str, data: NDArray[Any]) -> None:
    """Raise ``ValueError`` if the ranks of two arrays differ."""
    fault = f"{name} must have the rank of {other}, {data.ndim}, not {array.ndim}"
    check(array.ndim == data.ndim, fault)


def check_same_shape(name: str, array: NDArray[Any], other: str, data: NDArray[Any]) -> None:
    """Raise ``ValueError`` if the shapes of two arrays differ."""
    check(array.shape == data.shape, f"{name} must have the shape of {other}, {data.shape}")


def check_shape(name: str, array: NDArray[Any], expected: tuple[int, ...]) -> None:
    """Raise ``ValueError`` if an array has another shape."""
    check(array.shape == expected, f"{name} must have shape {expected}, not {array.shape}")


def check_extents(
    name: str,
    shape: tuple[int, ...],
    other: str,
    most: tuple[int, ...],
    except_on: int | None = None,
) -> None:
    """Raise ``ValueError`` if a dim is larger than in another array, except on one axis."""
    for d, (extent, size) in enumerate(zip(shape, most, strict=True)):
        fault = f"dim {d} of {name} is {extent}, but {other} has only {size} there"
        check(d == except_on or extent <= size, fault)


def check_choice(name: str, value: str, known: Iterable[str]) -> None:
    """Raise ``ValueError`` if a word is not among the known words."""
    check(value in known, f"{name} must be one of {', '.join(known)}, not {value!r}")


def check_columns(
    columns: Iterable[Integers],
    sizes: Sequence[int],
    name: str = "indices[..., {}]",
    *,
    signed: bool = False,
) -> None:
    """Raise ``ValueError`` if a number of an index tuple is not within its axis.

    A column has one number of each tuple. If ``signed``, negative numbers count from the end.
    """
    for c, (column, size) in enumerate(zip(columns, sizes, strict=False)):
        check_range(name.format(c), column, -size if signed else 0, size - 1)


def check_names(count: int, name: str, rank: int) -> None:
    """Raise ``ValueError`` if index tuples name more axes than a tensor has left."""
    check(count <= rank, f"indices names {count} axes of {name}, which has only {rank}")


def wrap(name: str, axis: int, rank: int) -> int:
    """Count an axis from the start; ``ValueError`` if the axis does not exist."""
    check(-rank <= axis < rank, f"{name} is {axis}, and must be in [{-rank}, {rank - 1}]")
    return axis % rank


def wrap_batch(
    batch_dims: int,
    most: int,
    indices: NDArray[Any],
    name: str,
    data: NDArray[Any],
    *,
    signed: bool = True,
) -> int:
    """Return the number of batch dims; ValueError if indices and data have different batch dims.

    If ``signed``, a negative ``batch_dims`` counts from the end of the indices.
    """
    batch = batch_dims + indices.ndim if signed and batch_dims < 0 else batch_dims
    least, own = -indices.ndim if signed else 0, indices.shape[:batch]
    check(0 <= batch <= most, f"batch_dims is {batch_dims}, and must be in [{least}, {most}]")
    shared = data.shape[:batch]
    check(own == shared, f"indices must have the batch {shared} of {name}, not {own}")
    return batch


def check_same_dtype(name: str, array: NDArray[Any], other: str, data: NDArray[Any]) -> None:
    """Raise ``ValueError`` if the types of two arrays differ."""
    fault = f"{name} holds {array.dtype.name}, and {other} holds {data.dtype.name}"
    check(array.dtype == data.dtype, fault)


def by_axes(
    shape: Sequence[int], data_shape: Sequence[int], axes: Sequence[int | Integers]
) -> XTransformer:
    """Make the transformer with a source for each axis; arrays broadcast to the shape of updates.

    >>> T = by_axes((2, 3), (3, 5), [1, np.array([[4], [0]])])
    >>> T((0, 2)), T.p1, T.p2, T.p
    ((2, 4), Pick((0,)), Pick((1,)), Pick((1, 0)))
    """
    rank = len(shape)
    by_f = [c for c, axis in enumerate(axes) if not isinstance(axis, int)]
    by_p2 = [c for c, axis in enumerate(axes) if isinstance(axis, int)]
    columns = [np.asarray(axes[c]) for c in by_f]
    columns = [a.reshape((1,) * (rank - a.ndim) + a.shape) for a in columns]
    p1 = Pick(d for d in range(rank) if any(a.shape[d] != 1 for a in columns))
    f = np.empty((*p1(shape), len(columns)), np.int64)
    for k, column in enumerate(columns):
        f[..., k] = column.reshape(p1(column.shape))
    p2 = Pick(int(axes[c]) for c in by_p2)
    return XTransformer(tuple(shape), tuple(data_shape), f, p1, p2, Pick(by_f + by_p2).inverse())


def by_element(data_shape: tuple[int, ...], numbers: Integers, axis: int) -> XTransformer:
    """Make the transformer with a number for each element: its position on one axis.

    >>> by_element((2, 3), np.array([[2], [0]]), 1)((1, 0))
    (1, 0)
    """
    axes = [numbers if d == axis else d for d in range(len(data_shape))]
    return by_axes(numbers.shape, data_shape, axes)


def by_own_index(
    data: tuple[str, NDArray[Any]],
    indices: tuple[str, Integers],
    axis: int,
    *,
    signed: bool = True,
) -> XTransformer:
    """Make the transformer of an index for every element; arrays are given with their names.

    Raises ValueError if the indices do not have the rank of data, if they are larger than data on
    another axis, or if a number is not within the axis.
    """
    shape, size = data[1].shape, data[1].shape[axis]
    check_same_rank(*indices, *data)
    check_extents(indices[0], indices[1].shape, data[0], shape, axis)
    check_range(*indices, -size if signed else 0, size - 1)
    return by_element(shape, indices[1], axis)


def by_axis(
    data_shape: tuple[int, ...], numbers: Integers, axis: int, batch: int = 0
) -> XTransformer:
    """Make the transformer of slices along an axis, which the dims of ``numbers`` replace.

    The first ``batch`` dims of ``numbers`` are the first axes of data.

    >>> by_axis((2, 3, 4), np.array([[2], [0]]), 1, 1).shape
    (2, 1, 4)
    """
    lead, inner, behind = numbers.shape[:batch], numbers.shape[batch:], data_shape[axis + 1 :]
    column = numbers.reshape(lead + (1,) * (axis - batch) + inner + (1,) * len(behind))
    shape = data_shape[:axis] + inner + behind
    return by_axes(shape, data_shape, [*range(axis), column, *range(axis + len(inner), len(shape))])


def by_tuples(
    data_shape: tuple[int, ...], columns: Sequence[Integers], lead: tuple[int, ...], batch: int = 0
) -> XTransformer:
    """Make the transformer of index tuples, of shape ``lead``, for the axes after the batch.

    >>> by_tuples((4, 2), [np.array([3, 1])], (2,)).provision().tolist()
    [[[3, 0], [3, 1]], [[1, 0], [1, 1]]]
    """
    rest = data_shape[batch + len(columns) :]
    named = [column.reshape(lead + (1,) * len(rest)) for column in columns]
    axes = [*range(batch), *named, *range(len(lead), len(lead) + len(rest))]
    return by_axes(lead + rest, data_shape, axes)


def by_last_dim(data_shape: tuple[int, ...], indices: Integers, batch: int = 0) -> XTransformer:
    """Make the transformer of index tuples in the last dim, for the axes after the batch.

    No number counts from the end. Raises ValueError if a number is not within its axis.

    >>> by_last_dim((4, 2), np.array([[3, 0], [1, 1]]))((1,))
    (1, 1)
    """
    columns = list(np.moveaxis(indices, -1, 0))
    check_columns(columns, data_shape[batch:])
    return by_tuples(data_shape, columns, indices.shape[:-1], batch)


def by_offset(data_shape: tuple[int, ...], offsets: Integers) -> XTransformer:
    """Make the transformer of positions in row-major order, one for each element.

    >>> by_offset((2, 3), np.array([5, 1])).provision().tolist()
    [[1, 2], [0, 1]]
    """
    axes = np.unravel_index(offsets, data_shape or (1,))
    return by_axes(offsets.shape, data_shape, axes[: len(data_shape)])


def nothing(data_shape: tuple[int, ...], shape: tuple[int, ...] = (0,)) -> XTransformer:
    """Make the transformer of updates without elements."""
    return by_offset(data_shape, np.zeros(shape, np.int64))

"""A transformer from a source for each axis of data: a dim of the updates, or numbers.

    J_c = I_d              axis c comes from the dim d: p2 takes it
    J_c = numbers_c[I]     axis c comes from an array: it is a column of f

p1 takes the dims that some array depends on, and p puts both into the order of the axes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.picks import Pick
from onnx_scatterx.theory.transformer import XTransformer

Integers = NDArray[np.integer[Any]]


def by_axes(
    shape: Sequence[int], data_shape: Sequence[int], axes: Sequence[int | Integers]
) -> XTransformer:
    """Make the transformer of updates of a shape; an array broadcasts to that shape.

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
    for place, column in enumerate(columns):
        f[..., place] = column.reshape(p1(column.shape))
    p2 = Pick(int(axes[c]) for c in by_p2)
    return XTransformer(tuple(shape), tuple(data_shape), f, p1, p2, Pick(by_f + by_p2).inverse())


def by_element(data_shape: tuple[int, ...], numbers: Integers, axis: int) -> XTransformer:
    """Make the transformer of a number for each element: that of its place on an axis.

    >>> by_element((2, 3), np.array([[2], [0]]), 1)((1, 0))
    (1, 0)
    """
    axes = [numbers if d == axis else d for d in range(len(data_shape))]
    return by_axes(numbers.shape, data_shape, axes)


def by_axis(
    data_shape: tuple[int, ...], numbers: Integers, axis: int, batch: int = 0
) -> XTransformer:
    """Make the transformer of slices along an axis: the dims of ``numbers`` take its place.

    The first dims of ``numbers``, the batch, are the first axes of data.

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
    """Make the transformer of index tuples of a shape ``lead``, which name axes behind the batch.

    >>> by_tuples((4, 2), [np.array([3, 1])], (2,)).provision().tolist()
    [[[3, 0], [3, 1]], [[1, 0], [1, 1]]]
    """
    rest = data_shape[batch + len(columns) :]
    named = [column.reshape(lead + (1,) * len(rest)) for column in columns]
    axes = [*range(batch), *named, *range(len(lead), len(lead) + len(rest))]
    return by_axes(lead + rest, data_shape, axes)


def nothing(data_shape: Sequence[int]) -> XTransformer:
    """Make the transformer of empty updates."""
    return by_axes((0,), data_shape, [np.zeros(0, np.int64)] * len(data_shape))

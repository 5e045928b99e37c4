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


def nothing(data_shape: Sequence[int]) -> XTransformer:
    """Make the transformer of empty updates."""
    return by_axes((0,), data_shape, [np.zeros(0, np.int64)] * len(data_shape))

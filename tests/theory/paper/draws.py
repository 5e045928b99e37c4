"""Random transformers and updates for the tests of the paper."""

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from onnx_scatterx.theory.picks import Pick
from onnx_scatterx.theory.transformer import XTransformer

Index = tuple[int, ...]


@st.composite
def shapes(draw: st.DrawFn, most: int = 3, largest: int = 3) -> Index:
    return tuple(draw(st.lists(st.integers(0, largest), max_size=most)))


def picks(rank: int, most: int = 3) -> st.SearchStrategy[Pick]:
    """Picks of the coordinates of an index of a rank; they may repeat one."""
    return st.lists(st.integers(0, max(rank - 1, 0)), max_size=most if rank else 0).map(Pick)


@st.composite
def x_transformers(draw: st.DrawFn) -> XTransformer:
    """In bounds, with picks that may share and repeat dims, into small data: most collide."""
    shape = draw(shapes(most=3, largest=2))
    rank = draw(st.integers(0, 3))
    p1, p2 = draw(picks(len(shape), 3)), draw(picks(len(shape), rank))
    p = Pick(draw(st.permutations(range(rank))))
    f_shape = (*p1(shape), rank - len(p2))
    numbers = draw(st.lists(st.integers(0, 1), min_size=1, max_size=7))
    f = np.resize(np.array(numbers), f_shape)
    return XTransformer(shape, (2,) * rank, f, p1, p2, p)


def numbered(shape: Index, first: int = 1) -> NDArray[np.int64]:
    """Distinct numbers, so that each element tells where it comes from."""
    return np.arange(first, first + int(np.prod(shape))).reshape(shape)

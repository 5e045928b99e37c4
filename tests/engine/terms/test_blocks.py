"""Large arrays in blocks: what is found is what the whole array says, for any shape and strides."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnx_scatterx.engine.terms import blocks as place
from onnx_scatterx.engine.terms.blocks import blocks, digest, line_of, varies

SHAPES = st.lists(st.integers(1, 5), max_size=4).map(tuple)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "_BLOCK", 4)


def drawn(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Return a line over a grid, with one element changed now and then, and strides turned."""
    draw = np.random.default_rng(seed)
    array = sum(
        (int(draw.integers(-2, 3)) * x for x in np.indices(shape)),
        start=np.full(shape, draw.integers(-9, 9)),
    )
    if seed % 2 and array.size:
        array[tuple(int(draw.integers(n)) for n in shape)] += draw.integers(2)
    order = [int(d) for d in draw.permutation(len(shape))]
    turned = np.empty([shape[d] for d in order], np.int64).transpose(np.argsort(order))
    turned[...] = array
    return turned


@given(SHAPES)
def test_each_element_is_in_one_block(shape: tuple[int, ...]) -> None:
    seen = np.zeros(shape, np.int64)
    for index in blocks(shape):
        assert seen[index].size <= 4
        seen[index] += 1
    assert (seen == 1).all()


@given(SHAPES, st.integers(0, 1 << 20))
def test_a_line(shape: tuple[int, ...], seed: int) -> None:
    array = drawn(shape, seed)
    line = line_of(array)
    first = int(array[(0,) * array.ndim])
    slopes = [
        int(array[tuple(int(e == d) for e in range(array.ndim))]) - first if n > 1 else 0
        for d, n in enumerate(shape)
    ]
    fits = all(
        array[x] == first + sum(s * i for s, i in zip(slopes, x, strict=True))
        for x in itertools.product(*map(range, shape))
    )
    assert line == ((first, slopes) if fits else None)


@given(SHAPES, st.integers(0, 1 << 20))
def test_the_dims_along_which_an_array_varies(shape: tuple[int, ...], seed: int) -> None:
    array = drawn(shape, seed)
    for d in range(array.ndim):
        assert varies(array, d) == (array != array.take([0], axis=d)).any()


@given(SHAPES, st.integers(0, 1 << 20))
def test_a_digest_sees_the_elements_and_the_shape(shape: tuple[int, ...], seed: int) -> None:
    array = drawn(shape, seed)
    assert digest(array) == digest(array.copy()) == digest(array.astype(np.int16))
    assert digest(array) != digest(array[np.newaxis])
    changed = array.copy()
    changed[(-1,) * array.ndim] += 1
    assert digest(array) != digest(changed)


def test_sums_that_would_wrap_are_no_line() -> None:
    least, most = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    assert line_of(np.array([least, most])) is None
    assert line_of(np.array([most - 2, most - 1])) == (most - 2, [1])

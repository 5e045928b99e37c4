"""The reference execution against the loop."""

import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from onnx_scatterx.theory.picks import Pick
from onnx_scatterx.theory.scattering import Reduction, Scattering, combine
from onnx_scatterx.theory.transformer import XTransformer
from tests.helpers.examples import examples

Array = NDArray[Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]
REDUCTIONS = list(Reduction)
FLOATS = [0.0, -0.0, 1.0, -2.5, 6e4, np.nan, np.inf, -np.inf]
NUMBERS = [np.float32, np.float64, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64]
OTHERS = [np.float16, ml_dtypes.bfloat16, np.bool_, np.complex64]


def bits(array: Array) -> Array:
    """Every bit, but one NaN for all: which NaN an addition gives is the processor's choice."""
    own = np.array(array, order="C").reshape(-1)
    with np.errstate(invalid="ignore"):
        nan = own != own
    if nan.any():
        own[nan] = np.nan
    return own.view(np.uint8)


def assert_same(a: Array, b: Array) -> None:
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    np.testing.assert_array_equal(bits(a), bits(b))


def arrays(draw: Draw, shape: tuple[int, ...], dtype: Any) -> Array:
    """Numbers with the values that make trouble."""
    pool = FLOATS if np.dtype(dtype).kind in "fcV" else [0, 1, 2, 3, 100, 127]
    numbers = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=12))
    return np.resize(np.array(numbers), shape).astype(dtype)


@st.composite
def scatterings(draw: st.DrawFn) -> Scattering:
    """Small data and many updates, so that most collide."""
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    data_shape = tuple(draw(st.lists(st.integers(1, 3), max_size=3)))
    seed = draw(st.integers(0, 2**32 - 1))
    sizes = np.array(data_shape, np.int64)
    random = np.random.default_rng(seed)
    e = random.integers(-sizes, sizes, (*shape, len(data_shape)))
    reduction = draw(st.sampled_from(REDUCTIONS))
    dtype = draw(st.sampled_from(NUMBERS + OTHERS))
    if dtype is np.complex64 and reduction not in (Reduction.NONE, Reduction.ADD, Reduction.MUL):
        dtype = np.float32
    data, updates = arrays(draw, data_shape, dtype), arrays(draw, shape, dtype)
    return Scattering(data, updates, XTransformer.from_provision(e, data_shape), reduction)


@given(scatterings())
@examples(200)
def test_rounds_are_the_loop(s: Scattering) -> None:
    data, updates = s.data.copy(), s.updates.copy()
    output = s.run()
    assert_same(output, s.run_in_order())
    assert_same(s.data, data)
    assert_same(s.updates, updates)
    assert not np.shares_memory(output, s.data)
    assert output.flags.writeable


def test_b_1_of_definition_7() -> None:
    e_1 = np.array([[[0, i // 2, i % 2, j] for j in range(2)] for i in range(4)])
    a_1 = np.array([[1, 2], [3, 4], [5, 6], [7, 8]])
    x_1 = np.zeros((2, 2, 2, 2), int)
    b_1 = Scattering(x_1, a_1, XTransformer.from_provision(e_1, x_1.shape)).run()
    assert b_1.tolist() == [[[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [[[0, 0], [0, 0]]] * 2]


def one_cell(data: Any, updates: Any, reduction: str) -> Array:
    """All updates meet one element, in order."""
    cell, news = np.asarray(data), np.asarray(updates)
    axes = Pick(), Pick(), Pick()
    t = XTransformer(news.shape, (), np.zeros(0, np.int64), *axes)
    return Scattering(cell, news, t, Reduction(reduction)).run()


def test_the_last_update_stays() -> None:
    assert one_cell(0, [3, 1, 2], "none") == 2


@pytest.mark.parametrize(
    ("dtype", "start", "reduction", "result"),
    [
        (np.int8, 100, "add", -112),
        (np.uint8, 100, "mul", 16),
        (np.float16, 2048, "add", 2048),
        (ml_dtypes.bfloat16, 256, "add", 256),
        (np.float32, 2048, "add", 2092),
    ],
)
def test_steps_wrap_and_round(dtype: Any, start: float, reduction: str, result: float) -> None:
    """The sum of 2048 and many ones is 2048 in float16 if every step is rounded."""
    updates = {"add": [1] * 44, "mul": [100, 1]}[reduction]
    output = one_cell(np.array(start, dtype), np.array(updates, dtype), reduction)
    assert output.dtype == dtype
    assert float(output) == result


@pytest.mark.parametrize(
    ("reduction", "x", "u", "result"),
    [
        ("max", np.nan, 1.0, 1.0),
        ("max", 1.0, np.nan, np.nan),
        ("min", np.nan, 1.0, 1.0),
        ("min", 1.0, np.nan, np.nan),
        ("max", 0.0, -0.0, -0.0),
        ("max", -0.0, 0.0, 0.0),
        ("min", 0.0, -0.0, -0.0),
        ("min", -0.0, 0.0, 0.0),
        ("maximum", np.nan, 1.0, np.nan),
        ("maximum", 1.0, np.nan, np.nan),
        ("minimum", np.nan, 1.0, np.nan),
        ("minimum", 1.0, np.nan, np.nan),
        ("maximum", 0.0, -0.0, 0.0),
        ("maximum", -0.0, 0.0, -0.0),
        ("minimum", 0.0, -0.0, 0.0),
        ("minimum", -0.0, 0.0, -0.0),
        ("greater", np.nan, 1.0, np.nan),
        ("greater", 1.0, np.nan, 1.0),
        ("less", np.nan, 1.0, np.nan),
        ("less", 1.0, np.nan, 1.0),
        ("greater", 0.0, -0.0, 0.0),
        ("greater", -0.0, 0.0, -0.0),
        ("less", 0.0, -0.0, 0.0),
        ("less", -0.0, 0.0, -0.0),
        ("add", 0.0, -0.0, 0.0),
    ],
)
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_nan_and_zeros(reduction: str, x: float, u: float, result: float, dtype: Any) -> None:
    old, new, expected = (np.array(number, dtype) for number in (x, u, result))
    assert_same(combine(Reduction(reduction), old, new), expected)


@pytest.mark.parametrize(
    ("reduction", "table"),
    [
        *((name, "0111") for name in ("add", "max", "maximum", "greater")),
        *((name, "0001") for name in ("mul", "min", "minimum", "less")),
    ],
)
def test_bools(reduction: str, table: str) -> None:
    pairs = itertools.product([False, True], repeat=2)
    results = [one_cell(x, [u], reduction) for x, u in pairs]
    assert "".join(str(int(r)) for r in results) == table
    assert all(r.dtype == np.bool_ for r in results)


@pytest.mark.parametrize("data_kind", ["U1", "O", "S1"])
@pytest.mark.parametrize("kind", ["U5", "O"])
def test_strings_are_not_cut(data_kind: str, kind: str) -> None:
    data, updates = np.array(["a", "b", "c"]), np.array(["long", "", "three"])
    t = XTransformer.from_provision(np.array([[2], [0], [0]]), (3,))
    s = Scattering(data.astype(data_kind), updates.astype(kind), t)
    middle = np.array("b").astype(data_kind)[()]
    assert s.run().tolist() == s.run_in_order().tolist() == ["three", middle, "long"]


def test_eight_dims() -> None:
    shape = (2, 1, 2, 1, 2, 1, 2, 2)
    e = np.moveaxis(np.indices(shape), 0, -1)[::-1]
    updates = np.arange(32).reshape(shape)
    s = Scattering(np.zeros(shape, int), updates, XTransformer.from_provision(e, shape))
    assert_same(s.run(), updates[::-1])
    assert_same(s.run_in_order(), updates[::-1])


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3, 1)])
def test_nothing_is_written(shape: tuple[int, ...]) -> None:
    e = np.zeros((*shape, 2), np.int64)
    data = np.array([[1, 2]])
    assert_same(
        Scattering(data, np.zeros(shape, int), XTransformer.from_provision(e, (1, 2))).run(), data
    )
    nowhere = Scattering(
        np.zeros((0, 2)), np.zeros(shape), XTransformer.from_provision(e, (0, 2)), Reduction.ADD
    )
    assert nowhere.run().shape == (0, 2)


def test_any_layout_of_memory() -> None:
    data = np.arange(6.0).reshape(2, 3).T
    updates = np.broadcast_to(np.array(9.0), (2,))
    t = XTransformer.from_provision(np.array([[0, 1], [2, 0]]), (3, 2))
    assert Scattering(data, updates, t).run().tolist() == [[0, 9], [1, 4], [9, 5]]


@pytest.mark.parametrize(
    ("data", "updates", "reduction", "because"),
    [
        (np.zeros((4, 1)), np.zeros(2), "none", r"data has shape \(4, 1\)"),
        (np.zeros(4), np.zeros(3), "none", r"updates has shape \(3,\)"),
        (np.zeros(4), np.zeros(2, np.float32), "none", "they must agree"),
        (np.zeros(4), np.zeros(2), "mean", "'mean' is not a valid Reduction"),
        (np.zeros(4, str), np.zeros(2, str), "add", "no meaning"),
        (np.zeros(4, complex), np.zeros(2, complex), "max", "no meaning"),
        (np.zeros(4, "M8[s]"), np.zeros(2, "M8[s]"), "max", "no meaning"),
        (np.zeros(3), np.zeros(2), "none", r"update \(1,\) is out of bounds"),
    ],
)
def test_what_is_no_scattering(data: Array, updates: Array, reduction: Any, because: str) -> None:
    t = XTransformer.from_provision(np.array([[0], [3]]), data.shape[:1])
    with pytest.raises(ValueError, match=because):
        Scattering(data, updates, t, reduction)

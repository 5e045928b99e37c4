"""Masked writes: what is overwritten never shows, what is kept keeps every bit."""

import numpy as np
import pytest

from tests.support import assert_sound

RNG = np.random.default_rng(1)
NAMES = "<int64[1] minus = {-1}, int64[1] two = {2}, int64[2] turn = {1, 0}>"


def hard(*shape: int, kind: str = "float32") -> np.ndarray:
    """Random numbers, with NaN, infinities and both zeros where there are such."""
    if kind == "bool":
        return RNG.random(shape) < 0.5
    if kind.startswith("int"):
        return RNG.integers(-9, 9, shape).astype(kind)
    found = RNG.standard_normal(shape).astype(kind)
    found.ravel()[::3] = -0.0
    found.ravel()[1::7] = np.nan
    found.ravel()[2::11] = -np.inf
    return found


def masks(*shape: int) -> list[np.ndarray]:
    """No element, all, and some."""
    return [RNG.random(shape) < share for share in (0, 1.1, 0.3, 0.7)]


@pytest.mark.parametrize("kind", ["float", "double", "float16", "int64", "int32", "bool", "int16"])
@pytest.mark.parametrize("value", ["1", "0"])
def test_a_number(kind: str, value: str) -> None:
    # As exporters write x[m] = v: the number is repeated for every true element.
    model = f"""g ({kind}[B,4] x, bool[B,4] m, {kind} v) => ({kind}[B,4] y) {NAMES} {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        f = Reshape (m, minus)
        c = Cast <to = 7> (f)
        k = ReduceSum <keepdims = 1> (c)
        e = Expand (v, k)
        u = Reshape (e, minus)
        y = ScatterND (x, i, u) }}"""
    numpy = {"float": "float32", "double": "float64"}.get(kind, kind)
    v = np.array(int(value)).astype(numpy)
    if numpy.startswith("float") and value == "0":
        v = np.asarray(np.negative(v))  # -0.0
    feeds = [{"x": hard(3, 4, kind=numpy), "m": m, "v": v} for m in masks(3, 4)]
    empty = {"x": hard(0, 4, kind=numpy), "m": np.zeros((0, 4), bool), "v": v}
    assert_sound(model, *feeds, empty, left=1 if kind == "int16" else 0)


def test_a_vector_over_the_last_axis() -> None:
    model = f"""g (float[B,T,4] x, bool[B,T] m, float[4] v) => (float[B,T,4] y) {NAMES} {{
        w = Unsqueeze (m, minus)
        s = Shape (x)
        b = Expand (w, s)
        n = NonZero (b)
        i = Transpose <perm = [1, 0]> (n)
        f = Reshape (m, minus)
        c = Cast <to = 7> (f)
        k = ReduceSum <keepdims = 1> (c)
        three = Constant <value = int64[1] {{3}}> ()
        t = Slice (s, two, three)
        l = Concat <axis = 0> (k, t)
        e = Expand (v, l)
        u = Reshape (e, minus)
        y = ScatterND (x, i, u) }}"""
    feeds = [{"x": hard(2, 3, 4), "m": m, "v": hard(4)} for m in masks(2, 3)]
    assert_sound(model, *feeds, left=0)


def test_a_vector_over_an_axis_of_the_mask_stays() -> None:
    # The mask differs along the axis of the vector: its n-th true element is not at n mod 4.
    model = f"""g (float[B,4] x, bool[B,4] m, float[4] v, int64[1] k) => (float[B,4] y) {NAMES} {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        four = Constant <value = int64[1] {{4}}> ()
        l = Concat <axis = 0> (k, four)
        e = Expand (v, l)
        u = Reshape (e, minus)
        y = ScatterND (x, i, u) }}"""
    m = np.array([[1, 0, 1, 1], [0, 1, 0, 0]], bool)
    feed = {"x": hard(2, 4), "m": m, "v": hard(4), "k": np.array([1])}
    assert_sound(model, feed, left=1)


@pytest.mark.parametrize("other", ["m", "o"])
def test_elements_of_another_tensor(other: str) -> None:
    model = f"""g (float[B,4] x, bool[B,4] m, bool[B,4] o, float[B,4] z) => (float[B,4] y)
        {NAMES} {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        p = NonZero ({other})
        j = Transpose <perm = [1, 0]> (p)
        u = GatherND (z, j)
        y = ScatterND (x, i, u) }}"""
    feeds = [{"x": hard(3, 4), "m": m, "o": m[::-1].copy(), "z": hard(3, 4)} for m in masks(3, 4)]
    assert_sound(model, *feeds, left=0 if other == "m" else 1)


def test_a_mask_that_is_wider_than_the_data_stays() -> None:
    # It runs as long as nothing is true outside; a Where would give the wider shape.
    model = f"""g (float[A,4] x, bool[B,4] m, float v, int64[1] k) => (float[A,4] y) {NAMES} {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        u = Expand (v, k)
        y = ScatterND (x, i, u) }}"""
    m = np.array([[1, 0, 0, 1], [0, 0, 0, 0]], bool)
    feed = {"x": hard(1, 4), "m": m, "v": np.float32(2), "k": np.array([2])}
    assert_sound(model, {k: np.asarray(v) for k, v in feed.items()}, left=1)


@pytest.mark.parametrize("reduction", ["add", "mul"])
def test_reductions(reduction: str) -> None:
    model = f"""g (float[B,4] x, bool[B,4] m, float v, int64[1] k) => (float[B,4] y) {NAMES} {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        u = Expand (v, k)
        y = ScatterND <reduction = "{reduction}"> (x, i, u) }}"""
    feeds = [
        {"x": hard(3, 4), "m": m, "v": np.array(2.5, np.float32), "k": np.array([m.sum()])}
        for m in masks(3, 4)
    ]
    assert_sound(model, *feeds, left=0)


@pytest.mark.parametrize("shape", ["1,1,1", "1,1,4"])
def test_a_value_of_more_dims_than_the_data_stays(shape: str) -> None:
    # It is repeated and made flat before it is written; a Where would give its dims to the result.
    model = f"""g (float[B,4] x, bool[B] m, float[{shape}] v, int64[3] k) => (float[B,4] y) {{
        minus = Constant <value = int64[1] {{-1}}> ()
        w = Unsqueeze (m, minus)
        s = Shape (x)
        b = Expand (w, s)
        n = NonZero (b)
        i = Transpose <perm = [1, 0]> (n)
        e = Expand (v, k)
        u = Reshape (e, minus)
        y = ScatterND (x, i, u) }}"""
    feeds = [
        {
            "x": hard(3, 4),
            "m": m,
            "v": hard(*map(int, shape.split(","))),
            "k": np.array([m.sum(), 1, 4]),
        }
        for m in masks(3)
    ]
    assert_sound(model, *feeds)

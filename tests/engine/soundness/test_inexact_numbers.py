"""Numbers that ONNX Runtime computes otherwise than exact arithmetic, on their way to an index."""

import numpy as np
import onnx
import pytest

from tests.helpers.support import assert_sound, f32, i64, parse

FEED = {"x": f32([1, 2, 3, 4]), "u": f32([9])}


def written(nodes: str, **constants: np.ndarray) -> onnx.ModelProto:
    """Return a model that writes the element at an index of which the nodes compute ``k``."""
    model = parse(f"""g (float[4] x, float[1] u) => (float[4] y) {{
        {nodes}
        y = ScatterND (x, Reshape (Mod (k, four), shape), u) }}""")
    constants |= {"four": i64(4), "shape": i64([1, 1])}
    arrays = (onnx.numpy_helper.from_array(a, n) for n, a in constants.items())
    model.graph.initializer.extend(arrays)
    return model


@pytest.mark.parametrize("numbers", [[2**53 + 1, 0], [2**53, 1, -(2**53)], [2, 3], [2**52 + 1, 2]])
def test_sums_of_64_bits_are_doubles(numbers: list[int]) -> None:
    model = written("k = ReduceSum <keepdims = 0> (a)", a=i64(numbers))
    assert_sound(model, FEED)


@pytest.mark.parametrize("numbers", [[2**27 + 1, 2**27 + 1], [3, 3], [2**53 + 1, 1]])
def test_products_of_64_bits_are_doubles(numbers: list[int]) -> None:
    model = written("k = ReduceProd <keepdims = 0> (a)", a=i64(numbers))
    assert_sound(model, FEED)


def test_sums_of_no_rows() -> None:
    model = written(
        "e = ReduceSum (a, last) k = ReduceSum <keepdims = 0> (e)",
        a=np.zeros((0, 2), np.int64),
        last=i64([1]),
    )
    assert_sound(model, FEED, left=0)


def test_a_product_with_a_size_is_not_the_same_product() -> None:
    # The second write would hide the first one, if both went to one element.
    model = parse("""g (float[4] x, float[1] u, float[N,0] e, uint32[1] p) => (float[4] y) {
        n = Slice (Shape (e), [0], [1])
        q = Cast <to = 7> (p)
        a = ReduceProd <keepdims = 1> (Concat <axis = 0> (n, q))
        b = Mul (n, q)
        k = Mod (a, 4)
        l = Mod (b, 4)
        z = ScatterND (x, Reshape (k, [1, 1]), u)
        y = ScatterND (z, Reshape (l, [1, 1]), Neg (u)) }""")
    pairs = [(3, 5), (2**27 + 1, 2**27 + 1)]
    feeds = [
        FEED | {"e": np.zeros((n, 0), np.float32), "p": np.array([p], np.uint32)} for n, p in pairs
    ]
    assert_sound(model, *feeds)


@pytest.mark.parametrize("low", [np.nan, 0.0, 2.0])
@pytest.mark.parametrize("high", [np.nan, 3.0])
def test_a_bound_that_is_no_number_bounds_nothing(low: float, high: float) -> None:
    nodes = """c = Clip (a, low, high)
        b = Greater (c, half)
        k = Cast <to = 7> (b)"""
    constants = {"a": 1.0, "low": low, "high": high, "half": 0.5}
    assert_sound(written(nodes, **{n: f32(v) for n, v in constants.items()}), FEED)


@pytest.mark.parametrize("zeros", [(0.0, -0.0), (-0.0, 0.0)])
def test_the_sign_of_the_lesser_zero_is_not_known(zeros: tuple[float, float]) -> None:
    nodes = """c = Clip (a, b)
        d = Div (one, c)
        e = Greater (d, half)
        k = Cast <to = 7> (e)"""
    constants = {"a": zeros[0], "b": zeros[1], "one": 1.0, "half": 0.5}
    assert_sound(written(nodes, **{n: f32(v) for n, v in constants.items()}), FEED)


@pytest.mark.parametrize("ends", [(0.1, 5.0, 0.1), (-1.0, 1e9, 1e9), (0.0, 5.0, 2.0), (3, 1, 1)])
def test_how_many_floats_there_are_in_a_range(ends: tuple[float, ...]) -> None:
    # Whether the difference of the ends is rounded decides on one more of them.
    nodes = """r = Range (a, b, c)
        k = Size (r)"""
    assert_sound(written(nodes, **{n: f32(v) for n, v in zip("abc", ends, strict=True)}), FEED)


@pytest.mark.parametrize("step", [4, 2**52, 2**62])
def test_how_many_integers_there_are_in_a_range(step: int) -> None:
    # ONNX Runtime divides in doubles: (2**62 + 1) / 2**62 is 1 to it.
    nodes = """r = Range (a, b, c)
        k = Size (r)"""
    assert_sound(written(nodes, a=i64(0), b=i64(step + 1), c=i64(step)), FEED)


@pytest.mark.parametrize("bounds", ["low", ", high", "low, high"])
@pytest.mark.parametrize("number", [np.inf, -np.inf])
def test_no_bound_is_the_largest_number(bounds: str, number: float) -> None:
    nodes = f"""c = Clip (a, {bounds})
        d = Sub (c, c)
        e = Equal (d, zero)
        k = Cast <to = 7> (e)"""
    constants = {"a": number, "low": -1.0, "high": 3.0, "zero": 0.0}
    assert_sound(written(nodes, **{n: f32(v) for n, v in constants.items()}), FEED)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "nodes",
    [
        ["k = Clip (p, zero, one)"],
        ["t = Max (p, zero)", "k = Min (t, top)"],
        ["t = Min (p, top)", "k = Max (t, zero)"],
        ["t = Less (p, one)", "k = Cast <to = 7> (t)"],
        ["t = Greater (top, p)", "k = Cast <to = 7> (t)"],
        [
            "t = Greater (p, zero)",
            "l = Sub (top, p)",
            "h = Where (t, p, l)",
            "k = Clip (h, zero, one)",
        ],
    ],
)
@pytest.mark.parametrize("opset", [12, 18])
def test_what_is_computed_anew_does_not_wrap(nodes: list[str], opset: int) -> None:
    # Clip (p, 0, 1) is max(p, 0) - max(p - 1, 0), and p - 1 wraps where p is the least number.
    lines = "\n".join(nodes)
    model = parse(
        f"""g (float[N] x, int64[1, 1] p, float[1] u) => (float[N] y)
        <int64 zero = {{0}}, int64 one = {{1}}> {{
        top = Add (Shape (x), [-1])
        {lines}
        y = ScatterND (x, k, u) }}""",
        opset=opset,
    )
    ends = (-(2**63), 1 - 2**63, -1, 0, 1, 2, 2**63 - 2, 2**63 - 1)
    feeds = [FEED | {"p": i64([[p]])} for p in ends]
    assert_sound(model, *feeds)

"""Scatters that reduce are never their updates, and NaN and the sign of zero are kept.

ONNX Runtime's max is `x > u ? x : u`: a NaN in the data is replaced, a NaN in the updates is kept.
"""

import numpy as np
import pytest

from tests.helpers.pair import Feed
from tests.helpers.support import assert_sound, f32, i64, parse

REDUCTIONS = ("add", "mul", "max", "min")
FOUR: list[Feed] = [{}] * 4
HARD = f32([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.25, 3.4e38])


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("op", ["ScatterND", "ScatterElements"])
def test_every_pair_of_hard_numbers(op: str, reduction: str) -> None:
    count = len(HARD) ** 2
    x, u = (np.ascontiguousarray(a.ravel()) for a in np.meshgrid(HARD, HARD))
    shape = f"{count},1" if op == "ScatterND" else str(count)
    rows = ", ".join(map(str, range(count)))
    model = f"""g (float[{count}] x, float[{count}] u) => (float[{count}] y)
        <int64[{shape}] i = {{{rows}}}> {{
            y = {op} <reduction: string = "{reduction}"> (x, i, u) }}"""
    assert_sound(model, {"x": x, "u": u}, left=0)


@pytest.mark.sampled(3, each="reduction")
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("rows", ["0,1,2,3", "1,2", "0,2", "3,2,1,0", "-1,0", "3"])
def test_rows(rows: str, reduction: str) -> None:
    n = len(rows.split(","))
    model = f"""g (float[4,5] x, float[{n},5] u) => (float[4,5] y) <int64[{n},1] i = {{{rows}}}> {{
        y = ScatterND <reduction: string = "{reduction}"> (x, i, u) }}"""
    assert_sound(model, *FOUR, left=0)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_columns(reduction: str) -> None:
    model = f"""g (float[3,5] x, float[3,2] u)
        => (float[3,5] y) <int64[3,2] i = {{1, 2, 1, 2, 1, 2}}> {{
        y = ScatterElements <axis = 1, reduction: string = "{reduction}"> (x, i, u) }}"""
    assert_sound(model, *FOUR, left=0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["double", "int8", "int16", "int32", "int64", "uint8", "uint64"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_types(reduction: str, dtype: str) -> None:
    # Integers wrap.
    model = f"""g ({dtype}[4,5] x, {dtype}[2,5] u) => ({dtype}[4,5] y) {{
        y = ScatterND <reduction: string = "{reduction}"> (x, [[1], [2]], u) }}"""
    assert_sound(model, *FOUR)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("dtype", "reduction"),
    [("bool", "add"), ("bool", "mul"), ("string", "add"), ("float16", "max"), ("float16", "min")],
)
@pytest.mark.parametrize("rows", ["0, 1, 2, 3", "1, 2, 0, 3", "0, 1, 1, 2"])
def test_odd_types(dtype: str, reduction: str, rows: str) -> None:
    # ONNX Runtime adds strings by joining them, bools by or.
    model = f"""g ({dtype}[5] x, {dtype}[4] u) => ({dtype}[5] y) <int64[4] i = {{{rows}}}> {{
        y = ScatterElements <reduction: string = "{reduction}"> (x, i, u) }}"""
    assert_sound(model, *FOUR)


@pytest.mark.parametrize("reduction", ["add", "mul"])
@pytest.mark.parametrize("fill", ["0", "-0.0", "1"])
def test_data_that_is_an_identity_almost(fill: str, reduction: str) -> None:
    # 0 + -0 is +0: zeros are no identity of adding floats.
    model = f"""g (float[2,3] u) => (float[4,3] y) <float[1] v = {{{fill}}}> {{
            x = Expand (v, [4, 3])
            y = ScatterND <reduction: string = "{reduction}"> (x, [[1], [2]], u) }}"""
    zeros = f32([[0.0, -0.0, 1.0], [-0.0, np.nan, -np.inf]])
    assert_sound(model, {"u": zeros}, *({} for s in range(3)))


@pytest.mark.parametrize("op", ["ScatterND", "ScatterElements"])
def test_adding_everywhere_to_constant_zeros(op: str) -> None:
    model = f"""g (float[4,1] u) => (float[4,1] y) {{
        x = ConstantOfShape ([4, 1])
        y = {op} <reduction: string = "add"> (x, [[0], [1], [2], [3]], u) }}"""
    assert_sound(model, {"u": [[-0.0], [0.0], [np.nan], [1.0]]})


@pytest.mark.sampled(2)
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("rows", ["1,1", "0,1,2,3,0", "2,1,2,1", "-1,3", "0,0,0,0"])
def test_duplicates(rows: str, reduction: str) -> None:
    # Whole numbers, so that no order of adding them rounds.
    n = len(rows.split(","))
    model = f"""g (float[4,2] x, float[{n},2] u) => (float[4,2] y) <int64[{n},1] i = {{{rows}}}> {{
        y = ScatterND <reduction: string = "{reduction}"> (x, i, u) }}"""
    x = np.arange(8, dtype=np.float32).reshape(4, 2) - 3
    u = np.arange(2 * n, dtype=np.float32).reshape(n, 2) - n
    assert_sound(model, {"x": x, "u": u}, {"x": -x, "u": -u})


@pytest.mark.parametrize("reduction", ["max", "min"])
def test_duplicates_with_nan(reduction: str) -> None:
    # The order counts: a NaN gives way to what comes later.
    model = f"""g (float[2] x, float[4] u) => (float[2] y) {{
        y = ScatterElements <reduction: string = "{reduction}"> (x, [0, 1, 0, 1], u) }}"""
    x = f32([0.5, np.nan])
    updates = ([np.nan, 1, 2, np.nan], [1, np.nan, np.nan, 0], [-0.0, 0.0, 0.0, -0.0])
    assert_sound(model, *({"x": x, "u": f32(u)} for u in updates))


def test_indices_that_collide_only_at_some_values() -> None:
    model = """g (float[3,2] x, float[2,2] u, int64[2,1] i) => (float[3,2] y) {
        y = ScatterND <reduction: string = "add"> (x, i, u) }"""
    feed = {"x": [[1, 2], [3, 4], [5, 6]], "u": [[10, 20], [30, 40]]}
    rows = ([0, 1], [1, 1], [2, -1], [-3, 2])
    assert_sound(model, *({**feed, "i": i64(r).reshape(2, 1)} for r in rows))


def test_accumulating_as_torchscript_does() -> None:
    # zeros, a scatter without a reduction, an Add: only equal to adding where nothing collides.
    model = """g (float[4,2] x, float[3,2] u, int64[3,1] i) => (float[4,2] y) {
        t = ScatterND (ConstantOfShape (Shape (x)), i, u)
        y = Add (x, t) }"""

    rows = ([0, 1, 2], [1, 1, 3], [2, -1, 3])
    assert_sound(model, *({"i": i64(r).reshape(3, 1)} for r in rows))


@pytest.mark.parametrize("second", ["none", "add", "max"])
@pytest.mark.parametrize("first", ["none", "add", "max"])
def test_two_in_a_chain(first: str, second: str) -> None:
    model = f"""g (float[4,2] x, float[3,2] u, float[2,2] v) => (float[4,2] y) {{
            t = ScatterND <reduction: string = "{first}"> (x, [[0], [1], [2]], u)
            y = ScatterND <reduction: string = "{second}"> (t, [[2], [3]], v) }}"""
    assert_sound(model, *FOUR, left=0)


def test_resetting_before_reducing() -> None:
    # What dynamo writes for scatter_reduce(include_self=False): the same indices twice.
    model = """g (float[4,2] x, float[3,2] u, int64[3,2] i) => (float[4,2] y) {
            v = Expand (float [-3.4028234663852886e38], Shape (u))
            t = ScatterElements <axis = 0> (x, i, v)
            y = ScatterElements <axis = 0, reduction: string = "max"> (t, i, u) }"""

    indices = ([0, 1, 1, 1, 3, 0], [0, 0, 0, 0, 0, 0], [3, -1, 2, 1, 0, 2])
    assert_sound(model, *({"i": i64(k).reshape(3, 2)} for k in indices))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ir_version", [8, 10])
@pytest.mark.parametrize("opset", [16, 18, 21])
def test_opsets(opset: int, ir_version: int) -> None:
    for reduction in REDUCTIONS[: 2 if opset < 18 else 4]:
        model = parse(
            f"""g (float[4,5] x, float[2,5] u) => (float[4,5] y) {{
                y = ScatterND <reduction: string = "{reduction}"> (x, [[1], [2]], u) }}""",
            opset,
            ir_version,
        )
        assert_sound(model, *FOUR, left=0)


# Numbers whose upper 32 bits are equal, and whose lower 32 bits are in another order if signed.
HALVES = np.array([2**31 + 7, 7, 2**31, 2**32 - 1, 0, -1, -(2**31), -(2**31) - 1, 5 * 2**32 - 1])
PLACES = {
    "box": """<int64[8,1] i = {1, 2, 3, 4, 5, 6, 7, 8}> {
        y = ScatterND <reduction = RED> (x, i, u) }""",
    "window": """<int64[8,1] r = {0, 1, 2, 3, 4, 5, 6, 7}> {
        i = Add (r, p) y = ScatterND <reduction = RED> (x, i, u) }""",
    "one": """<int64[1] s = {8}> {
        i = Expand (p, s) y = ScatterElements <reduction = RED> (x, i, u) }""",
    "any": "{ y = ScatterElements <reduction = RED> (x, j, u) }",
    "mask": """{ n = NonZero (m) i = Transpose <perm = [1, 0]> (n)
        y = ScatterND <reduction = RED> (x, i, u) }""",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("reduction", ["max", "min"])
def test_numbers_of_64_bits_are_compared_whole(reduction: str, place: str) -> None:
    body = PLACES[place].replace("RED", f'"{reduction}"')
    model = f"""g (int64[9] x, int64[8] u, int64 p, int64[8] j, bool[9] m) => (int64[9] y) {body}"""
    feeds = []
    for seed in range(9):
        rng = np.random.default_rng(seed)
        feeds.append(
            {
                "x": rng.choice(HALVES, 9),
                "u": rng.choice(HALVES, 8),
                "p": i64(rng.integers(0, 2)),
                "j": rng.integers(0, 9, 8),
                "m": np.arange(9) != seed,
            }
        )
    assert_sound(model, *feeds, left=0)

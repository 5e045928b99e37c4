"""Draws that are multiplied by 0 are drawn once for a compiler that does not draw."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx.targets.catalogue import target_of
from tests.helpers.examples import examples
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse, sample

NPU = "standard, onnxruntime = false, avoid = ['RandomNormal', 'RandomNormalLike', 'RandomUniform']"
SPEECH = """g (float[1, N, 3] x) => (float[1, N, 3] y) <float scale = {0}, float half = {0.5}> {
    e = Exp (x)
    r = RandomNormalLike (x)
    t = Transpose <perm = [0, 2, 1]> (r)
    u = Transpose <perm = [0, 2, 1]> (t)
    h = Mul (half, u)
    p = Mul (h, e)
    s = Mul (p, scale)
    y = Add (x, s) }"""


def operators(text: str, target: str = NPU) -> list[str]:
    result = onnx_scatterx.optimize(parse(text), target=target_of(target))
    return sorted(node.op_type for node in nodes(result.model))


@pytest.mark.parametrize("size", [0, 1, 5])
def test_noise_without_loudness(size: int) -> None:
    model = parse(SPEECH)
    result = onnx_scatterx.optimize(model, target=target_of(NPU))
    assert [n.op_type for n in nodes(result.model)].count("RandomNormalLike") == 0
    assert not result.report.violations
    assert_same(model, result.model, [{"x": sample("float32", 1, size, 3) + np.float32(0.5)}])


def test_speech_in_opencv() -> None:
    """OpenCV draws nothing, and refuses the Conv of a constant that the noise then is."""
    text = """g (float[1, 4, 8] x) => (float[1, 4, 8] y) <float scale = {0},
        float[4, 2, 1] w = {1, 2, 3, 4, 5, 6, 7, 8}> {
            r = RandomNormal <shape = [1, 2, 8]> ()  s = Mul (r, scale)
            c = Conv (s, w)  y = Add (x, c) }"""
    model = parse(text)
    result = onnx_scatterx.optimize(model, target="opencv")
    assert [n.op_type for n in nodes(result.model)] == ["Add"]
    assert_same(model, result.model, [{"x": sample("float32", 1, 4, 8) + np.float32(0.5)}])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("scale = {0}", "scale = {0.01}"),
        ("scale = {0}", "scale = {nan}"),
        ("Add (x, s)", "Add (x, p)"),
        ("Add (x, s)", "Add (r, s)"),
        ("h = Mul (half, u)", "h = Div (half, u)"),
        ("h = Mul (half, u)", "h = Add (half, u)"),
        ("RandomNormalLike", "RandomNormalLike <mean = 3e38, scale = 3e38>"),
    ],
)
def test_kept_draws(old: str, new: str) -> None:
    """What the draw decides is heard; a number that is not finite times 0 is no 0."""
    assert "RandomNormalLike" in operators(SPEECH.replace(old, new))


def test_a_draw_is_kept_if_it_is_an_output_or_overridable() -> None:
    assert "RandomNormalLike" in operators(
        SPEECH.replace("(float[1, N, 3] y)", "(y, float[1, N, 3] r)")
    )
    given_scale = SPEECH.replace("] x)", "] x, float scale)")
    assert "RandomNormalLike" in operators(given_scale)


def test_who_draws_keeps_its_draws() -> None:
    assert "RandomNormalLike" in operators(SPEECH, "standard, onnxruntime = false, avoid = ['Erf']")
    assert "RandomNormalLike" in operators(SPEECH, "standard")


DRAWS = ("RandomNormal <shape = [2, 3]> ()", "RandomNormalLike <mean = 3.0> (x)",
         "RandomUniform <shape = [2, 3], low = 2.0, high = 3.0> ()")  # fmt: skip
WAYS = ("Identity (r)", "Mul (r, x)", "Mul (x, r)", "Mul (r, r)", "Cast <to = 10> (r)")


@given(st.data())
@examples(40)
def test_any_way(data: st.DataObject) -> None:
    draw, way, again = (data.draw(st.sampled_from(some)) for some in (DRAWS, WAYS, WAYS))
    fixed = data.draw(st.booleans())
    text = f"""g (float[{"2" if fixed else "N"}, 3] x) => (float[M, 3] y) <float z = {{0}}> {{
        r = {draw}  a = {way}  b = Cast <to = 1> (a)
        c = {again.replace("r", "b")}  d = Cast <to = 1> (c)  s = Mul (z, d)  y = Add (x, s) }}"""
    model = parse(text)
    assert all(not op.startswith("Random") for op in operators(text))
    result = onnx_scatterx.optimize(model, target=target_of(NPU))
    assert_same(model, result.model, [{"x": sample("float32", 2, 3) + np.float32(0.5)}])

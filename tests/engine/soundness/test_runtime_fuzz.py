"""Random models are the same under both session options: whole graphs, and special ones."""

import os
import re

import pytest

import onnx_scatterx
from tests.engine.fuzz import float16, masked, quantized, shapes
from tests.engine.fuzz.random_models import Trial
from tests.helpers.pair import assert_same
from tests.helpers.support import assert_sound, parse, sample

_FIRST = 10**6
_COUNT = int(os.environ.get("EXAMPLES", "40"))


@pytest.mark.sampled(4, each="wanted")
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize(
    ("trial", "wanted"),
    [
        (quantized.trial, r".* [1-9]\d* removed"),
        (float16.trial, r".* [1-9]\d* removed"),
        (masked.trial, "no reads"),
        (shapes.trial, "rewritten"),
    ],
)
def test_random_models(trial: Trial, wanted: str, part: int) -> None:
    told = {seed: trial(seed)[0] for seed in range(_FIRST + part, _FIRST + _COUNT, 4)}
    assert not {seed: what for seed, what in told.items() if what.startswith("DIFFERENT")}
    assert any(re.fullmatch(wanted, what) for what in told.values())


def test_a_constant_that_is_packed() -> None:
    """Writes of constants become a constant, which a product reads."""
    rows = ", ".join(["0"] * 34)
    weights, row = (", ".join(str(n % 7 / 4) for n in range(k)) for k in (34 * 34, 34))
    model = f"""g (float[1,34] x, float[1,34] u) => (float[1,34] y, float[1,34] z)
        <int64[1,34] i = {{{rows}}}, float[34,34] w = {{{weights}}}, float[1,34] k = {{{row}}}> {{
        a = Gather (ScatterElements <axis = 0> (Sub (x, k), i, u), [0])
        b = ScatterElements <axis = 0> (ScatterElements <axis = 0> (a, i, Relu (u)), i, k)
        y = Abs (Squeeze (Unsqueeze (b, [0]), [0]))
        z = Gemm (b, w) }}"""
    assert_sound(model, left=0, target="nnapi")


def test_a_write_beside_integers_of_another_type() -> None:
    """A Concat puts a write and a DequantizeLinear of int32 together."""
    model = parse(
        """g (int16[N,2] x, int16[N,2] u, int32[1,3] v, int16[1,3] w)
        => (int16[2,4] y, float[2,4] z) {
        a = Reshape (com.microsoft.DequantizeLinear (x, float 0.3, int16 100), [2, 3])
        b = com.microsoft.DequantizeLinear (u, float 0.1, int16 100)
        c = ScatterND <reduction = "add"> (Transpose (a), [[0], [1], [2]], b)
        d = DequantizeLinear <axis = 0> (v, float [0.05])
        e = Transpose (Concat <axis = 0> (Transpose (c), d))
        f = com.microsoft.DequantizeLinear (w, float 0.1, int16 100)
        z = Transpose (ScatterND <reduction = "mul"> (e, [[0]], f))
        y = com.microsoft.QuantizeLinear (z, float 0.1, int16 0) }""",
        18,
        more=', "com.microsoft" : 1',
    )
    result = onnx_scatterx.optimize(model, target="standard", fix={"N": 3}).model
    x, u = (sample("int16", 3, 2, seed=n) for n in range(2))
    feed = {"x": x, "u": u, "v": sample("int32", 1, 3), "w": sample("int16", 1, 3)}
    assert_same(model, result, [feed])

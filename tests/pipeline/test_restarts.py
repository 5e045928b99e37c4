"""A model is rewritten again if ONNX Runtime would move quantizers past a node in the result."""

import numpy as np
import onnx.parser
import pytest

import onnx_scatterx
from onnx_scatterx import Reason
from tests.helpers.pair import assert_same
from tests.helpers.support import sample

TEXT = """<ir_version: 10, opset_import: ["" : 21]>
    g (uint8[2,4] a, uint8[2,4] b, float[M,4] x, float[2,4] u, float[K,4] v, float[2,4] w)
        => (uint8[2,4] y, float[M,4] z, float[?,4] q)
    <float s = {0.5}, uint8 zp = {3}, int64 zero = {0}, int64 one = {1}, int64[1] last = {-1},
     int64[2,1] rows = {0, 1}> {
        c = DequantizeLinear (a, s, zp)
        d = DequantizeLinear (b, s, zp)
        t = Add (c, d)
        y = QuantizeLinear (t, s, zp)
        dims = Shape (t)
        n = Gather (dims, zero)
        r = Range (zero, n, one)
        i = Unsqueeze (r, last)
        z = ScatterND (x, i, u)
        q = ScatterND (DATA, rows, w) }"""


@pytest.mark.parametrize(("data", "kept"), [("v", [True, False]), ("z", [True, True])])
def test_scatters_that_keep_a_second_reader_are_kept(data: str, kept: list[bool]) -> None:
    """Only the sizes of t lead to the first scatter: without it, t is computed in integers."""
    model = onnx.parser.parse_model(TEXT.replace("DATA", data))
    result = onnx_scatterx.optimize(model, target="standard")
    wanted = [Reason.QUANTIZER if is_kept else None for is_kept in kept]
    assert [scatter.reason for scatter in result.report.scatters] == wanted
    rng = np.random.default_rng(0)
    feed = {name: rng.integers(0, 256, (2, 4), dtype=np.uint8) for name in "ab"}
    feed |= {name: sample("float32", 3, 4) for name in "xv"}
    feed |= {name: sample("float32", 2, 4) for name in "uw"}
    assert_same(model, result.model, [feed])


def test_a_choice_between_equal_scales_is_left_to_onnxruntime() -> None:
    """A Where only moves integers, so it gives the same if quantizers are moved past it."""
    text = TEXT.replace("DATA", "v").replace("t = Add (c, d)", "t = Where (m, c, d)")
    model = onnx.parser.parse_model(text.replace("g (uint8", "g (bool[2,4] m, uint8", 1))
    report = onnx_scatterx.optimize(model, target="standard").report
    assert [scatter.reason for scatter in report.scatters] == [None, None]


def test_a_gather_of_what_is_kept_is_kept_and_another_one_is_not() -> None:
    text = TEXT.replace("q = ScatterND (DATA, rows, w)", "q = Gather (z, two) g = Gather (v, two)")
    text = text.replace("float[?,4] q)", "float[?,4] q, float[2,4] g)")
    model = onnx.parser.parse_model(text.replace("int64[1] l", "int64[2] two = {0, 1}, int64[1] l"))
    report = onnx_scatterx.optimize(model, target="standard", gathers=True).report
    told = {entry.node: entry.reason for entry in report.entries}
    assert told == {"z": Reason.QUANTIZER, "q": Reason.QUANTIZER, "g": None}


def test_only_a_result_that_is_safe_is_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: list[object] = []
    monkeypatch.setattr("onnx_scatterx.pipeline.restarts.declare_body_dims", fitted.append)
    onnx_scatterx.optimize(onnx.parser.parse_model(TEXT.replace("DATA", "v")), target="standard")
    assert len(fitted) == 1

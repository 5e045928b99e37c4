"""Reasons for another last bit, which an entry and ``verify`` name."""

import numpy as np
import onnx
import onnx.parser
import pytest

import onnx_scatterx
from onnx_scatterx.text.reasons import IN_ONNXRUNTIME, FloatReason, LastBit

HEAD = """<ir_version: 10, opset_import: ["" : 18]> g (TYPE[8,8] x, TYPE[8,8] b, TYPE[1,8] u)
    => (TYPE[8,8] y) <int64[1,1] i = {2}, int64[8,1] all = {0, 1, 2, 3, 4, 5, 6, 7}, """
HEAD += "TYPE[8,8] k = {" + ", ".join(["1"] * 64) + "}> {"
BODIES = {
    "between two nodes": (
        "float16",
        "a = Add (x, b) c = ScatterND (a, i, u) y = Mul (c, b)",
        {LastBit.FLOAT16},
    ),
    "moved between them": (
        "float16",
        "a = Add (x, b) t = Transpose (a) c = ScatterND (t, i, u) y = Mul (c, b)",
        {LastBit.FLOAT16},
    ),
    "of an input": ("float16", "c = ScatterND (x, i, u) y = Mul (c, b)", set()),
    "of float": ("float", "a = Add (x, b) c = ScatterND (a, i, u) y = Mul (c, b)", set()),
    "neighbours": (
        "float",
        "a = MatMul (x, b) c = ScatterND (x, all, a) y = Add (c, b)",
        {LastBit.FUSED},
    ),
    "an input is no neighbour": ("float", "c = ScatterND (x, all, b) y = Neg (c)", set()),
    "a product": ("float", "c = ScatterND (x, all, k) y = MatMul (c, b)", {LastBit.PACKED}),
    "no product": ("float", "c = ScatterND (x, all, k) y = Mul (c, b)", set()),
}


def model_of(case: str) -> onnx.ModelProto:
    """Return the model of a case."""
    kind, body, _ = BODIES[case]
    return onnx.parser.parse_model(HEAD.replace("TYPE", kind) + body + " }")


@pytest.mark.parametrize("case", BODIES)
def test_the_entry_names_the_reason(case: str) -> None:
    result = onnx_scatterx.optimize(model_of(case), target="standard")
    (scatter,) = result.report.scatters
    expected = {why.value for why in BODIES[case][2]}
    assert set(scatter.in_onnxruntime) == expected
    assert scatter.to_dict()["in_onnxruntime"] == list(scatter.in_onnxruntime)
    told = result.model.metadata_props
    names = {entry.value for entry in told if entry.key == IN_ONNXRUNTIME}
    assert names == ({", ".join(why.name for why in BODIES[case][2])} if expected else set())


def test_verify_names_it_if_outputs_differ() -> None:
    model = model_of("between two nodes")
    result = onnx_scatterx.optimize(model, target="standard")
    found = onnx_scatterx.verify(model, result, samples=5)
    assert found.only_rounding
    assert LastBit.FLOAT16.value in str(found)
    assert found.to_dict()["in_onnxruntime"] == [LastBit.FLOAT16.value]


def test_verify_names_what_default_options_do_to_a_model_for_another_compiler() -> None:
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 13]>
        g (int8[4,3] x, float[2,3] u) => (float[4,3] y) <float s = {0.5}, int64[2,1] i = {1, 2}> {
            a = DequantizeLinear (x, s)
            c = ScatterND (a, i, u)
            y = Neg (c) }""")
    result = onnx_scatterx.optimize(model, target="standard, onnxruntime = false")
    assert result.report.scatters[0].in_onnxruntime == (FloatReason.RETYPED.value,)
    found = onnx_scatterx.verify(model, result, samples=5, feeds=[_negative()])
    assert all(difference.fused for difference in found.differences)
    assert FloatReason.RETYPED.value in str(found)


def test_the_reasons_of_an_earlier_run_stay() -> None:
    first = onnx_scatterx.optimize(model_of("between two nodes"), target="standard").model
    again = onnx_scatterx.optimize(first, target="standard").model
    (entry,) = again.metadata_props
    assert (entry.key, entry.value) == (IN_ONNXRUNTIME, "FLOAT16")


def _negative() -> dict[str, np.ndarray]:
    return {"x": np.full((4, 3), -7, "int8"), "u": np.ones((2, 3), "float32")}

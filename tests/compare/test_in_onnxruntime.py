"""Why ONNX Runtime may compute other values of a new model: its metadata and ``verify`` name it."""

import numpy as np
import onnx
import onnx.parser

import onnx_scatterx
from onnx_scatterx.text.reasons import IN_ONNXRUNTIME, FloatReason, LastBit
from tests.helpers.support import parse

POOL = "g (float[1,2,9] x) => (float[?,?,?] y) { y = AveragePool <kernel_shape = [3]> (x) }"


def told(model: onnx.ModelProto) -> list[str]:
    """Return what the metadata of a model names."""
    return [entry.value for entry in model.metadata_props if entry.key == IN_ONNXRUNTIME]


def test_another_kernel() -> None:
    model = parse(POOL, opset=12)
    raised = onnx_scatterx.optimize(model, opset=20).model
    assert told(raised) == [LastBit.KERNEL.name]
    raised.graph.node[0].op_type = "MaxPool"
    found = onnx_scatterx.verify(model, raised, samples=2)
    assert f"a reason that the second model names: {LastBit.KERNEL}" in str(found)
    assert found.to_dict()["in_onnxruntime"] == [LastBit.KERNEL.value]


def test_what_default_options_do_to_a_model_for_another_compiler() -> None:
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 13]>
        g (int8[4,3] x, float[2,3] u) => (float[4,3] y) <float s = {0.5}, int64[2,1] i = {1, 2}> {
            a = DequantizeLinear (x, s)
            c = ScatterND (a, i, u)
            y = Neg (c) }""")
    result = onnx_scatterx.optimize(model, target="standard, onnxruntime = false")
    (scatter,) = result.report.scatters
    assert scatter.in_onnxruntime == (FloatReason.RETYPED.value,)
    assert scatter.to_dict()["in_onnxruntime"] == list(scatter.in_onnxruntime)
    assert told(result.model) == [FloatReason.RETYPED.name]
    negative = {"x": np.full((4, 3), -7, "int8"), "u": np.ones((2, 3), "float32")}
    found = onnx_scatterx.verify(model, result, samples=5, feeds=[negative])
    assert all(difference.fused for difference in found.differences)
    assert FloatReason.RETYPED.value in str(found)


def test_a_write_names_nothing() -> None:
    """Here float16 is rounded once more: docs/promise.md says where last bits may differ."""
    model = parse("""g (float16[8,8] x, float16[8,8] b, float16[1,8] u) => (float16[8,8] y) {
        a = Add (x, b) c = ScatterND (a, [[2]], u) y = Mul (c, b) }""")
    result = onnx_scatterx.optimize(model, target="standard")
    assert result.report.scatters[0].in_onnxruntime == ()
    assert not result.model.metadata_props
    assert onnx_scatterx.verify(model, result, samples=5).only_rounding


def test_the_reasons_of_an_earlier_run_stay() -> None:
    raised = onnx_scatterx.optimize(parse(POOL, opset=12), opset=20).model
    again = onnx_scatterx.optimize(raised, target="standard").model
    assert told(again) == [LastBit.KERNEL.name]

"""Flags that are neither 0 nor 1: nothing is known behind them, and no such model is changed."""

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.engine.analysis.domain.flags import FLAGS, is_meaningless
from onnx_scatterx.engine.analysis.model_analysis import interpret
from tests.helpers.judged import Judged
from tests.helpers.support import parse

ODD = (-1, 2, 1 << 31, 1 << 32, (1 << 32) + 1, -(1 << 63), (1 << 63) - 1)
NODES = {
    "keepdims": "y = ReduceSum(x, one)",
    "noop_with_empty_axes": "y = ReduceSum(x)",
    "allowzero": "y = Reshape(x, Constant<value_ints = [0, -1]>())",
    "select_last_index": "y = ArgMax(x)",
    "upper": "y = Trilu(x)",
    "largest": "y, i = TopK(x, one)",
    "ceil_mode": "z = Unsqueeze(x, one)  y = MaxPool<kernel_shape = [2], strides = [2]>(z)",
}


@pytest.mark.parametrize("flag", NODES)
@pytest.mark.parametrize("number", ODD)
def test_what_is_known(flag: str, number: int) -> None:
    model = parse(
        f"g (float[N, 3] x) => (r) <int64[1] one = {{1}}> {{ {NODES[flag]} r = Shape(y) }}"
    )
    node = next(n for n in model.graph.node if "y" in n.output)
    node.attribute.append(onnx.helper.make_attribute(flag, number))
    judged = Judged(model)
    rng = np.random.default_rng(number % 1000)
    for n in (1, 2, 5):
        judged.accepts({"x": rng.random((n, 3), np.float32)})


@pytest.mark.parametrize("target", ["standard", "qnn", "tflite"])
@pytest.mark.parametrize("number", ODD)
def test_models_stay_as_they_are(number: int, target: str) -> None:
    model = parse("""g (float[2, 3] x) => (r) <int64[1] one = {1}, int64[1, 1] i = {1}> {
        y = ReduceSum(x, one)
        u = Constant<value = float[1, 3] {4, 5, 6}>()
        z = ScatterND(x, i, u)
        r = Mul(y, z) }""")
    (gone,) = onnx_scatterx.optimize(model, target=target).report.scatters
    assert gone.action.value == "removed"
    flag = onnx.helper.make_attribute("keepdims", number)
    model.graph.node[0].attribute.append(flag)
    (kept,) = onnx_scatterx.optimize(model, target=target).report.scatters
    assert kept.action.value == "kept"
    assert "neither 0 nor 1" in str(kept)


@pytest.mark.parametrize(("number", "rank"), [(0, 1), (1, 2), (2, None)])
def test_through_a_function(number: int, rank: int | None) -> None:
    model = ir.from_onnx_text(f"""<ir_version: 9, opset_import: ["" : 18, "own" : 1]>
        g (float[N, 3] x) => (float[?] y) {{ y = own.total <keeps = {number}> (x) }}
        <domain: "own", opset_import: ["" : 18]> total <keeps> (x) => (y) {{
            one = Constant <value_ints = [1]> ()
            y = ReduceSum <keepdims: int = @keeps> (x, one) }}""")
    (node,) = model.graph
    assert interpret(model).values[node.outputs[0]].rank == rank


def test_they_are_attributes_of_operators() -> None:
    of_operators = {
        name
        for schema in onnx.defs.get_all_schemas()
        for name, attribute in schema.attributes.items()
        if attribute.type == onnx.defs.OpSchema.AttrType.INT
    }
    assert of_operators >= FLAGS
    assert not is_meaningless(ir.AttrString("sorted", "yes"))


@pytest.mark.parametrize("auto", ["SAME_LOWER", "SAME_UPPER", "VALID", "NOTSET"])
@pytest.mark.parametrize(
    "node", ["y = MaxPool", "y, i = MaxPool", "y = AveragePool", "y = LpPool", "y = Conv"]
)
def test_pads_beside_auto_pad(auto: str, node: str) -> None:
    inputs = "(x, w)" if "Conv" in node else "(x)"
    kernel = f'<auto_pad = "{auto}", kernel_shape = [3], pads = [2, 1], strides = [3]>'
    model = parse(f"g (float[1, 1, 3] x, float[1, 1, 3] w) => (y) {{ {node} {kernel} {inputs} }}")
    feed = {"x": np.ones((1, 1, 3), np.float32), "w": np.ones((1, 1, 3), np.float32)}
    assert Judged(model).accepts(feed) or ("Conv" in node and auto != "NOTSET")

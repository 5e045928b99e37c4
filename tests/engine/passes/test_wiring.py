"""The wiring of a model: which node reads which value, before nodes are removed."""

import onnx_ir as ir

from onnx_scatterx.engine.passes.wiring import Wiring
from onnx_scatterx.graphs.inventory import Inventory

TEXT = """<ir_version: 8, opset_import: ["" : 18]>
    g (float[2] x, bool c) => (float[2] y) <float[2] w = {1, 2}> {
        a = Add (x, w)
        k = Constant <value = float[2] {3, 4}> ()
        b = If (c) <then_branch = t () => (float[2] p) { p = Mul (a, k) },
                    else_branch = e () => (float[2] q) { q = Neg (a) }>
        y = Abs (b) }"""


def test_it_outlives_the_model() -> None:
    model = ir.from_onnx_text(TEXT)
    wiring = Wiring.of(Inventory(model))
    nodes = list(wiring.nodes)
    (a,) = nodes[0].outputs
    for node in [n for n in model.graph if n.op_type in ("Abs", "If")]:
        model.graph.outputs.clear()
        for value in node.outputs:
            value.name = "other"
        model.graph.remove(node, safe=False)
    assert [wired.op for wired in wiring.nodes.values()] == [
        *("Add", "Constant", "If", "Abs", "Mul", "Neg")
    ]
    assert {wiring.nodes[n].op for n in wiring.readers[a]} == {"Mul", "Neg"}
    assert wiring.makers[a].op_type == "Add"
    assert "b" in wiring.names.values()
    assert {v.name for v in wiring.constants} == {"w", "k"}


def test_an_initializer_that_is_an_input_is_not_a_constant() -> None:
    text = TEXT.replace("bool c)", "bool c, float[2] w)")
    model = ir.from_onnx_text(text)
    assert {v.name for v in Wiring.of(Inventory(model)).constants} == {"k"}

"""Functions that run in the place of ScatterX: an answer tells them from its kernel."""

import numpy as np
import onnx
import onnx.parser

from tests.helpers.proving import prove
from tests.helpers.support import parse
from tests.proof.differing_run import floats, outcome, unproven

SCATTERX = """<ir_version: 10, opset_import: ["" : 18, "onnx_scatterx" : 1, "onnx_scatterx.2" : 1]>
    g (float[4] x, int64[1, 1] i, float[1] u) => (float[4] y) {
        y = onnx_scatterx.ScatterX <p1 = [0], p2 : ints = [], p = [0], unique = 1> (x, i, u) }
    <domain: "onnx_scatterx", opset_import: ["" : 18, "onnx_scatterx.2" : 1]>
    ScatterX (a, t, v) => (b) { BODY }
    <domain: "onnx_scatterx.2", opset_import: ["" : 18]> ScatterX (a, t, v) => (b) { b = Neg(a) }"""
ND = "g (float[4] x, int64[1, 1] i, float[1] u) => (float[4] y) { y = ScatterND(x, i, u) }"
HEAD = '<ir_version: 10, opset_import: ["" : 18, "{0}" : 1]> g (float[N] x) => (float[N] y)'


def test_a_function_takes_what_the_kernel_refuses() -> None:
    body = """k = Constant <value = int64[4] {0, 1, 2, 3}> () o = Constant <value_ints = [1]> ()
        z = Constant <value_ints = [0]> () f = Constant <value_ints = [4]> ()
        w = Reshape(t, o) n = Less(w, z) m = Add(w, f) i = Where(n, m, w)
        h = Equal(k, i) b = Where(h, v, a)"""
    one = onnx.parser.parse_model(SCATTERX.replace("BODY", body))
    del one.functions[1]
    feed = {"x": floats(4), "i": np.array([[9]]), "u": floats(1)}
    assert outcome(one, feed)
    assert not outcome(parse(ND), feed)
    assert not prove(one, parse(ND)).proven


def test_a_function_that_calls_another_scatterx() -> None:
    """The function of that one runs, too, if the library is not there."""
    nested = onnx.parser.parse_model(
        SCATTERX.replace(
            "BODY", "b = onnx_scatterx.ScatterX <p1 = [0], p2 : ints = [], p = [0]> (a, t, v)"
        )
    )
    nested.functions[0].node[0].domain = "onnx_scatterx.2"
    feed = {"x": floats(4), "i": np.array([[1]]), "u": floats(1)}
    assert outcome(parse(ND), feed) != outcome(nested, feed)
    assert prove(parse(ND), nested).kind == "proven for the kernel"


def test_a_function_in_both_models() -> None:
    """It may take more than the kernel, and is the same all the same."""
    for body in ("b = Neg(a)", "k = Constant <value = int64[1, 1] {1}> () b = ScatterND(a, k, v)"):
        one, other = (
            onnx.parser.parse_model(SCATTERX.replace("BODY", body).replace("= Neg", f"= {op}"))
            for op in ("Neg", "Abs")
        )
        assert prove(one, one).proven
        kind = "proven" if "Neg" not in body else "proven for the kernel"
        assert prove(one, other).kind == kind


def test_a_scatterx_within_a_branch() -> None:
    """The branches are alike, and their functions differ."""
    text = SCATTERX.replace("float[1] u) =>", "float[1] u, bool c) =>")
    text = text.replace("y = ", "y = If (c) <then_branch = t () => (float[4] s) { s = ")
    text = text.replace(
        "(x, i, u) }",
        "(x, i, u) }, else_branch = e () => (float[4] r) { r = Neg (x) }> }",
    )
    one, other = (
        onnx.parser.parse_model(text.replace("BODY", f"b = {op}(a)")) for op in ("Neg", "Abs")
    )
    (verdict,) = prove(one, other).outputs.values()
    assert (verdict.kind, verdict.why) == ("unknown", "ScatterX within a subgraph")


def test_a_domain_without_a_kernel() -> None:
    """The library has the first eight domains; in others, a function of this name always runs."""
    model = onnx.parser.parse_model(SCATTERX.replace("BODY", "b = Neg(a)"))
    del model.functions[1]
    model.opset_import[2].domain = "onnx_scatterx.9"
    model.functions[0].domain = model.graph.node[0].domain = "onnx_scatterx.9"
    unproven(parse(ND), model, {"x": floats(4), "i": np.array([[1]]), "u": floats(1)})


def test_more_axes_than_the_kernel_takes() -> None:
    dims, places = ", ".join(["1"] * 16 + ["4"]), ", ".join(map(str, range(17)))
    text = f"""g (float[{dims}] x, int64[1, 17] i, float[1] u) => (float[{dims}] y) {{
        y = NODE(x, i, u) }}"""
    node = f"onnx_scatterx.ScatterX <p1 = [0], p2 : ints = [], p = [{places}]>"
    other = parse(text.replace("NODE", node), more=', "onnx_scatterx" : 1')
    assert not prove(parse(text.replace("NODE", "ScatterND")), other).proven


def test_functions_beside_that_of_scatterx() -> None:
    """The kernel replaces the function ScatterX only."""
    text = (
        HEAD.format("onnx_scatterx")
        + """{{ y = onnx_scatterx.Other(x) }}
        <domain: "onnx_scatterx", opset_import: ["" : 18]> Other (a) => (b) {{ b = {}(a) }}"""
    )
    text = text.replace("{{", "{").replace("}}", "}")
    one, other = (onnx.parser.parse_model(text.replace("{}", op)) for op in ("Neg", "Abs"))
    unproven(one, other, {"x": floats(4)})
    assert prove(one, parse("g (float[N] x) => (float[N] y) { y = Neg(x) }")).proven

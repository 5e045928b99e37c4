"""Scatters that stay lose ``reduction = "none"``, which says nothing."""

import onnx_ir as ir

import onnx_scatterx
from onnx_scatterx import passes
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.fitting.drop_default_reductions import DropDefaultReductions
from tests.helpers.support import parse


def read(text: str) -> ir.Model:
    return ir.from_proto(parse(text))


def test_default_reductions_are_left_out_of_scatters_that_stay() -> None:
    """In every graph, whatever else is done; other reductions are kept."""
    text = """g (float[4, 2] x, int64[3, 1] i, float[3, 2] u, bool c, int64[3, 2] j)
        => (float[4, 2] z) {
        b = ScatterND <reduction = "add"> (ScatterND <reduction = "none"> (x, i, u), i, u)
        z = If (c) <
            then_branch = yes () => (float[4, 2] t) {
                t = ScatterElements <axis = 0, reduction = "none"> (b, j, u) },
            else_branch = no () => (float[4, 2] e) { e = Neg (b) }> }"""
    model = read(text)
    assert DropDefaultReductions.run(Job(model))
    assert not DropDefaultReductions.run(Job(model))
    found = [
        node.attributes["reduction"].as_string()
        for graph in (model.graph, *model.graph.subgraphs())
        for node in graph
        if "reduction" in node.attributes
    ]
    assert found == ["add"]
    result = onnx_scatterx.optimize(parse(text), target="standard")
    assert "none" not in str(result.model)


def test_a_pass_that_changes_an_attribute_says_so() -> None:
    """ScatterElements of unknown indices is kept, and loses the attribute that says nothing."""
    model = read("""g (float[4, 2] x, int64[3, 2] i, float[3, 2] u) => (float[4, 2] y) {
        y = ScatterElements <reduction = "none"> (x, i, u) }""")
    drop = passes.DropDefaultReductions(target="standard")
    assert drop(model).modified
    assert not drop(model).modified
    assert not passes.LowerScatters(target="standard", rules=["view"])(model).modified

"""A node of which only the shape is read: ONNX Runtime may remove it, and then checks nothing."""

import pytest

import onnx_scatterx
from tests.helpers.support import assert_sound, parse

HEAD = '<ir_version: 10, opset_import: ["" : 18, "f" : 1]>'
OF_SHAPE = """
<domain: "f", opset_import: ["" : 18, "f" : 1]> Full (a, b) => (c) {
    s = f.Inner (a)  c = Expand (b, s) }
<domain: "f", opset_import: ["" : 18]> Inner (a) => (s) { n = Neg (a)  s = Shape (n) }"""
NEGATED = '<domain: "f", opset_import: ["" : 18]> Negated (a) => (c) { c = Neg (a) }'


def _model(z: str, functions: str = "") -> str:
    """The first three rows are replaced, or all if there are fewer."""
    return f"""{HEAD} g (float[N, 4] x) => (float[N, 4] y, float[A, B] z) {{
        z = {z}
        k = Slice (x, [0], [3])
        n = Squeeze (Shape <start = 0, end = 1> (k))
        i = Unsqueeze (Range (0, n, 1), [-1])
        y = ScatterND (x, i, Expand (float 5, Shape (k))) }} {functions}"""


@pytest.mark.parametrize(
    ("z", "functions"),
    [
        ("Expand (float 1, Shape (Gather (x, [3])))", ""),
        ("Expand (float 1, Shape (Neg (GatherND (x, [[3], [0]]))))", ""),
        ("Expand (float 1, Shape (Add (Gather (x, [3, 2]), Gather (x, [[0, 3]]))))", ""),
        ("f.Full (Gather (x, [3]), float 1)", OF_SHAPE),
    ],
)
def test_its_check_proves_nothing(z: str, functions: str) -> None:
    model = parse(_model(z, functions))
    assert_sound(model, {"N": 5}, {"N": 2}, left=0, rejected=1)
    onnx_scatterx.optimize(model, fix={"N": 2})


@pytest.mark.parametrize(
    ("z", "functions"), [("Gather (x, [3])", ""), ("f.Negated (Gather (x, [3]))", NEGATED)]
)
def test_the_check_of_what_is_read_proves_something(z: str, functions: str) -> None:
    graph = onnx_scatterx.optimize(parse(_model(z, functions)), target="standard").model.graph
    assert all(node.op_type != "Shape" for node in graph.node)  # there are three rows

"""A node of which only the shape is read: ONNX Runtime may remove it, and then checks nothing."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest

import onnx_scatterx
from tests.helpers.support import assert_sound, parse, sample

HEAD = '<ir_version: 10, opset_import: ["" : 18, "f" : 1]>'
OF_SHAPE = """
<domain: "f", opset_import: ["" : 18, "f" : 1]> Full (a, b) => (c) {
    s = f.Inner (a)  c = Expand (b, s) }
<domain: "f", opset_import: ["" : 18]> Inner (a) => (s) { n = Neg (a)  s = Shape (n) }"""
NEGATED = '<domain: "f", opset_import: ["" : 18]> Negated (a) => (c) { c = Neg (a) }'


def _model(z: str, functions: str = "") -> str:
    """The first three rows are replaced, or all if there are fewer."""
    return f"""{HEAD} g (float[N, 4] x, float[N, M] w) => (float[N, 4] y, float[A, B] z) {{
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
    assert_sound(model, {"N": 5, "M": 2}, {"N": 2, "M": 3}, left=0, rejected=1)
    onnx_scatterx.optimize(model, fix={"N": 2})


@pytest.mark.parametrize(
    ("z", "functions"),
    [
        ("Gather (x, [3])", ""),
        ("f.Negated (Gather (x, [3]))", NEGATED),
        ("Expand (float 1, Shape (Neg (Gather (w, [3]))))", ""),  # M is not known sooner
    ],
)
def test_the_check_of_what_is_read_proves_something(z: str, functions: str) -> None:
    graph = onnx_scatterx.optimize(parse(_model(z, functions)), target="standard").model.graph
    shapes = [node for node in graph.node if node.op_type == "Shape"]
    assert len(shapes) == z.count("Shape")  # none asks how many rows there are


def test_a_size_that_is_declared_as_a_number_is_known_before_the_run() -> None:
    text = _model("Expand (float 1, Shape (Neg (t)))").replace("z =", "t = Gather (w, [3])  z =")
    model = parse(text)
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("t", 1, [1, 3]))
    optimized = onnx_scatterx.optimize(model, target="standard").model
    feeds = {"x": sample("float32", 2, 4), "w": sample("float32", 2, 3)}
    one, other = (
        ort.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"])
        for m in (model, optimized)
    )
    assert all(map(np.array_equal, one.run(None, feeds), other.run(None, feeds)))

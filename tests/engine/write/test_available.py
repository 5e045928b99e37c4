"""The values of a graph that depend on values that may be removed."""

import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.write.available import descendants, scalar_load


def test_counts_are_exact_up_to_a_limit() -> None:
    """Every value of a long chain depends on all before it: they are not all listed for each."""
    length = 40
    body = "".join(f"y{i + 1} = Add (y{i}, x)\n" for i in range(length))
    model = ir.from_onnx_text(f"""<ir_version: 8, opset_import: ["" : 18]>
        g (float[N] x, float[N] y0) => (float[N] y{length}) {{ {body} }}""")
    values = [node.outputs[0] for node in model.graph]
    removed = {v for i, v in enumerate(values) if i % 2 == 0}  # y1, y3, ...
    found = descendants(model.graph, removed)
    assert [v for v in values if v in found] == values[1::2]
    assert [found[v] for v in values[1::2]] == [min(i + 1, 16) for i in range(length // 2)]


def test_two_ways_from_one_value_count_once() -> None:
    model = ir.from_onnx_text("""<ir_version: 8, opset_import: ["" : 18]>
        g (float[N] x) => (float[N] z, float[N] w) {
            a = Abs (x)  b = Neg (a)  c = Exp (a)  z = Add (b, c)  w = Sin (x) }""")
    values = {v.name: v for node in model.graph for v in node.outputs}
    found = descendants(model.graph, {values["a"]})
    assert {v.name: count for v, count in found.items()} == {"b": 1, "c": 1, "z": 1}


@pytest.mark.parametrize(
    ("least", "most", "is_read"), [(0, 0, True), (0, 9, True), (-1, 1, True), (1, 9, False)]
)
def test_an_element_that_may_not_exist_is_read_if_it_may_be_zero(
    least: int, most: int, is_read: bool
) -> None:
    """An empty tensor gives a 0 in its place, which must not contradict what is known of it."""
    model = ir.from_onnx_text("""<ir_version: 8, opset_import: ["" : 18]>
        g (int64[N] x) => (int64[N] y) { y = Neg (x) }""")
    scope = interpret(model).scopes[model.graph]
    elements = scope.of(model.graph.inputs[0]).index_map
    assert elements is not None
    first = elements.at({0: 0})
    scope.facts.add([first - least, most - first])
    (leaf,) = first.leaves()
    load = scalar_load(leaf, scope)
    assert (load is not None) == is_read
    assert load is None or load.padded

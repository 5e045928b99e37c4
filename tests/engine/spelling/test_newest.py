"""New nodes are written in the newest spelling, and read in that of their operator set."""

import numpy as np
import onnx.defs
import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.spelling import Known, NoSpelling, Spelling, in_set, is_settled
from onnx_scatterx.engine.spelling.newest import NEWEST
from onnx_scatterx.engine.write.fragment import Fragment
from onnx_scatterx.engine.write.writer import Writer
from onnx_scatterx.graphs.cleanup import Names
from onnx_scatterx.text.reasons import Refusal
from tests.helpers.support import parse

X = ir.Value(name="x", type=ir.TensorType(ir.DataType.FLOAT))
ONE = np.array([1])


class OfFloats(Known):
    """Values are matrices of float."""

    def types(self, value: ir.Value) -> set[str]:
        return {"tensor(float)"}

    def shape(self, value: object) -> list[int | None]:
        return [2, None]


NODES = {
    "Concat": Spelling("Concat", (X, X), {"axis": ir.AttrInt64("axis", 0)}),
    "Cast": Spelling("Cast", (X,), {"to": ir.AttrInt64("to", 1)}),
    "Gather": Spelling("Gather", (X, ONE), {"axis": ir.AttrInt64("axis", -1)}),
    "Slice": Spelling("Slice", (X, ONE, ONE, ONE)),
    "step": Spelling("Slice", (X, ONE, ONE, ONE, np.array([2]))),
    "bounds": Spelling("Slice", (X, X, X, ONE)),
    "Unsqueeze": Spelling("Unsqueeze", (X, ONE)),
    "ReduceMax": Spelling("ReduceMax", (X, ONE), {"keepdims": ir.AttrInt64("keepdims", 0)}),
    "Pad": Spelling("Pad", (X, np.array([0, 0, 1, 1]), np.array(7, np.float32))),
    "Shape": Spelling("Shape", (X,), {"start": ir.AttrInt64("start", 1)}),
    "dim": Spelling("Shape", (X,), {n: ir.AttrInt64(n, i) for i, n in enumerate(("start", "end"))}),
    "allowzero": Spelling("Reshape", (X, np.array([0, 4])), {"allowzero": ir.AttrInt64("n", 1)}),
    "GatherND": Spelling("GatherND", (X, ONE), {"batch_dims": ir.AttrInt64("batch_dims", 1)}),
    "Range": Spelling("Range", (ONE, ONE, ONE)),
}
OLDEST = {"step": 10, "bounds": 10, "allowzero": 14, "GatherND": 12, "Range": 11}


@pytest.mark.parametrize("name", NODES)
def test_each_set_has_the_node_or_says_which_one_it_needs(name: str) -> None:
    node = NODES[name]
    for version in range(9, onnx.defs.onnx_opset_version() + 1):
        found = in_set(node, version, OfFloats())
        if version < OLDEST.get(name, 0):
            assert isinstance(found, NoSpelling)
            assert found.last == OLDEST[name]
            continue
        assert isinstance(found, Spelling)
        schema = onnx.defs.get_schema(found.op_type, version, "")
        assert found.attributes.keys() <= schema.attributes.keys()
        assert schema.min_input <= len(found.inputs) <= schema.max_input
        assert found.is_same(node) or not is_settled(node.op_type, version, (*node.attributes,))
    assert in_set(node, NEWEST, Known()) is node


def test_a_settled_node_is_the_same_in_its_set() -> None:
    settled = 0
    for name in {schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain}:
        node = Spelling(name, (X, X))
        for version in range(9, onnx.defs.onnx_opset_version() + 1):
            if onnx.defs.has(name, max_inclusive_version=NEWEST) and is_settled(name, version, ()):
                found = in_set(node, version, Known())
                assert isinstance(found, Spelling), (name, version)
                assert found.is_same(node), (name, version)
                settled += 1
    assert settled > 1000


def test_a_node_of_the_model_is_written_in_the_spelling_of_its_set() -> None:
    """A form repeats a node of the model, and its axes are an attribute before set 18."""
    text = "g (int32[2, 3] x) => (int32[2] y) { y = ReduceMax <axes = [1], keepdims = 0> (x) }"
    model = ir.from_proto(parse(text, opset=17))
    graph = model.graph
    writer = Writer(graph, interpret(model).scopes[graph], Names(model), constant_nodes=False)
    x, kind = graph.inputs[0], ir.DataType.INT32

    def both() -> ir.Value:
        repeated = writer.spelled_node("ReduceMax", [x], kind, axes=[1], keepdims=0)
        assert writer.reduce("ReduceMax", x, kind, 1) is repeated
        return repeated

    with writer.graph.at(graph[0]):
        made = writer.fragment_of(both)
        assert isinstance(made, Fragment)
        assert made.cost == 1
        committed = writer.graph.commit(made)
        assert not graph.initializers
        assert list(committed.nodes[0].attributes) == ["axes", "keepdims"]
        wrong = writer.fragment_of(
            lambda: writer.node("ReduceMax", [x], kind, axes=[1], keepdims=0)
        )
        assert isinstance(wrong, Refusal)

"""What ONNX Runtime makes a constant of under its default options, and what it merges."""

import onnx_ir as ir
import pytest

from onnx_scatterx.fitting.runtime_fusions import fusions
from onnx_scatterx.fitting.runtime_graph import RuntimeGraph
from onnx_scatterx.graphs.inventory import Inventory
from tests.helpers.support import parse


@pytest.mark.parametrize(("dims", "is_constant"), [("3,4", True), ("N,4", False), ("N,M", False)])
def test_a_shape_is_a_constant_if_all_its_sizes_are_declared(dims: str, is_constant: bool) -> None:
    model = ir.from_proto(parse(f"g (float[{dims}] x) => (int64[2] y) {{ y = Neg (Shape (x)) }}"))
    graph = RuntimeGraph([model.graph], frozenset())
    assert graph.is_constant(model.graph.outputs[0]) == is_constant


def test_equal_nodes_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    key = RuntimeGraph._key

    def noted(self: RuntimeGraph, node: ir.Node) -> object:
        asked.append(node)
        return key(self, node)

    monkeypatch.setattr(RuntimeGraph, "_key", noted)
    ranges = "".join(f"r{i} = Range (0, n, 1)  y{i} = Gather (r{i}, at)" for i in range(9))
    outputs = ", ".join(f"int64[K] y{i}" for i in range(9))
    model = parse(f"g (int64 n, int64[K] at) => ({outputs}) {{ {ranges} }}")
    fusions(Inventory(ir.from_proto(model)))
    assert len(asked) == len(set(asked)) > 0

"""What ONNX Runtime makes a constant of under its default options."""

import onnx_ir as ir
import pytest

from onnx_scatterx.engine.passes.runtime_graph import RuntimeGraph
from tests.helpers.support import parse


@pytest.mark.parametrize(("dims", "is_constant"), [("3,4", True), ("N,4", False), ("N,M", False)])
def test_a_shape_is_a_constant_if_all_its_sizes_are_declared(dims: str, is_constant: bool) -> None:
    model = ir.from_proto(parse(f"g (float[{dims}] x) => (int64[2] y) {{ y = Neg (Shape (x)) }}"))
    graph = RuntimeGraph([model.graph], frozenset())
    assert graph.is_constant(model.graph.outputs[0]) == is_constant

"""Reshapes between shapes of sizes, any of which may be 0: a 0 in a shape may copy a dim."""

from functools import partial
from itertools import product
from math import prod

import numpy as np
import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.terms import term
from onnx_scatterx.engine.write.available import AvailableValues
from onnx_scatterx.engine.write.reshape import reshape
from onnx_scatterx.engine.write.terms import TermEmitter
from onnx_scatterx.engine.write.writer import Writer
from onnx_scatterx.graphs.cleanup import Names
from onnx_scatterx.targets.target import Target
from onnx_scatterx.text.reasons import Refusal, RefusedError
from tests.helpers.support import parse, run

SHAPES = {  # with the sizes that the new dims multiply
    "2,A,B": [["2", "AB"], ["2A", "B"], ["2AB"], ["A", "2", "B"]],
    "A,B": [["AB"], ["1", "A", "B"], ["A", "1", "B"]],
    "A,B,2": [["A", "2B"], ["AB", "2"]],
    "A,2,B": [["2A", "B"], ["A", "2B"]],
    "A,B,A": [["AB", "A"], ["A", "AB"]],
}


@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize("old", SHAPES)
def test_every_size_may_be_0(old: str, opset: int) -> None:
    for new in SHAPES[old]:
        text = f"g (float[{old}] x, float[A] a, float[B] b) => (float[?] y) {{ y = Identity (x) }}"
        model = ir.from_proto(parse(text, opset=opset))
        graph = model.graph
        scope = interpret(model).scopes[graph]
        writer = Writer(graph, scope, Names(model), constant_nodes=False)
        x, a, b = (scope.of(v).dims for v in graph.inputs)
        sizes = {"A": a[0], "B": b[0], "1": term(1), "2": term(2)}
        dims = tuple(prod((sizes[c] for c in dim), start=term(1)) for dim in new)
        with writer.graph.at(graph[-1]):
            numbers = TermEmitter(writer, scope, AvailableValues(graph, scope, ()))
            try:
                arguments = (numbers, graph.inputs[0], ir.DataType.FLOAT, x, dims, scope.facts)
                found = writer.write(partial(reshape, *arguments))
            except RefusedError:
                assert opset < 14
                continue
        found.dtype = ir.DataType.FLOAT
        graph.outputs[0] = found
        for given in product((0, 1, 3), repeat=2):
            at = dict(zip("AB", given, strict=True)) | {"1": 1, "2": 2}
            data = np.zeros([at[c] for c in old.split(",")], np.float32)
            feed = {"x": data, "a": np.zeros(at["A"], "f"), "b": np.zeros(at["B"], "f")}
            wanted = [prod(at[c] for c in dim) for dim in new]
            assert list(run(ir.to_proto(model), feed)[0].shape) == wanted, (old, new, given)


def test_sizes_that_are_not_0_are_copied() -> None:
    """What is 1 or more is 0 in the new shape: of two sizes, one is read."""
    model = ir.from_proto(parse("g (float[A,B] x) => (float[A,B] y) { y = Identity (x) }"))
    scope = interpret(model).scopes[model.graph]
    writer = Writer(model.graph, scope, Names(model), constant_nodes=False)
    a, b = scope.of(model.graph.inputs[0]).dims
    with writer.graph.at(model.graph[-1]):
        numbers = TermEmitter(writer, scope, AvailableValues(model.graph, scope, ()))
        old, new = (a + 1, b + 1, term(2)), (a + 1, (b + 1) * 2)
        arguments = (numbers, model.graph.inputs[0], ir.DataType.FLOAT, old, new, scope.facts)
        found = writer.fragment_of(partial(reshape, *arguments))
    assert not isinstance(found, Refusal)
    assert [op for op, _ in found.steps.values()].count("Shape") == 1


def test_sizes_that_the_target_cannot_compute() -> None:
    """Two dims are joined, of which only a Shape knows the size."""
    model = ir.from_proto(
        parse("g (float[4,A,2] x) => (float[4,B] y) { y = Reshape (x, [4, -1]) }")
    )
    scope = interpret(model).scopes[model.graph]
    target = Target("npu", avoid=frozenset({"Shape"}))
    writer = Writer(model.graph, scope, Names(model), constant_nodes=False, target=target)
    (x,), (y,) = model.graph.inputs, model.graph.outputs
    old, new = scope.of(x).dims, scope.of(y).dims
    with writer.graph.at(model.graph[-1]):
        numbers = TermEmitter(writer, scope, AvailableValues(model.graph, scope, ()))
        arguments = (numbers, x, ir.DataType.FLOAT, old, new, scope.facts)
        found = writer.fragment_of(partial(reshape, *arguments))
    assert str(found).endswith("(Shape for npu)")

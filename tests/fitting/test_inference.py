"""Shapes that ONNX infers in a copy of a model, and what is noted of them."""

import numpy as np
import onnx_ir as ir
import pytest

from onnx_scatterx.fitting.declared_dims import declare_body_dims, note_body_dims
from onnx_scatterx.fitting.inference import inferred
from onnx_scatterx.graphs import graphs_of
from onnx_scatterx.graphs.inventory import Inventory
from tests.helpers.support import parse, run


@pytest.mark.parametrize("step", [-(2**63), -(2**40), -2, 2, 2**40, 2**63 - 1])
@pytest.mark.parametrize("ends", ["[0], [7]", "[-1], [-MAX]", "[3], [-MAX]", "[3], [7]"])
def test_a_step_of_64_bits_takes_the_same_elements(ends: str, step: int) -> None:
    model = parse(f"g (float[7] x) => (float[N] y) {{ y = Slice (x, {ends}, [0], [{step}]) }}")
    (taken,) = run(model, {"x": np.zeros(7, np.float32)})
    copy = inferred(ir.from_proto(model))
    (found,) = (node.outputs[0] for node in copy.graph if node.op_type == "Slice")
    assert found.shape == ir.Shape(taken.shape)


def test_a_shape_that_is_constant_is_followed_into_each_body() -> None:
    """As by ONNX Runtime, and not by ONNX, which knows the constants of the same graph alone."""
    model = ir.from_proto(
        parse("""g (float[N] x, bool c) => (float[A, B] y) {
            y = If (c) <then_branch = t () => (float[A, B] p) { p = Reshape (x, [2, -1]) },
                        else_branch = e () => (float[A, B] q) { q = Reshape (x, [2, -1]) }> }""")
    )
    shapes = [body.outputs[0].shape for body in graphs_of(inferred(model).graph[0])]
    assert [shape and shape[0] for shape in shapes] == [2, 2]


def test_what_was_noted_of_a_body_is_forgotten_if_it_is_not_noted_again() -> None:
    """Notes stay if a model cannot be written; it may change before it is written again."""
    model = ir.from_proto(
        parse("""g (float[4] x, int64 n) => (float[4] y, float[A, B] z) {
            y, z = Loop (n, , x) <body = b (int64 i, bool on, float[4] s)
                => (bool go, float[4] t, float[?] w) {
                go = Identity (on)  t = Neg (s)  w = Abs (s) }> }""")
    )
    (body,) = graphs_of(model.graph[0])
    note_body_dims(Inventory(model))
    model.graph[0].replace_input_with(0, ir.Value(name="two", const_value=ir.tensor(2)))
    note_body_dims(Inventory(model))
    declare_body_dims(Inventory(model))
    assert body.outputs[2].shape == ir.Shape([None])

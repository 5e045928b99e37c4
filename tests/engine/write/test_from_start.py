"""Positions that count from the end, for targets that misread them: the same elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import onnx_scatterx
from tests.helpers.examples import examples
from tests.helpers.pair import assert_same
from tests.helpers.support import parse

_KINDS = {"int64": TensorProto.INT64, "int32": TensorProto.INT32}


@examples(150)
@given(st.data())
def test_any_positions(data: st.DataObject) -> None:
    """Constant or of the run, in any order, more than once, or none: all are taken then."""
    draw = data.draw
    op = draw(st.sampled_from(["Gather", "GatherElements", "GatherND", "ScatterElements"]))
    op = draw(st.sampled_from([op, "ScatterND"]))
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    rows = draw(st.integers(0, 3))
    limit = shape[axis]
    attributes: dict[str, Any] = {"axis": axis}
    if op.endswith("ND"):
        columns = draw(st.integers(1, len(shape)))
        dims, attributes = [rows, columns], {}
        limits = np.array(shape[:columns])
        moved = [rows, *shape[columns:]]
    else:
        dims = [rows] if op == "Gather" else [*shape[:axis], rows, *shape[axis:][1:]]
        limits, moved = np.array(limit), dims
    kind = "int64" if op.endswith("ND") else draw(st.sampled_from(["int64", "int32"]))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 20)))
    scatters = op.startswith("Scatter")
    if scatters:
        attributes["reduction"] = "add" if draw(st.booleans()) else "none"
    inputs = ["x", "i", "u"] if scatters else ["x", "i"]
    given_at = [(rng.random(dims) * 2 * limits).astype(kind) - limits.astype(kind) for _ in "abc"]
    is_constant = draw(st.booleans())
    nodes = [
        helper.make_node(op, inputs, ["y"], **attributes),
        helper.make_node("ScatterND", ["x", "first", "x1"], ["z"]),
    ]
    floats = {"x": shape, "x1": [1, *shape[1:]], **({"u": moved} if scatters else {})}
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in floats.items()]
    constants = [numpy_helper.from_array(np.array([[0]]), "first")]
    if is_constant:
        constants.append(numpy_helper.from_array(given_at[0], "i"))
    else:
        values.append(helper.make_tensor_value_info("i", _KINDS[kind], dims))
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in "yz"]
    graph = helper.make_graph(nodes, "g", values, outputs, constants)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 18)])
    target = f'standard, avoid = ["NonZero"], limits.{op}.negative = false'
    result = onnx_scatterx.optimize(model, target=target)
    feeds = []
    for at in given_at:
        feed = {n: rng.random(s).astype(np.float32) for n, s in floats.items()}
        feeds.append(feed if is_constant else {**feed, "i": at})
    assert_same(model, result.model, feeds)
    assert result.report.violations == ()


def test_a_proof_that_is_found_on_trial_alone() -> None:
    """A fragment has symbols of its own: with them, positions may be known to be from 0 on."""
    model = parse(
        """g (uint8[9] x, int64[9,1] j, uint8[9] v, int64[9] i, uint8[9] u) => (uint8[K] y) {
            first = ScatterND (x, j, v)
            shape = Shape (first)  rest = Slice (shape, [1], [9])
            row = Concat <axis = 0> ([1], rest)  none = Expand (uint8 0, row)
            s = ScatterND (Concat <axis = 0> (first, none), Unsqueeze (i, [-1]), u)
            y = Slice (s, [0], [-1], [0]) }""",
        13,
    )
    rng = np.random.default_rng(0)
    a = np.arange(9, dtype=np.uint8)
    result = onnx_scatterx.optimize(model, target="sophgo").model
    assert_same(
        model,
        result,
        [
            {
                "x": a,
                "j": rng.integers(-9, 9, (9, 1)),
                "v": a + 7,
                "i": rng.integers(-10, 10, 9),
                "u": a + 20,
            }
        ],
    )


@examples(60)
@given(st.data())
def test_elements_at_constant_indices(data: st.DataObject) -> None:
    """Rows that are alike are not repeated: one Gather takes the elements of all of them."""
    draw = data.draw
    shape = draw(st.lists(st.integers(1, 4), min_size=3, max_size=4))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    dims = [draw(st.integers(1, n)) for n in shape]
    dims[axis] = draw(st.integers(1, 5))
    seed, alike = draw(st.integers(0, 99)), draw(st.integers(0, len(shape)))
    rng = np.random.default_rng(seed)
    own = [1 if d < alike else n for d, n in enumerate(dims)]
    indices = np.broadcast_to(rng.integers(-shape[axis], shape[axis], own), dims)
    node = helper.make_node("GatherElements", ["x", "i"], ["y"], axis=axis)
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
        for name, sizes in (("x", shape), ("y", dims))
    ]
    at = numpy_helper.from_array(np.ascontiguousarray(indices), "i")
    graph = helper.make_graph([node], "g", values[:1], values[1:], [at])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    result = onnx_scatterx.optimize(model, target="rknn")
    assert result.report.violations == ()
    assert "GatherElements" not in {n.op_type for n in result.model.graph.node}
    assert_same(model, result.model, [{"x": rng.random(shape, np.float32)}])

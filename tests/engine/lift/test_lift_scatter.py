"""A lifted node is the transformer that the theory makes of the same indices.

Random scatterings of all operators with constant indices, and ONNX's node tests through the
reference execution.
"""

from typing import Any

import hypothesis.strategies as st
import numpy as np
import onnx
import onnx.helper
import onnx_ir as ir
import pytest
from hypothesis import given

from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.budget.limits import LIMITS
from onnx_scatterx.engine.lift.in_theory import InTheory
from onnx_scatterx.engine.lift.lifting import Scatter, lift_scatter
from onnx_scatterx.theory.conventions.onnx import scatter_elements, scatter_nd, tensor_scatter
from onnx_scatterx.theory.scattering import Scattering
from tests.helpers.backend_cases import CASES, Case
from tests.helpers.examples import examples
from tests.helpers.support import parse

TENSOR = onnx.helper.make_tensor_value_info


def lifted(
    op: str, data: np.ndarray, indices: np.ndarray, updates: np.ndarray, **attributes: Any
) -> Scatter:
    """Lift a node with constant indices in a model of its own."""
    order = ["x", "u", "i"] if op == "TensorScatter" else ["x", "i", "u"]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(op, order, ["y"], **attributes)],
        "g",
        [TENSOR("x", 1, data.shape), TENSOR("u", 1, updates.shape)],
        [TENSOR("y", 1, data.shape)],
        [onnx.numpy_helper.from_array(indices, "i")],
    )
    opset = 24 if op == "TensorScatter" else 18
    proto = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])
    model = ir.from_proto(proto)
    (node,) = model.graph
    found = lift_scatter(node, interpret(model).scopes[model.graph])
    assert isinstance(found, Scatter), str(found)
    return found


def agrees(scatter: Scatter, scattering: Scattering) -> None:
    """Check that both send every update to the same element."""
    transformer = InTheory(scatter).transformer
    assert transformer is not None
    assert transformer == scattering.transformer
    assert scatter.reduction == scattering.reduction.value


@st.composite
def shapes(draw: st.DrawFn, least: int = 1) -> tuple[int, ...]:
    return tuple(draw(st.lists(st.integers(least, 4), min_size=1, max_size=4)))


def indices_of(draw: st.DrawFn, shape: tuple[int, ...], sizes: list[int]) -> np.ndarray:
    """Indices of a shape whose last dim names axes of these sizes; some lines, some random."""
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    kind = draw(st.sampled_from(["random", "line", "negative"]))
    columns = []
    for size in sizes:
        if kind == "line":
            start, step = rng.integers(0, size), rng.integers(-1, 2)
            column = (start + step * np.arange(shape[0])).reshape(-1, *[1] * (len(shape) - 2))
            column = np.broadcast_to(column % size, shape[:-1])
        else:
            column = rng.integers(-size if kind == "negative" else 0, size, shape[:-1])
        columns.append(column)
    return np.stack(columns, -1).astype(draw(st.sampled_from([np.int64, np.int64, np.int32])))


@examples(150)
@given(st.data())
def test_scatter_nd(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    depth = data.draw(st.integers(1, len(shape)))
    lead = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=2)))
    indices = data.draw(
        st.composite(lambda draw: indices_of(draw, (*lead, depth), list(shape[:depth])))()
    ).astype(np.int64)
    reduction = data.draw(st.sampled_from(["none", "add", "mul", "min", "max"]))
    x = np.zeros(shape, np.float32)
    u = np.zeros((*lead, *shape[depth:]), np.float32)
    scatter = lifted("ScatterND", x, indices, u, reduction=reduction)
    agrees(scatter, scatter_nd(x, indices, u, reduction))


@examples(150)
@given(st.data())
def test_scatter_elements(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    lead = [data.draw(st.integers(1, n)) for n in shape]
    indices = data.draw(st.composite(lambda draw: indices_of(draw, (*lead, 1), [shape[axis]]))())
    x, u = np.zeros(shape, np.float32), np.zeros(lead, np.float32)
    scatter = lifted("ScatterElements", x, indices[..., 0], u, axis=axis)
    agrees(scatter, scatter_elements(x, indices[..., 0], u, axis))


@pytest.mark.parametrize("more", [0, 1])
def test_so_many_targets_are_computed_one_by_one(more: int) -> None:
    count = LIMITS.targets + more
    x, u = np.zeros(count, np.float32), np.zeros(count, np.float32)
    scatter = lifted("ScatterND", x, np.arange(count)[:, None], u)
    found = InTheory(scatter)
    assert (found.transformer is None) == bool(more)
    assert found.unique


def test_a_row_that_every_update_writes_is_no_row_of_its_own() -> None:
    """There is one update or more, and how many is not known."""
    model = ir.from_proto(
        parse("""g (float[N, 4] x, float[K, 4] v, float[1, 4] w) => (float[N, 4] y) {
        u = Concat <axis = 0> (v, w)
        size = Concat <axis = 0> (Shape <end = 1> (u), [1])
        y = ScatterND (x, Expand ([[0]], size), u) }""")
    )
    found = lift_scatter(model.graph[-1], interpret(model).scopes[model.graph])
    assert isinstance(found, Scatter)
    assert str(found.shape) == "(K + 1, 4)"
    assert InTheory(found).unique is None


@examples(80)
@given(st.data())
def test_tensor_scatter(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    axis = data.draw(st.integers(1, len(shape) - 1))
    count = data.draw(st.integers(1, shape[axis]))
    mode = data.draw(st.sampled_from(["linear", "circular"]))
    last = shape[axis] - count if mode == "linear" else shape[axis] - 1
    starts = np.array([data.draw(st.integers(0, last)) for _ in range(shape[0])], np.int64)
    x = np.zeros(shape, np.float32)
    u = np.zeros([count if d == axis else n for d, n in enumerate(shape)], np.float32)
    scatter = lifted("TensorScatter", x, starts, u, axis=axis, mode=mode)
    agrees(scatter, tensor_scatter(x, u, starts, axis, mode))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_reference_execution_of_node_tests(case: Case) -> None:
    (node,) = case.model.graph.node
    attributes: dict[str, Any] = {
        a.name: onnx.helper.get_attribute_value(a) for a in node.attribute
    }
    attributes = {k: v.decode() if isinstance(v, bytes) else v for k, v in attributes.items()}
    for inputs, (expected,) in case.data:
        arrays: list[Any] = list(inputs)
        if node.op_type == "ScatterND":
            scattering = scatter_nd(*arrays, **attributes)
        elif node.op_type == "TensorScatter":
            starts = arrays[2] if len(arrays) > 2 else None
            scattering = tensor_scatter(arrays[0], arrays[1], starts, **attributes)
        else:
            scattering = scatter_elements(*arrays, **attributes)
        np.testing.assert_array_equal(scattering.run(), expected)

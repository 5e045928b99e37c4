"""A lifted read is the gathering that NumPy makes of the same indices."""

from typing import Any

import hypothesis.strategies as st
import numpy as np
import onnx
import onnx.helper
import onnx_ir as ir
import pytest
from hypothesis import given

from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.lift.in_theory import InTheory
from onnx_scatterx.engine.lift.lifting import Gather, lift_gather
from onnx_scatterx.text.reasons import Reason, Refusal
from onnx_scatterx.theory.scattering import Gathering
from tests.helpers.examples import examples

TENSOR = onnx.helper.make_tensor_value_info


def lifted(
    op: str, shape: tuple[int, ...], indices: np.ndarray, **attributes: Any
) -> Gather | Refusal:
    """Lift a node with constant indices in a model of its own."""
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(op, ["x", "i"], ["y"], **attributes)],
        "g",
        [TENSOR("x", 1, shape)],
        [TENSOR("y", 1, None)],
        [onnx.numpy_helper.from_array(indices, "i")],
    )
    proto = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)])
    model = ir.from_proto(proto)
    (node,) = model.graph
    return lift_gather(node, interpret(model).scopes[model.graph])


def reads(
    op: str, indices: np.ndarray, data: np.ndarray, expected: np.ndarray, **attributes: int
) -> None:
    """Check that the transformer reads the expected elements of data."""
    gather = lifted(op, data.shape, indices, **attributes)
    assert isinstance(gather, Gather), str(gather)
    transformer = InTheory(gather).transformer
    assert transformer is not None
    assert transformer.shape == expected.shape
    np.testing.assert_array_equal(Gathering(data, transformer).run(), expected)


def numbered(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(np.prod(shape)).reshape(shape).astype(np.float32)


SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)


@examples(40)
@given(st.data(), SHAPES, st.lists(st.integers(0, 3), max_size=2))
def test_gather(draw: st.DataObject, shape: tuple[int, ...], extents: list[int]) -> None:
    axis = draw.draw(st.integers(-len(shape), len(shape) - 1))
    n, count = shape[axis], int(np.prod(extents))
    indices = draw.draw(st.lists(st.integers(-n, n - 1), min_size=count, max_size=count))
    array, data = np.array(indices, np.int64).reshape(extents), numbered(shape)
    reads("Gather", array, data, data.take(array, axis), axis=axis)


@examples(40)
@given(st.data(), SHAPES)
def test_gather_elements(draw: st.DataObject, shape: tuple[int, ...]) -> None:
    axis = draw.draw(st.integers(0, len(shape) - 1))
    extents = tuple(draw.draw(st.integers(0, 4 if d == axis else n)) for d, n in enumerate(shape))
    n, count, data = shape[axis], int(np.prod(extents)), numbered(shape)
    indices = draw.draw(st.lists(st.integers(-n, n - 1), min_size=count, max_size=count))
    array = np.array(indices, np.int64).reshape(extents)
    part = data[tuple(slice(None) if d == axis else slice(e) for d, e in enumerate(extents))]
    reads("GatherElements", array, data, np.take_along_axis(part, array, axis), axis=axis)


@examples(40)
@given(st.data(), SHAPES, st.lists(st.integers(0, 3), max_size=2))
def test_gather_nd(draw: st.DataObject, shape: tuple[int, ...], extents: list[int]) -> None:
    batch = draw.draw(st.integers(0, len(shape) - 1))
    depth = draw.draw(st.integers(1, len(shape) - batch))
    lead, data = (*shape[:batch], *extents), numbered(shape)
    columns = [
        np.array(draw.draw(st.lists(st.integers(-n, n - 1), min_size=s, max_size=s)), np.int64)
        for s in [int(np.prod(lead))]
        for n in shape[batch : batch + depth]
    ]
    array = np.stack([c.reshape(lead) for c in columns], -1)
    grid = np.indices(lead)[:batch] if batch else ()
    expected = data[(*grid, *np.moveaxis(array, -1, 0))]
    reads("GatherND", array, data, expected, batch_dims=batch)


@pytest.mark.parametrize(
    ("op", "shape", "indices", "attributes", "reason"),
    [
        ("Gather", (4, 3), [0], {"axis": 2}, Reason.INVALID),
        ("GatherElements", (4, 3), [0], {}, Reason.INVALID),
        ("GatherND", (4,), [[0, 0]], {}, Reason.INVALID),
        ("GatherND", (4,), [[]], {}, Reason.INVALID),
        ("GatherND", (4, 3), [[0]], {"batch_dims": 2}, Reason.INVALID),
        ("GatherND", (4, 3), [[0], [1]], {"batch_dims": 1}, Reason.UNKNOWN_RANK),
    ],
)
def test_nodes_that_are_not_reads(
    op: str, shape: tuple[int, ...], indices: list[Any], attributes: dict[str, int], reason: Reason
) -> None:
    found = lifted(op, shape, np.array(indices, np.int64), **attributes)
    assert isinstance(found, Refusal)
    assert found.reason is reason


def test_callers_that_differ_in_the_axis() -> None:
    model = ir.from_onnx_text("""<ir_version: 8, opset_import: ["" : 18, "f" : 1]>
        g (float[4,4] x, int64[2] i) => (float[2,4] y, float[4,2] z) {
            y = f.take <axis = 0> (x, i)
            z = f.take <axis = 1> (x, i) }
        <domain: "f", opset_import: ["" : 18]>
        take <axis> (x, i) => (y) { y = Gather <axis: int = @axis> (x, i) }""")
    (function,) = model.functions.values()
    scope = interpret(model).scopes[function.graph]
    assert lift_gather(function[0], scope) == Refusal(Reason.UNKNOWN_ATTRIBUTE, "axis")

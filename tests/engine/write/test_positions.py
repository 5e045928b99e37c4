"""NonZero of a tensor of one number: for a target without NonZero, and where others are fewer."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from tests.helpers.examples import examples
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse

TARGET = 'standard, avoid = ["NonZero"]'
PASSES = ["WriteOtherForms"]
FILLS: dict[str, list[Any]] = {
    "float": [0.0, -0.0, float("nan"), float("inf"), 1e-45, -1.0],
    "int64": [0, 1, -1, 2**63 - 1, -(2**63), 1 << 32],
    "int32": [0, 1, -(2**31)],
    "uint8": [0, 1, 255],
    "bool": [False, True],
}


def fill(kind: str, number: float) -> onnx.TensorProto:
    dtype = onnx.TensorProto.DataType.Value(kind.upper())
    array = np.array([number], onnx.helper.tensor_dtype_to_np_dtype(dtype))
    return onnx.numpy_helper.from_array(array, "number")


def model_of(
    op: str, number: onnx.TensorProto, rank: int, sizes: list[int] | None
) -> onnx.ModelProto:
    """Return a model with NonZero of a tensor of given sizes, or of the sizes of its input."""
    dims = ", ".join("ABC"[:rank])
    given = "" if sizes is None else f"<int64[{rank}] s = {{{', '.join(map(str, sizes))}}}>"
    shape = "s = Shape (x)" if sizes is None else ""
    made = {"ConstantOfShape": "ConstantOfShape (s)", "Expand": "Expand (number, s)"}[op]
    model = parse(
        f"g (float[{dims}] x) => (int64[R, N] y) {given} {{ {shape} m = {made} y = NonZero (m) }}"
    )
    if op == "Expand":
        model.graph.initializer.append(number)
    else:
        node = next(n for n in model.graph.node if n.op_type == op)
        node.attribute.append(onnx.helper.make_attribute("value", number))
    return model


@st.composite
def drawn(draw: st.DrawFn) -> tuple[onnx.ModelProto, list[dict[str, Any]]]:
    """Return NonZero of a tensor of one number, and feeds of two shapes."""
    op, kind = draw(st.sampled_from(["ConstantOfShape", "Expand"])), draw(st.sampled_from([*FILLS]))
    number, rank = fill(kind, draw(st.sampled_from(FILLS[kind]))), draw(st.integers(1, 3))
    shape = st.lists(st.sampled_from([0, 1, 2, 3, 5]), min_size=rank, max_size=rank)
    shapes = draw(st.lists(shape, min_size=2, max_size=2))
    sizes = draw(st.sampled_from([None, shapes[0]]))
    feeds: list[dict[str, Any]] = [{"x": np.zeros(shape, np.float32)} for shape in shapes]
    return model_of(op, number, rank, sizes), feeds


@examples(60)
@given(drawn())
def test_all_positions_or_none(given: tuple[onnx.ModelProto, list[dict[str, Any]]]) -> None:
    model, feeds = given
    result = onnx_scatterx.optimize(model, target=TARGET, passes=PASSES)
    assert "NonZero" not in {node.op_type for node in nodes(result.model)}
    assert_same(model, result.model, feeds)


@examples(12)
@given(drawn())
def test_they_take_fewer_nodes_or_stay(
    given: tuple[onnx.ModelProto, list[dict[str, Any]]],
) -> None:
    """The target has NonZero."""
    model, feeds = given
    result = onnx_scatterx.optimize(model, target="standard", passes=PASSES)
    before, after = ([node.op_type for node in nodes(m)] for m in (model, result.model))
    assert len(after) < len(before) or after == before
    assert_same(model, result.model, feeds)


STRIDED = """g (float[A] x, %s n) => (%s y) <int64[1] axis = {0}> {
    m = Unsqueeze (n, axis)  o = ConstantOfShape <value = int64[1] {1}> (m)
    p = NonZero (o)  t = Transpose (p)  i = Squeeze (t)  %s }"""


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (STRIDED % ("int64", "float[N]", "y = Gather (x, i)"), ["Range", "Unsqueeze"]),
        (
            STRIDED % ("int64", "int64[2, N]", "y = Concat <axis = 0> (p, p)"),
            ["Range", "Unsqueeze"],
        ),
        (
            STRIDED % ("int64", "int64[N]", "y = Add (i, o)"),
            ["ConstantOfShape", "NonZero", "Unsqueeze"],
        ),
    ],
)
def test_positions_that_a_size_counts(text: str, left: list[str]) -> None:
    """What else reads the tensor keeps it: then a Range would take more nodes."""
    model = parse(text)
    result = onnx_scatterx.optimize(model, target="standard", passes=PASSES)
    found = {node.op_type for node in nodes(result.model)}
    ways = {"Range", "NonZero", "ConstantOfShape", "Unsqueeze"}
    assert sorted(found & ways) == left
    feeds = [{"x": np.arange(7, dtype=np.float32), "n": np.array(n)} for n in (0, 1, 5)]
    assert_same(model, result.model, feeds)


@pytest.mark.parametrize("rank", [1, 2])
def test_what_is_written(rank: int) -> None:
    made = onnx_scatterx.optimize(
        model_of("ConstantOfShape", fill("int64", 1), rank, None), target=TARGET, passes=PASSES
    )
    line = ["Squeeze", "Range", "Unsqueeze"]
    rows = ["Slice", *line, "Expand", "Reshape"]
    expected = line if rank == 1 else [*rows * rank, "Concat"]
    assert sorted(n.op_type for n in nodes(made.model)) == sorted(["Shape", *expected])


def test_fixed_sizes_are_a_constant() -> None:
    made = onnx_scatterx.optimize(
        model_of("ConstantOfShape", fill("bool", 1), 2, [2, 3]), target=TARGET, passes=PASSES
    )
    assert {n.op_type for n in nodes(made.model)} <= {"Identity", "Constant"}


@pytest.mark.parametrize("kind", ["bool", "float"])
def test_sizes_that_are_not_listed(kind: str) -> None:
    """A constant of these positions would be too large."""
    model = model_of("ConstantOfShape", fill(kind, 1), 2, [300, 400])
    result = onnx_scatterx.optimize(model, target=TARGET, passes=PASSES)
    assert "NonZero" not in {node.op_type for node in nodes(result.model)}
    assert len(result.model.SerializeToString()) < 10_000
    assert_same(model, result.model, [{"x": np.zeros((1, 1), np.float32)}])


def test_a_scalar() -> None:
    """ONNX Runtime counts it as one dim."""
    model = parse("""g (float[N] x) => (int64[R, M] y) { y = NonZero (bool True) }""")
    result = onnx_scatterx.optimize(model, target=TARGET, passes=PASSES)
    assert "NonZero" not in {node.op_type for node in nodes(result.model)}
    assert_same(model, result.model, [{"x": np.zeros(2, np.float32)}])


def test_a_number_that_a_caller_may_replace() -> None:
    model = model_of("Expand", fill("int64", 1), 1, None)
    model.graph.input.append(
        onnx.helper.make_tensor_value_info("number", onnx.TensorProto.INT64, [1])
    )
    result = onnx_scatterx.optimize(model, target=TARGET, passes=PASSES)
    assert "NonZero" in {node.op_type for node in nodes(result.model)}
    x = np.zeros(3, np.float32)
    assert_same(model, result.model, [{"x": x}, {"x": x, "number": np.zeros(1, np.int64)}])

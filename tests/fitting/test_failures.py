"""Nodes that cannot run: ONNX Runtime refuses each of them, and the error names it."""

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.fitting.failures import first_failure
from tests.helpers.examples import examples
from tests.helpers.pair import open_session
from tests.helpers.support import parse, sample

SIZES = st.lists(st.integers(0, 3), min_size=1, max_size=3)
OPS = (
    "Add",
    "MatMul",
    "Expand",
    "Gather",
    "GatherElements",
    "GatherND",
    "ScatterElements",
    "Reshape",
    "Concat",
    "Gemm",
)


@examples(150)
@given(st.sampled_from((*OPS, "ScatterND")), SIZES, SIZES, st.integers(-4, 3), st.integers(0, 1))
def test_failing_nodes_are_refused(
    op: str, left: list[int], right: list[int], first: int, axis: int
) -> None:
    """Sizes from 0 to 3, and indices around them."""
    numbers = np.arange(first, first + np.prod(right), dtype=np.int64).reshape(right)
    axis = min(axis, len(left) - 1)
    put = f"<int64{right} i = {{{', '.join(map(str, numbers.ravel()))}}}>"
    text = {
        "Add": f"(float{left} x, float{right} u) => (float[?] y) {{ y = Add (x, u) }}",
        "MatMul": f"(float{left} x, float{right} u) => (y) {{ y = MatMul (x, u) }}",
        "Expand": f"(float{left} x) => (y) <int64[{len(right)}] i = {{{str(right)[1:-1]}}}>"
        " { y = Expand (x, i) }",
        "Reshape": f"(float{left} x) => (y) <int64[{len(right)}] i = {{{str(right)[1:-1]}}}>"
        " { y = Reshape (x, i) }",
        "Gather": f"(float{left} x) => (y) {put} {{ y = Gather <axis = {axis}> (x, i) }}",
        "GatherElements": f"(float{left} x) => (y) {put}"
        f" {{ y = GatherElements <axis = {axis}> (x, i) }}",
        "GatherND": f"(float{left} x) => (y) {put} {{ y = GatherND (x, i) }}",
        "ScatterElements": f"(float{left} x, float{right} u) => (y) {put}"
        f" {{ y = ScatterElements <axis = {axis}> (x, i, u) }}",
        "Concat": f"(float{left} x, float{right} u) => (y) {{ y = Concat <axis = {axis}> (x, u) }}",
        "Gemm": f"(float{[1, *left][-2:]} x, float{[1, *right][-2:]} u) => (y)"
        f" {{ y = Gemm <transA = {axis}, transB = {int(first > 0)}> (x, u) }}",
        "ScatterND": f"(float{left} x, float{[*right[:-1], *left[right[-1] :]]} u) => (y) {put}"
        " { y = ScatterND (x, i, u) }",
    }[op]
    model = parse(f"g {text.replace('(y)', '(float y)').replace('(float[?] y)', '(float y)')}")
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    model.graph.output[0].type.tensor_type.ClearField("shape")
    read = ir.from_proto(model)
    if first_failure(read.graph, interpret(read)) is None:
        return
    feeds = {
        value.name: sample("float32", *(d.dim_value for d in value.type.tensor_type.shape.dim))
        for value in model.graph.input
    }
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        open_session(model).run(None, feeds)


def test_the_node_is_named() -> None:
    model = parse("""g (float[N, 3] x, float[8, 3] d, float[M, 4] w)
        => (float[8, 3] y, float[A, 4] z) {
            n = Shape <start = 0, end = 1> (x)  m = Squeeze (n)
            r = Range (0, m, 1)  i = Unsqueeze (r, [-1])
            y = ScatterND (d, i, x)  z = MatMul (x, w) }""")
    for fix, told in (
        (
            {"N": 9},
            r"at the fixed sizes \(N = 9\) the node y \(ScatterND\) cannot run: an index is out of "
            "bounds on axis 0 of size 8: 8$",
        ),
        ({"M": 2}, r"the node z \(MatMul\) cannot run: its inputs are of shape \[N, 3\] and of"),
        ({"N": 2, "M": 4}, r"are of shape \[2, 3\] and of shape \[4, 4\]: 3 columns, 4 rows$"),
    ):
        with pytest.raises(ScatterXError, match=told):
            onnx_scatterx.optimize(model, fix=fix)
    onnx_scatterx.optimize(model, fix={"N": 8, "M": 3})


def test_a_node_that_fails_at_any_sizes_is_a_wrong_export() -> None:
    model = parse("g (float[N, 5] x, float[3, 4] u) => (float[3, 4] y) { y = Add (x, u) }")
    told = r"the model fails at any sizes, so its export is wrong; .*: the node y .* \[N, 5\] and"
    with pytest.raises(ScatterXError, match=told):
        onnx_scatterx.optimize(model, fix={"N": 3})


def test_nodes_that_need_not_run_are_not_named() -> None:
    """A branch that may not be taken, and a node that nothing reads."""
    model = parse("""g (float[N] x, bool c) => (float[N] y) <float[3] k = {1, 2, 3}> {
        u = Add (x, k)
        y = If (c) < then_branch = a () => (float[N] s) { s = Add (x, k) },
                     else_branch = b () => (float[N] t) { t = Neg (x) } > }""")
    onnx_scatterx.optimize(model, fix={"N": 2})


def test_an_index_of_a_tensor_without_elements_need_not_fail() -> None:
    """With no columns, GatherND reads nothing, and then it checks no index."""
    model = parse("g (float[N, M] x) => (float[K, M] y) { y = GatherND (x, [[9]]) }")
    onnx_scatterx.optimize(model, fix={"N": 2})
    with pytest.raises(ScatterXError, match="axis 0 of size 2: 9"):
        onnx_scatterx.optimize(model, fix={"N": 2, "M": 1})


def test_positions_within_batches_are_not_out_of_bounds() -> None:
    """Their first column is of the first axis behind those of the batch."""
    model = parse("""g (float[N, 5] x) => (float[N] y) {
        y = GatherND <batch_dims = 1> (x, [[4], [-5]]) }""")
    onnx_scatterx.optimize(model, fix={"N": 2})

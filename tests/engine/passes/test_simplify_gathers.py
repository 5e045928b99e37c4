"""SimplifyGathers: what a gather reads may have been written by the passes before."""

from onnx_scatterx import optimize
from tests.helpers.support import parse


def test_a_gather_sees_through_the_nodes_that_replaced_a_scatter() -> None:
    """The scatter is written flat, and reshaped: what is read of it needs no second Reshape."""
    model = parse("""g (float[1, 2] x, int64[K, 2] p, float[K] u) => (z) {
        z = Gather <axis = 0> (ScatterND (x, p, u), [0]) }""")
    result = optimize(model, target="standard", gathers=True, verify=True)
    assert [node.op_type for node in result.model.graph.node][-3:] == [
        "Concat",
        "Gather",
        "Unsqueeze",
    ]


def test_a_gather_that_nothing_reads_goes_before_another_pass_looks_for_its_range() -> None:
    model = parse("""g (float[N] x, float[4] table) => (float[N] y) {
        n = Size (x)  r = Range (0, n, 1)  d = Gather (table, r)  y = Abs (x) }""")
    result = optimize(model, gathers=True)
    assert [node.op_type for node in result.model.graph.node] == ["Abs"]

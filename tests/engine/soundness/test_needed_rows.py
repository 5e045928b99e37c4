"""Rows that a model certainly has, because a node that needs them ran."""

import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.model_analysis import interpret
from tests.helpers.native_support import RUNTIME
from tests.helpers.support import assert_sound, i64, parse


@pytest.mark.parametrize(
    ("nodes", "least"),
    [
        ("t = Concat<axis=0>(n, two, rest) z = Reshape(x, t)", 1),
        ("t = Concat<axis=0>(zero, two, rest) z = Reshape(x, t)", 1),
        ("t = Concat<axis=0>(rest, two, n) z = Reshape(x, t)", 1),
        ("z = GatherND(x, corner)", 1),
        ("z = GatherElements(x, top)", 1),
        ("z = ScatterElements(x, top, new)", 1),
        ("b = Transpose(x) a = Unsqueeze(b, zero) z = Conv(a, w)", 2),
    ],
)
def test_rows_that_another_node_needs(nodes: str, least: int) -> None:
    """With no rows, ``sum`` has two dims in older versions. But another node does not run then."""
    model = parse(f"""
        g (float[N, 4] x, int64[N, 3] mask, float[N, L] v, float[N] u, int64[1, 4] top,
           float[1, 4] new) => (y, z)
        <int64[1] last = {{-1}}, int64[1] rest = {{-1}}, int64[1] zero = {{0}},
         int64[1] one = {{1}}, int64[1] two = {{2}}, int64 from = {{0}}, int64 by = {{1}},
         int64[1, 2] corner = {{0, 0}}, float[1, 4, 2] w = {{1, 2, 3, 4, 5, 6, 7, 8}}> {{
            n = Shape<end=1>(x)
            {nodes}
            count = Squeeze(n, zero)
            rows = Range(from, count, by)
            line = Unsqueeze(rows, last)
            sum = ReduceSum<keepdims=0>(mask, last)
            column = Unsqueeze(sum, last)
            index = Concat<axis=-1>(line, column)
            y = ScatterND(v, index, u) }}""")
    sizes = (3, 2, 1, 0)
    feeds = [
        {"N": n, "L": 5, "mask": i64([[0, 1, 1]] * n).reshape(n, 3), "top": [[0, 0, 0, 0]]}
        for n in sizes
    ]
    assert_sound(model, *feeds, left=0, rejected=sum(n < least for n in sizes))


def test_an_axis_without_elements_has_no_index() -> None:
    """Without nodes there are no edges, so older versions would sum no rows, and keep the axis.

    But then the sums and their indices would have different ranks.
    """
    model = parse("""
        g (float[N, 4] x, int64[E] edges) => (float[N] y) {
            n = Shape<end=1>(x)
            ends = Concat<axis=0>(edges, Range(0, Squeeze(n, [0]), 1))
            weights = ReduceSum<keepdims=0>(Gather(x, ends), [-1])
            none = ConstantOfShape(n)
            at = Expand(ends, Shape(weights))
            y = ScatterElements<axis=0, reduction="add">(none, at, weights) }""")
    feeds = [
        {"N": n, "edges": i64([n - 1] * e)} for n, e in ((3, 2), (1, 0), (3, 0), (0, 0), (0, 1))
    ]
    assert_sound(model, *feeds, rejected=1 + (RUNTIME < (1, 32)))
    known = interpret(ir.from_proto(model)).values
    assert {v.name: t.rank for v, t in known.items()}["weights"] == 1

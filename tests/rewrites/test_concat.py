"""concat: a region that can be cut across is the Concat of its parts."""

import onnx_ir as ir

from onnx_scatterx import Reason
from onnx_scatterx.optimizer.lowering.rule import Region
from onnx_scatterx.optimizer.mosaic.cells import Cell
from onnx_scatterx.optimizer.mosaic.strided_interval import AxisMap, StridedInterval, View
from onnx_scatterx.optimizer.symbolic.prove import Facts
from onnx_scatterx.optimizer.symbolic.terms import size, term
from onnx_scatterx.rewrites.concat import split
from tests.helpers.rules import Golden, Refuses, rows, sizes

BOX = """g (float[8,N] x, float[3,N] u) => (float[8,N] y) <int64[3,1] i = {2, 3, 4}>
    { y = ScatterND (x, i, u) }"""
WINDMILL = """g (float[3,3] x, float[2,1] a, float[1,2] b, float[2,1] c, float[1,2] d)
    => (float[3,3] y)
    <int64[2,1,2] ia = {0,0, 1,0}, int64[1,2,2] ib = {2,0, 2,1}, int64[2,1,2] ic = {1,2, 2,2},
     int64[1,2,2] id = {0,1, 0,2}> {
        p = ScatterND (x, ia, a)
        q = ScatterND (p, ib, b)
        r = ScatterND (q, ic, c)
        y = ScatterND (r, id, d) }"""


def test_rows_in_the_middle(golden: Golden) -> None:
    golden(BOX, *sizes(N=(0, 1, 5)), by=["view"])


def test_rows_at_the_start(golden: Golden) -> None:
    golden(BOX.replace("2, 3, 4", "0, 1, 2"), *sizes(N=(0, 1, 5)), by=["view"])


def test_rows_at_the_end(golden: Golden) -> None:
    golden(BOX.replace("2, 3, 4", "5, 6, -1"), *sizes(N=(0, 1, 5)), by=["view"])


def test_a_box_of_two_axes_is_cut_axis_by_axis(golden: Golden) -> None:
    golden(
        """g (float[8,6,N] x, float[3,2,N] u) => (float[8,6,N] y)
        <int64[3,2,2] i = {2,3, 2,4, 3,3, 3,4, 4,3, 4,4}> { y = ScatterND (x, i, u) }""",
        *sizes(N=(0, 1, 5)),
        by=["view"],
    )


def test_the_axis_that_takes_fewer_nodes_is_cut_first(golden: Golden) -> None:
    golden(
        """g (float[4,6] x, float[4,2] u, float[2,6] v) => (float[4,6] y)
        <int64[4,2,2] i = {0,4, 0,5, 1,4, 1,5, 2,4, 2,5, 3,4, 3,5},
         int64[2,4,2] j = {0,0, 0,1, 0,2, 0,3, 1,0, 1,1, 1,2, 1,3}, int64[2] start = {0, 0},
         int64[2] end = {2, 4}> {
            p = ScatterND (x, i, u)
            w = Slice (v, start, end)
            y = ScatterND (p, j, w) }""",
        by=["view"],
    )


def test_two_writes_are_cut_together(golden: Golden) -> None:
    golden(
        """g (float[8,N] x, float[3,N] u, float[2,N] v) => (float[8,N] y)
        <int64[3,1] i = {2, 3, 4}, int64[2,1] j = {4, 5}> {
            z = ScatterND (x, i, u)
            y = ScatterND (z, j, v) }""",
        *sizes(N=(0, 1, 5)),
        by=["view"],
    )


def test_rows_from_a_start_that_sizes_decide(golden: Golden) -> None:
    golden(
        f"""g (float[N,2] x, float[H,2] u) => (float[N,2] y) <int64 four = {{4}}> {{
            s = Shape <end = 1> (x)
            n = Squeeze (s)
            quarter = Div (n, four)
            {rows("i", "u", start="quarter")}
            y = ScatterND (x, i, u) }}""",
        *({"N": n, "H": h} for n, h in ((0, 0), (1, 0), (1, 1), (5, 2), (9, 7))),
        by=["view"],
    )


def test_boxes_that_reach_past_each_other_are_cut_through(golden: Golden) -> None:
    golden(WINDMILL, by=["view"])


def test_the_cut_is_where_the_fewest_boxes_lie_across(golden: Golden) -> None:
    golden(
        """g (float[3,4] x, float[2,1] a, float[2,1] b, float[1,3] c, float[2,1] d, float[1,2] e)
        => (float[3,4] y)
        <int64[2,1,2] ia = {0,0, 1,0}, int64[2,1,2] ib = {0,1, 1,1},
         int64[1,3,2] ic = {2,0, 2,1, 2,2}, int64[2,1,2] id = {1,3, 2,3},
         int64[1,2,2] ie = {0,2, 0,3}> {
            p = ScatterND (x, ia, a)
            q = ScatterND (p, ib, b)
            r = ScatterND (q, ic, c)
            s = ScatterND (r, id, d)
            y = ScatterND (s, ie, e) }""",
        by=["view"],
    )


def test_one_source_has_nothing_to_be_put_together(refuses: Refuses) -> None:
    refuses(BOX.replace("[8,N]", "[3,N]").replace("2, 3, 4", "0, 1, 2"), Reason.NO_RULE)


def test_element_types_without_kernels(refuses: Refuses) -> None:
    refuses(
        """g (complex64[2,N] x, complex64[1,N] u, complex64[1,N] v) => (complex64[2,N] y)
        <int64[1,1] i = {0}, int64[1,1] j = {1}> {
            z = ScatterND (x, i, u)
            y = ScatterND (z, j, v) }""",
        Reason.NO_KERNEL,
        beside=["view"],
    )


def test_every_second_row_has_no_cut(refuses: Refuses) -> None:
    refuses(BOX.replace("2, 3, 4", "1, 3, 5"), Reason.NO_CUT, beside=["view"])


def test_parts_that_no_rule_writes(refuses: Refuses) -> None:
    refuses(BOX, Reason.NO_RULE)


def test_a_part_without_cells_must_be_empty() -> None:
    a, b, n = (size(f"concat.{name}") for name in "abn")
    x = View(ir.Value(name="x"), (n,), (AxisMap(0, 1, term(0)),))
    spans = (term(0), a), (b, n)
    cells = tuple(Cell((StridedInterval.interval(*span),), x) for span in spans)
    region = Region(cells, (term(0),), (n,))
    assert split(region, 0, [a, b], Facts(known=[b - a, n - b])) is None
    parts = split(region, 0, [a, b], Facts(known=[b - a, n - b, a - b]))
    assert parts is not None
    assert [(part.low, part.high) for part in parts] == [((low,), (high,)) for low, high in spans]

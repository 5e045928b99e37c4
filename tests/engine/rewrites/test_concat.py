"""concat: a region that can be cut across is the Concat of its parts."""

import onnx_ir as ir

from onnx_scatterx import Reason
from onnx_scatterx.engine.mosaic.cells import Cell
from onnx_scatterx.engine.mosaic.strided_interval import AxisMap, StridedInterval, View
from onnx_scatterx.engine.plan.rule import Region
from onnx_scatterx.engine.terms import size, term
from onnx_scatterx.engine.terms.facts import Facts
from onnx_scatterx.rewrites.concat import split
from tests.helpers.rules import Refuses, each, row, sizes

BOX = """g (float[8,N] x, float[3,N] u) => (float[8,N] y) <int64[3,1] i = {2, 3, 4}>
    { y = ScatterND (x, i, u) }"""


GOLDEN = {
    "rows in the middle": row(*sizes(N=(0, 1, 5)), by=["view"]),
    "rows at the start": row(*sizes(N=(0, 1, 5)), by=["view"]),
    "rows at the end": row(*sizes(N=(0, 1, 5)), by=["view"]),
    "a box of two axes is cut axis by axis": row(*sizes(N=(0, 1, 5)), by=["view"]),
    "the axis that takes fewer nodes is cut first": row(by=["view"]),
    "two writes are cut together": row(*sizes(N=(0, 1, 5)), by=["view"]),
    "rows from a start that sizes decide": row(
        *({"N": n, "H": h} for n, h in ((0, 0), (1, 0), (1, 1), (5, 2), (9, 7))), by=["view"]
    ),
    "boxes that reach past each other are cut through": row(by=["view"]),
    "the cut is where the fewest boxes lie across": row(by=["view"]),
}
test_golden = each(GOLDEN, "golden")


def test_one_source_has_nothing_to_be_put_together(refuses: Refuses) -> None:
    refuses(BOX.replace("[8,N]", "[3,N]").replace("2, 3, 4", "0, 1, 2"), Reason.NO_RULE)


def test_element_types_without_kernels(refuses: Refuses) -> None:
    refuses(
        """g (complex64[2,N] x, complex64[1,N] u, complex64[1,N] v) => (complex64[2,N] y) {
            z = ScatterND (x, [[0]], u)
            y = ScatterND (z, [[1]], v) }""",
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

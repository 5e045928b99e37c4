"""How each kind of operator treats rows alone: the handlers of the column ``rows`` of the table."""

from __future__ import annotations

from collections.abc import Callable

import onnx_ir as ir

from onnx_scatterx.engine.rules import Rows, described, granted
from onnx_scatterx.rewrites.helpers import row_arithmetic, row_layers, row_moves, row_writes
from onnx_scatterx.rewrites.helpers.following import Following
from onnx_scatterx.rewrites.helpers.row_part import Part
from onnx_scatterx.rewrites.helpers.row_sizes import check_sizes
from onnx_scatterx.rewrites.helpers.whole import Whole
from onnx_scatterx.rewrites.helpers.whole_rows import WholeRows


def whole_of(
    rows: WholeRows, node: ir.Node, value: ir.Value, axis: int, following: Following
) -> Whole:
    """Return all rows of an output of a node, or refuse."""
    part, handler = Part(rows, node, value, axis, following), _HANDLERS[described(node).rows]
    check_sizes(part)
    return granted(handler)(part)


_HANDLERS: dict[Rows, Callable[[Part], Whole] | None] = {
    Rows.UNKNOWN: None,
    Rows.BROADCAST: row_arithmetic.broadcast,
    Rows.PRODUCT: row_arithmetic.product,
    Rows.GEMM: row_arithmetic.gemm,
    Rows.EINSUM: row_arithmetic.einsum,
    Rows.BATCH: row_layers.batch,
    Rows.REGIONS: row_layers.regions,
    Rows.SAMPLED: row_layers.sampled,
    Rows.BEFORE: row_layers.before,
    Rows.APART: row_layers.apart,
    Rows.RUNNING: row_layers.running,
    Rows.REDUCED: row_layers.reduced,
    Rows.QUANTIZED: row_layers.quantized,
    Rows.ONE_HOT: row_layers.one_hot,
    Rows.IN_ORDER: row_moves.in_order,
    Rows.TRANSPOSED: row_moves.transposed,
    Rows.EXPANDED: row_moves.expanded,
    Rows.FILLED: row_moves.filled,
    Rows.JOINED: row_moves.joined,
    Rows.CUT: row_moves.cut,
    Rows.SPLIT: row_moves.split,
    Rows.PADDED: row_moves.padded,
    Rows.TAKEN: row_moves.taken,
    Rows.TAKEN_ALONG: row_moves.taken_along,
    Rows.TAKEN_AT: row_moves.taken_at,
    Rows.SORTED: row_moves.top_elements,
    Rows.WRITTEN: row_writes.some_written,
}

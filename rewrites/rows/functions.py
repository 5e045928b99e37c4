"""How each kind of operator treats rows alone: the handlers of the column ``rows`` of the table."""

from __future__ import annotations

from collections.abc import Callable

import onnx_ir as ir

from onnx_scatterx.engine.rules import Rows, described, granted
from onnx_scatterx.rewrites.rows import arithmetic, layers, moves, writes
from onnx_scatterx.rewrites.rows.following import Following
from onnx_scatterx.rewrites.rows.part import Part
from onnx_scatterx.rewrites.rows.sizes import check_sizes
from onnx_scatterx.rewrites.rows.whole import Whole
from onnx_scatterx.rewrites.rows.whole_rows import WholeRows


def whole_of(
    rows: WholeRows, node: ir.Node, value: ir.Value, axis: int, following: Following
) -> Whole:
    """Return all rows of an output of a node, or refuse."""
    part, handler = Part(rows, node, value, axis, following), _HANDLERS[described(node).rows]
    check_sizes(part)
    return granted(handler)(part)


_HANDLERS: dict[Rows, Callable[[Part], Whole] | None] = {
    Rows.UNKNOWN: None,
    Rows.BROADCAST: arithmetic.broadcast,
    Rows.PRODUCT: arithmetic.product,
    Rows.GEMM: arithmetic.gemm,
    Rows.EINSUM: arithmetic.einsum,
    Rows.BATCH: layers.batch,
    Rows.REGIONS: layers.regions,
    Rows.SAMPLED: layers.sampled,
    Rows.BEFORE: layers.before,
    Rows.APART: layers.apart,
    Rows.RUNNING: layers.running,
    Rows.REDUCED: layers.reduced,
    Rows.QUANTIZED: layers.quantized,
    Rows.ONE_HOT: layers.one_hot,
    Rows.IN_ORDER: moves.in_order,
    Rows.TRANSPOSED: moves.transposed,
    Rows.EXPANDED: moves.expanded,
    Rows.FILLED: moves.filled,
    Rows.JOINED: moves.joined,
    Rows.CUT: moves.cut,
    Rows.SPLIT: moves.split,
    Rows.PADDED: moves.padded,
    Rows.TAKEN: moves.taken,
    Rows.TAKEN_ALONG: moves.taken_along,
    Rows.TAKEN_AT: moves.taken_at,
    Rows.SORTED: moves.top_elements,
    Rows.WRITTEN: writes.some_written,
}

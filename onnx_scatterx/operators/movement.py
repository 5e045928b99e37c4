"""Rows of the operators that move elements, and of those about shapes."""

from __future__ import annotations

from functools import partial

from onnx_scatterx.operators.columns import (
    EVERY,
    FLOATS,
    Kinds,
    Operator,
    Passing,
    Rounding,
    Rows,
    Trust,
)

_known = partial(Operator, trust=Trust.ALL)
_rearranges = partial(_known, moves=(0,), rounding=Rounding.COPIED, passes=Passing.ELSEWHERE)
_moves = partial(_rearranges, folds=True)
_carries = partial(_moves, widens=True, carries_scale=True)
_quantizers_pass = partial(_carries, moved_past=True)
_scatter = partial(
    _known,
    moves=(0, 2),
    rounding=Rounding.EXACT,
    writes=True,
    carries_scale=True,
    passes=Passing.ALIKE,
)

MOVEMENT: dict[str, Operator] = {
    "Compress": _rearranges(trust=Trust.PASSED),
    "Concat": _carries(rows=Rows.JOINED, moves=EVERY, passes=Passing.SPLICED),
    "Constant": _known(rounding=Rounding.EXACT),
    "ConstantOfShape": _known(
        rows=Rows.FILLED,
        rounding=Rounding.COPIED,
        folds=True,
        shape_input=0,
        sizes=(0,),
        of_sizes=True,
    ),
    "DepthToSpace": _rearranges(keeps_all=True),
    "Expand": _carries(
        rows=Rows.EXPANDED, keeps_all=True, shape_input=1, sizes=(1,), passes=Passing.ALIKE
    ),
    "Flatten": _moves(rows=Rows.IN_ORDER, keeps_all=True, keeps_order=True),
    "Gather": _carries(rows=Rows.TAKEN, reads=True, indexed_since=9),
    "GatherElements": _carries(rows=Rows.TAKEN_ALONG, reads=True),
    "GatherND": _moves(rows=Rows.TAKEN_AT, reads=True),
    "Identity": _quantizers_pass(
        rows=Rows.IN_ORDER, keeps_all=True, keeps_order=True, alike=Kinds.ANY, passes=Passing.ALIKE
    ),
    "If": Operator(of_sizes=True),
    "Pad": _moves(rows=Rows.PADDED, moves=(0, 2), rounding=Rounding.EXACT, widens=True, sizes=(1,)),
    "Range": _known(folds=True, of_sizes=True),
    "Reshape": _quantizers_pass(
        rows=Rows.IN_ORDER, keeps_all=True, keeps_order=True, shape_input=1, sizes=(1,)
    ),
    "ReverseSequence": _rearranges(keeps_all=True),
    "Scatter": _scatter(indexed_since=9),
    "ScatterElements": _scatter(rows=Rows.WRITTEN),
    "ScatterND": _scatter(rows=Rows.WRITTEN),
    "Shape": _known(rounding=Rounding.EXACT, of_sizes=True),
    "Size": _known(rounding=Rounding.EXACT, of_sizes=True),
    "Slice": _quantizers_pass(rows=Rows.CUT, sizes=(1, 2, 3, 4), signed_input=4),
    "SpaceToDepth": _rearranges(keeps_all=True),
    "Split": _moves(rows=Rows.SPLIT),
    "Squeeze": _quantizers_pass(rows=Rows.IN_ORDER, keeps_all=True, keeps_order=True),
    "TensorScatter": _scatter(moves=(0, 1), indexed_since=24),
    "Tile": _moves(keeps_all=True, widens=True, sizes=(1,), passes=Passing.ALIKE),
    "TopK": _known(rows=Rows.SORTED, rows_alike=FLOATS, chooses=(0,), passes=Passing.ELSEWHERE),
    "Transpose": _quantizers_pass(rows=Rows.TRANSPOSED, keeps_all=True),
    "Trilu": _known(rounding=Rounding.EXACT, folds=True, passes=Passing.ALIKE),
    "Unique": _known(chooses=(0,), trust=Trust.PASSED),
    "Unsqueeze": _quantizers_pass(
        rows=Rows.IN_ORDER, keeps_all=True, keeps_order=True, passes=Passing.SPLICED
    ),
    "Where": _carries(
        rows=Rows.BROADCAST,  # ONNX Runtime adds both inputs, with zeros in between: -0 becomes 0
        moves=(1, 2),
        rounding=Rounding.EXACT,
        alike=Kinds.ANY,
        in_integers=(1, 2),
        passes=Passing.ALIKE,
    ),
}

"""The cells that a gather reads: for each box of its output, the cells of that box of the data."""

from __future__ import annotations

from onnx_scatterx.optimizer.lift.bounds import bounds_of_read
from onnx_scatterx.optimizer.lift.footprint import Piece, pieces
from onnx_scatterx.optimizer.lift.lift_gather import Gather
from onnx_scatterx.optimizer.mosaic.cells import Cell
from onnx_scatterx.optimizer.mosaic.mosaic import Mosaic
from onnx_scatterx.optimizer.symbolic.prove import Facts
from onnx_scatterx.optimizer.symbolic.terms import Term
from onnx_scatterx.text.reasons import Detail, Reason, RefusedError


def gathered(gather: Gather, data: Mosaic, facts: Facts) -> Mosaic:
    """Return the mosaic of a gather's output, or refuse."""
    cells: list[Cell] = []
    for piece in pieces(gather):
        box = _box(gather, piece, data, facts)
        for axis, first in enumerate(piece.first):
            box = _moved(box, axis, first)
        cells += box.cells
    if not cells:
        raise RefusedError(Reason.NO_GAIN, "nothing is read")
    return Mosaic(gather.shape, tuple(cells))


def _box(gather: Gather, piece: Piece, data: Mosaic, facts: Facts) -> Mosaic:
    """Return the box of the data that a piece reads, in the axes of the output."""
    for axis, affine in enumerate(piece.axes):
        bounded = bounds_of_read(gather, piece, axis, affine, facts)
        start, count, step = bounded.affine.start, bounded.positions, affine.step or 1
        if step < -1:  # the same positions upwards, then reversed
            start = start + step * (count - 1)
        part = data.sliced(axis, start, count, abs(step) if step < -1 else step, facts)
        if part is not None and step < -1:
            part = part.sliced(axis, count - 1, count, -1, facts)
        if part is None:
            raise RefusedError(
                Reason.UNKNOWN_INDICES, Detail("start of a strided read: {}", affine.start)
            )
        data = part
    return _arranged(piece, data)


def _arranged(piece: Piece, box: Mosaic) -> Mosaic:
    """Return a box of the data with its axes in the order of the output's, broadcast to them."""
    runs = [affine.dim for affine in piece.axes if affine.dim is not None]
    if len(set(runs)) < len(runs):
        raise RefusedError(Reason.DIAGONAL, "output")
    bare = box.squeezed(axis for axis, affine in enumerate(piece.axes) if affine.dim is None)
    if bare is None:
        raise RefusedError(Reason.NO_CUT, "which region a position lies in")
    ordered = bare.transposed([runs.index(d) for d in sorted(runs)])
    found = ordered.unsqueezed(d for d in range(len(piece.counts)) if d not in runs)
    wide = found.expanded(piece.counts)
    assert wide is not None  # an axis without a count has extent 1
    return wide


def _moved(box: Mosaic, axis: int, offset: Term) -> Mosaic:
    cells = [c.relocated(axis, 1, offset) for c in box.cells]
    if any(c is None for c in cells):
        raise RefusedError(
            Reason.UNKNOWN_INDICES, Detail("where strided regions start: {}", offset)
        )
    return Mosaic(box.shape, tuple(c for c in cells if c is not None))

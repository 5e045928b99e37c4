"""The cells that a scatter writes, its footprint filled with updates, and those of a gather."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from onnx_scatterx.engine.lift import AffineAxis, Gather, Piece, Scatter, bounded, pieces
from onnx_scatterx.engine.mosaic.cells import Cell, full_box
from onnx_scatterx.engine.mosaic.constants import Constants
from onnx_scatterx.engine.mosaic.mosaic import Mosaic
from onnx_scatterx.engine.mosaic.strided_interval import AxisMap, Reduced, StridedInterval, View
from onnx_scatterx.engine.terms import Facts, Term
from onnx_scatterx.text import Detail, Reason, RefusedError


def scattered(scatter: Scatter, data: Mosaic, updates: Mosaic, facts: Facts) -> Mosaic:
    """Return the mosaic of a scatter's output, or refuse.

    ``updates`` is their mosaic in the shape that the operator requires.
    """
    cells: list[Cell] = []
    for piece in pieces(scatter):
        for new in _filled(scatter, piece, updates, facts):
            for old in cells:
                if not disjoint(old, new, facts):
                    reason = Reason.COLLIDES if _meet(old, new, facts) else Reason.MAY_COLLIDE
                    raise RefusedError(reason, "boxes of one scatter overlap")
            cells.append(new)
    if scatter.reduction != "none":
        cells = [c for new in cells for c in _combined(scatter.reduction, data, new, facts)]
    # An empty tensor has no cells: it equals the data.
    result = data.overlaid(cells, facts)
    return result if result.cells else Mosaic.of(scatter.data, scatter.data_shape)


def disjoint(a: Cell, b: Cell, facts: Facts) -> bool:
    """Return whether it is proven that two cells share no element."""
    for one, other in zip(a.box, b.box, strict=True):
        common = one.meet(other, facts)
        if common is None or common.is_empty(facts):
            return True
    return False


def _meet(a: Cell, b: Cell, facts: Facts) -> bool:
    """Return whether it is proven that two cells share an element."""
    common = [one.meet(other, facts) for one, other in zip(a.box, b.box, strict=True)]
    return all(c is not None and facts.is_nonnegative(c.length - 1) for c in common)


def _filled(scatter: Scatter, piece: Piece, updates: Mosaic, facts: Facts) -> Iterable[Cell]:
    pairs = enumerate(_paired(piece, facts))
    axes = [bounded(scatter, piece, axis, affine, facts).affine for axis, affine in pairs]
    region = tuple(
        StridedInterval.interval(first, first + count)
        for first, count in zip(piece.first, piece.counts, strict=True)
    )
    whole = full_box(scatter.data_shape)
    for cell in updates.cells:
        part = cell.within(region, facts)
        if part is None:
            continue
        moved = _placed(part, piece, axes)
        inside = moved.within(whole, facts) if whole else moved
        if inside is not None:
            yield inside


def _paired(piece: Piece, facts: Facts) -> list[AffineAxis]:
    """Let axes of one position run over the unused dims of extent 1, so that no dim is lost."""
    used = {affine.dim for affine in piece.axes}
    free = [d for d, n in enumerate(piece.counts) if d not in used]
    for d in free:
        if not (
            facts.is_nonnegative(piece.counts[d] - 1) and facts.is_nonnegative(1 - piece.counts[d])
        ):
            raise RefusedError(Reason.UNKNOWN_BOUNDS, f"dim {d} of the updates may be empty")
    axes = list(piece.axes)
    fixed = [axis for axis, affine in enumerate(axes) if affine.dim is None]
    # Dims and axes keep their order, and a dim prefers the axis at its own place.
    for d in free:
        axis = d if d in fixed and len(free) != len(fixed) else (fixed[0] if fixed else None)
        if axis is not None:
            fixed.remove(axis)
            axes[axis] = AffineAxis(axes[axis].start, 1, d)
    return axes


def _placed(cell: Cell, piece: Piece, axes: list[AffineAxis]) -> Cell:
    """Return a cell of the updates at its place in the data."""
    for affine in axes:
        if affine.dim is not None:
            offset = affine.start - affine.step * piece.first[affine.dim]
            moved = cell.relocated(affine.dim, affine.step, offset)
            if moved is None:
                raise RefusedError(
                    Reason.UNKNOWN_INDICES, f"start of a strided write: {affine.start}"
                )
            cell = moved
    axis_of = {affine.dim: axis for axis, affine in enumerate(axes) if affine.dim is not None}
    box = tuple(
        StridedInterval.interval(affine.start, affine.start + 1)
        if affine.dim is None
        else cell.box[affine.dim]
        for affine in axes
    )

    def changed(w: AxisMap) -> AxisMap:
        if w.dim is None:
            return w
        if w.dim in axis_of:
            return AxisMap(axis_of[w.dim], w.step, w.start)
        # A dim of extent 1 without an axis: its only position.
        return AxisMap(None, 0, w.start + w.step * cell.box[w.dim].low)

    return Cell(box, cell.source.mapped(changed))


def _combined(reduction: str, data: Mosaic, new: Cell, facts: Facts) -> Iterable[Cell]:
    for old in data.cells:
        under = old.within(new.box, facts)
        if under is None:
            continue
        over = new.within(under.box, facts)
        if over is not None:
            yield Cell(over.box, Reduced(reduction, under.source, over.source))


_REDUCE = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def is_noop_write(scatter: Scatter, data: Mosaic, fills: Constants) -> bool:
    """Return whether all elements of data and updates are one number that the reduction keeps.

    Then the indices need not be known, and updates may collide: ``0 + 0 = 0``, ``max(c, c) = c``.
    Numbers are compared by bits, since ``-0.0 * -0.0`` is another zero.
    """
    number = fills.splat(scatter.updates)
    if number is None or not data.cells or not _keeps(scatter.reduction, number):
        return False
    sources = {c.source.value if isinstance(c.source, View) else None for c in data.cells}
    numbers = [None if value is None else fills.splat(value) for value in sources]
    return all(f is not None and f.tobytes() == number.tobytes() for f in numbers)


def _keeps(reduction: str, number: np.ndarray) -> bool:
    """Return whether ``reduce(c, c)`` is c, bit for bit; False for NaN, which is not examined."""
    if reduction == "none":
        return True
    reduce = _REDUCE.get(reduction)
    if reduce is None or number.dtype.kind not in "fiub" or np.isnan(number):
        return False
    with np.errstate(over="ignore"):
        return bool(reduce(number, number).tobytes() == number.tobytes())


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
        limited = bounded(gather, piece, axis, affine, facts)
        start, count, step = limited.affine.start, limited.positions, affine.step or 1
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
    aligned = ordered.unsqueezed(d for d in range(len(piece.counts)) if d not in runs)
    wide = aligned.expanded(piece.counts)
    assert wide is not None  # an axis without a count has extent 1
    return wide


def _moved(box: Mosaic, axis: int, offset: Term) -> Mosaic:
    shifted = box.each(box.shape, lambda c: c.relocated(axis, 1, offset))
    if shifted is None:
        raise RefusedError(
            Reason.UNKNOWN_INDICES, Detail("where strided regions start: {}", offset)
        )
    return shifted

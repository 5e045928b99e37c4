"""Coalescing: neighbouring cells that continue each other are merged."""

from __future__ import annotations

from onnx_scatterx.optimizer.mosaic.cells import Cell
from onnx_scatterx.optimizer.mosaic.mosaic import Mosaic
from onnx_scatterx.optimizer.mosaic.strided_interval import StridedInterval
from onnx_scatterx.optimizer.symbolic.prove import Facts


def coalesced(mosaic: Mosaic, facts: Facts) -> Mosaic:
    """Return the mosaic with as few cells as merging neighbours gives.

    A region that is written back unchanged has the same source and coordinates as its neighbours,
    and so disappears.
    """
    groups: dict[object, list[Cell]] = {}
    for cell in mosaic.cells:
        groups.setdefault((cell.source, tuple(_class(s) for s in cell.box)), []).append(cell)
    if all(len(g) == 1 for g in groups.values()):
        return mosaic
    cells = tuple(c for group in groups.values() for c in _merged(group, facts))
    return Mosaic(mosaic.shape, cells)


def _class(span: StridedInterval) -> tuple[int, int]:
    return span.modulus, span.residue


def _merged(cells: list[Cell], facts: Facts) -> list[Cell]:
    changed = len(cells) > 1
    while changed:
        changed = False
        for i, a in enumerate(cells):
            for j in range(i + 1, len(cells)):
                together = _together(a, cells[j], facts)
                if together is not None:
                    cells = [*cells[:i], together, *cells[i + 1 : j], *cells[j + 1 :]]
                    changed = True
                    break
            if changed:
                break
    return cells


def _together(a: Cell, b: Cell, facts: Facts) -> Cell | None:
    """Return the union of two boxes with one source if it is a box."""
    differ = [d for d, (s, t) in enumerate(zip(a.box, b.box, strict=True)) if s != t]
    if len(differ) != 1:
        return a if not differ else None
    (d,) = differ
    first, second = a.box[d], b.box[d]
    if facts.equal(second.high, first.low):
        first, second = second, first
    if not facts.equal(first.high, second.low):
        return None
    # [a, b) and [b, c) are [a, c) only if both run forwards.
    if not (facts.is_nonnegative(first.length) and facts.is_nonnegative(second.length)):
        return None
    span = StridedInterval(first.modulus, first.residue, first.low, second.high)
    return Cell((*a.box[:d], span, *a.box[d + 1 :]), a.source)

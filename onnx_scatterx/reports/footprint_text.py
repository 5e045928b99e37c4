"""The elements that a scatter writes or a gather reads, in words."""

from __future__ import annotations

from collections.abc import Sequence

from onnx_scatterx.lift.access import Access
from onnx_scatterx.lift.canonical import Canonical
from onnx_scatterx.lift.footprint import Piece
from onnx_scatterx.text.reasons import Refusal
from onnx_scatterx.text.shortened import shortened


def footprint_text(canonical: Canonical, axes: Sequence[int] | None = None) -> str:
    """Return in words the elements that a scatter writes, or a gather reads.

    One of nothing, everything, a box, a strided box, boxes, or unknown. ``axes`` are those of the
    statement, for each axis of the data.
    """
    boxes = canonical.boxes
    if isinstance(boxes, Refusal):
        return "unknown"
    if not boxes:
        return "nothing"
    if len(boxes) > 1:
        return f"{len(boxes)} boxes"
    (piece,) = boxes
    spans = box_text(piece, canonical.access)
    if axes is not None and len(axes) == len(spans):
        spans = [spans[axes.index(axis)] for axis in range(len(spans))]
    if all(span.split()[0] == ":" for span in spans):
        return "everything"
    strided = any(affine.dim is not None and abs(affine.step) > 1 for affine in piece.axes)
    return shortened(f"{'strided box' if strided else 'box'} [{', '.join(spans)}]")


def box_text(piece: Piece, access: Access) -> list[str]:
    """Return the positions that a piece takes on each axis, as slices: ``2:5``, ``:``, ``0``."""
    facts = access.facts
    spans = []
    for affine, size in zip(piece.axes, access.data_shape, strict=True):
        if affine.dim is None:
            spans.append(":" if size.constant == 1 else f"{affine.start}")
            continue
        count = piece.counts[affine.dim]
        low, end = affine.start, affine.start + affine.step * count
        if affine.step < 0:
            low, end = end - affine.step, low + 1
        elif facts.is_nonnegative(end - size):
            end = size  # past the last element there is nothing to step over
        whole = abs(affine.step) == 1 and facts.equal(low, 0) and facts.equal(end, size)
        step = f":{abs(affine.step)}" if abs(affine.step) != 1 else ""
        back = " backwards" if affine.step < 0 else ""
        spans.append((":" if whole else f"{low}:{end}{step}") + back)
    return spans

"""What a report says of several scatters at once, in lines below its table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onnx_scatterx.grouping import grouped
from onnx_scatterx.tell.entries import Entry, ScatterReport, bytes_text
from onnx_scatterx.tell.kept_advice import named

ZERO_SIGN = (
    "the sign of a zero may change: harmless unless a later node or your program divides by the "
    "zero or reads its sign"
)
"""What the Where of ONNX Runtime may change, and when this matters."""


def move_lines(scatters: Sequence[ScatterReport]) -> list[str]:
    """Return in a line what scatters of known sizes move, and the least that is known.

    A scatter moves its data and its updates, in contiguous pieces. At least, the updates move, in
    strided copies.
    """
    moves = [s.detail.moved for s in scatters if s.detail and s.detail.moved]
    if not moves:
        return []
    moved, pieces, least, copies = map(sum, zip(*moves, strict=True))
    many = "copy" if copies == 1 else "copies"
    those = "" if len(moves) == len(scatters) else f" ({len(moves)} of them)"
    return [
        f"in the given model the scatters{those} move {bytes_text(moved)} in {pieces} pieces, "
        f"where {bytes_text(least)} in {copies} strided {many} would do"
    ]


def duplicate_lines(scatters: Sequence[ScatterReport]) -> list[str]:
    """Return the colliding updates in lines, and which one wins if that is settled."""
    colliding = [(s.node, s.duplicates) for s in scatters if s.duplicates is not None]
    lines = [f"{node}: {duplicates}" for node, duplicates in colliding if duplicates.certain]
    return lines + by_text((n, str(d)) for n, d in colliding if not d.certain)


def zero_lines(entries: Sequence[Entry], *, planned: bool) -> list[str]:
    """Return in a line which nodes became a Where of floats, in which a zero may change sign.

    ONNX Runtime's Where does not keep the sign of a zero that it selects.
    """
    verb = "would become" if planned else "became"
    text = f"{verb} a Where, in which {ZERO_SIGN}"
    return by_text((entry.node, text) for entry in entries if entry.selects_floats)


def runtime_lines(entries: Sequence[Entry]) -> list[str]:
    """Return in lines why ONNX Runtime may compute other values, and of which nodes."""
    return by_text((entry.node, why) for entry in entries for why in entry.in_onnxruntime)


def by_text(said: Iterable[tuple[str, str]]) -> list[str]:
    """Return what is said of nodes, in a line for each text.

    >>> by_text([("a", "is kept"), ("b", "is kept"), ("c", "goes")])
    ['a, b: is kept', 'c: goes']
    """
    texts = grouped((text, node) for node, text in said)
    return [f"{named(nodes)}: {text}" for text, nodes in texts.items()]

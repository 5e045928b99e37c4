"""A piece of graph as a drawing: nodes, the values at its ends, and arrows from top to bottom."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from onnx_scatterx.optimizer.reports.page.environment import filled
from onnx_scatterx.optimizer.reports.page.figures import (
    NAME_LETTER,
    OP_LETTER,
    Figure,
    rectangle,
)
from onnx_scatterx.optimizer.reports.page.layout import layout
from onnx_scatterx.optimizer.reports.sketch import Box, Excerpt
from onnx_scatterx.text.visible import middle, visible

_EDGE = 6
_LETTERS = 20  # of a name
_NODE, _VALUE = 38, 22  # heights
_PADDING, _LEAST = 16, 56
_TIP = 6
_layout = lru_cache(maxsize=256)(layout)  # pieces of one form are often of one size


def graph_figure(excerpt: Excerpt, word: str) -> Figure:
    """Return the drawing of a piece of graph; ``word`` says which it is.

    >>> from onnx_scatterx.optimizer.reports.sketch import Box
    >>> piece = Excerpt((Box("node", "Neg", "n"), Box("value", "", "x")), ((1, 0),), (("Neg", 1),))
    >>> graph_figure(piece, "before").label
    'before: 1 node (Neg); reads x'
    """
    if not excerpt.boxes:
        label = f"{word}: no nodes, as nothing reads the result"
        return Figure(filled("graph.svg", boxes=()), 120, 36, label)
    sizes = [_size(box) for box in excerpt.boxes]
    found = _layout(tuple(sizes), excerpt.arrows)
    lines, tips = [], []
    for path in found.paths:
        (x, y), (end_x, end_y) = path[0], path[-1]
        points = [*path[:-1], (end_x, end_y - _TIP)]
        lines.append(f"M{x + _EDGE} {y + _EDGE}" + "".join(map(_bent, pairwise(points))))
        tips.append(f"M{end_x + _EDGE} {end_y + _EDGE}l-4 -7h8z")
    outlines: dict[str, list[str]] = {}
    boxes = []
    for box, (width, height), (x, y) in zip(excerpt.boxes, sizes, found.centres, strict=True):
        left, top = x - width // 2 + _EDGE, y - height // 2 + _EDGE
        outlines.setdefault(box.kind, []).append(rectangle(left, top, width, height))
        texts = [(_short(text), text) for text in (box.op, box.name)]
        boxes.append((*texts, x + _EDGE, y + _EDGE))
    content = filled("graph.svg", lines=lines, tips=tips, outlines=outlines, boxes=boxes)
    label = f"{word}: {in_words(excerpt)}"
    return Figure(content, found.width + 2 * _EDGE, found.height + 2 * _EDGE, label)


def in_words(excerpt: Excerpt) -> str:
    """Return a description of a piece of graph, for readers who do not see it."""
    nodes = excerpt.nodes
    counted = ", ".join(f"{count} {op}" if count > 1 else op for op, count in excerpt.operators)
    parts = [f"{nodes} node{'s' * (nodes != 1)}" + (f" ({counted})" if counted else "")]
    for kind, word in (("value", "reads"), ("result", "writes")):
        names = dict.fromkeys(box.name for box in excerpt.boxes if box.kind == kind)
        if names:
            parts.append(f"{word} {', '.join(list(names)[:6])}" + ", ..." * (len(names) > 6))
    return "; ".join(parts)


def _size(box: Box) -> tuple[int, int]:
    width = max(OP_LETTER * len(_short(box.op)), NAME_LETTER * len(_short(box.name)))
    high = _NODE if box.op and box.name else _VALUE
    return 2 * round(max(_LEAST, width + _PADDING) / 2), high


def _short(name: str) -> str:
    """Return a name, without its middle if it is long."""
    return middle(visible(name), _LETTERS)


def _bent(ends: Sequence[tuple[int, int]]) -> str:
    (x, y), (end_x, end_y) = ends
    if x == end_x:
        return f"V{end_y + _EDGE}"
    middle = (y + end_y) // 2 + _EDGE
    end_x += _EDGE
    return f"C{x + _EDGE} {middle} {end_x} {middle} {end_x} {end_y + _EDGE}"

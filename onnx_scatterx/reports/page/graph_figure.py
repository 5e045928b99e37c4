"""A piece of graph as a drawing: nodes, the values at its ends, and arrows from top to bottom."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from onnx_scatterx.reports.page.figures import Figure, rectangle
from onnx_scatterx.reports.page.layout import layout
from onnx_scatterx.reports.sketch import Box, Excerpt
from onnx_scatterx.text.visible import as_html, visible

_EDGE = 6
_LETTERS = 20  # of a name
_NODE, _VALUE = 38, 22  # heights
_OP_LETTER, _NAME_LETTER, _PADDING, _LEAST = 8.2, 6.3, 16, 56
_TIP = 6


def graph_figure(excerpt: Excerpt, word: str) -> Figure:
    """Return the drawing of a piece of graph; ``word`` says which it is.

    >>> from onnx_scatterx.reports.sketch import Box
    >>> piece = Excerpt((Box("node", "Neg", "n"), Box("value", "", "x")), ((1, 0),), (("Neg", 1),))
    >>> graph_figure(piece, "before").label
    'before: 1 node (Neg); reads x'
    """
    if not excerpt.boxes:
        text = '<text class="sx-u" x="6" y="24">nothing reads it</text>'
        return Figure(text, 120, 36, f"{word}: no nodes, as nothing reads the result")
    sizes = [_size(box) for box in excerpt.boxes]
    found = layout(sizes, excerpt.arrows)
    lines, tips = [], []
    for path in found.paths:
        (x, y), (end_x, end_y) = path[0], path[-1]
        points = [*path[:-1], (end_x, end_y - _TIP)]
        lines.append(f"M{x + _EDGE} {y + _EDGE}" + "".join(map(_bent, pairwise(points))))
        tips.append(f"M{end_x + _EDGE} {end_y + _EDGE}l-4 -7h8z")
    paths: dict[str, list[str]] = {}
    texts = []
    for box, (width, height), (x, y) in zip(excerpt.boxes, sizes, found.centres, strict=True):
        left, top = x - width // 2 + _EDGE, y - height // 2 + _EDGE
        paths.setdefault(box.kind, []).append(rectangle(left, top, width, height))
        texts += _texts(box, x + _EDGE, y + _EDGE)
    boxes = [f'<path class="sx-b sx-{kind}" d="{"".join(d)}"/>' for kind, d in paths.items()]
    content = "".join(
        (
            f'<path class="sx-e" d="{"".join(lines)}"/><path class="sx-a" d="{"".join(tips)}"/>',
            *boxes,
            *texts,
        )
    )
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
    width = max(_OP_LETTER * len(_short(box.op)), _NAME_LETTER * len(_short(box.name)))
    high = _NODE if box.op and box.name else _VALUE
    return 2 * round(max(_LEAST, width + _PADDING) / 2), high


def _texts(box: Box, x: int, y: int) -> list[str]:
    op, name = as_html(_short(box.op)), as_html(_short(box.name))
    if not op:
        return [f'<text class="sx-u" x="{x}" y="{y + 4}">{name}</text>']
    if not name:
        return [f'<text x="{x}" y="{y + 5}">{op}</text>']
    return [
        f'<text x="{x}" y="{y - 2}">{op}</text>',
        f'<text class="sx-u" x="{x}" y="{y + 13}">{name}</text>',
    ]


def _short(name: str) -> str:
    """Return a name, without its middle if it is long."""
    name = visible(name)
    if len(name) <= _LETTERS:
        return name
    head = (_LETTERS - 1) // 2
    return f"{name[:head]}…{name[head + 1 - _LETTERS :]}"


def _bent(ends: Sequence[tuple[int, int]]) -> str:
    (x, y), (end_x, end_y) = ends
    if x == end_x:
        return f"V{end_y + _EDGE}"
    middle = (y + end_y) // 2 + _EDGE
    end_x += _EDGE
    return f"C{x + _EDGE} {middle} {end_x} {middle} {end_x} {end_y + _EDGE}"

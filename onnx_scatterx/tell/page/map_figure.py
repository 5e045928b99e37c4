"""Drawings: an index map as boxes of one colour, and a piece of graph from top to bottom.

Both have one scale along an axis that they share. What is not coloured is kept as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from math import ceil, prod

from onnx_scatterx.tell.index_map import IndexMap, Panel, Shade
from onnx_scatterx.tell.page.environment import (
    NAME_LETTER,
    OP_LETTER,
    Figure,
    filled,
    rectangle,
)
from onnx_scatterx.tell.page.layout import layout
from onnx_scatterx.tell.sketch import Box, Excerpt
from onnx_scatterx.text.visible_text import middle, visible

COLOURS = 8
_CELL, _LONGEST, _THIN, _LEAST = 16, 200, 22, 3
_GRID = 16  # cells along an axis that are separated by lines
_STRIPES = 1024  # elements of strided boxes that are shown one by one
_EDGE, _TITLE, _LINE = 6, 20, 17


def map_figures(index_map: IndexMap) -> tuple[Figure, Figure]:
    """Return the drawings of the two tensors of an index map, in the order of reading."""
    data, other = index_map.data, index_map.other
    across = _scale(data.columns[1], other.columns[1])
    down = _scale(data.rows[1], other.rows[1])
    drawn = _figure(data, across, down, _words(index_map))
    beside = _figure(other, across, down, f"index map: the {other.title}")
    return (drawn, beside) if index_map.is_read else (beside, drawn)


def _scale(size: int, other: int) -> float:
    return min(_CELL, _LONGEST / max(size, other, 1))


def _length(size: int, scale: float) -> int:
    return max(round(size * scale), _THIN if size == 1 else _LEAST)


def _figure(panel: Panel, across: float, down: float, label: str) -> Figure:
    """Return the drawing of a tensor: its title, boxes, outline, lines and axes."""
    (row_name, rows), (column_name, columns) = panel.rows, panel.columns
    width, height = _length(columns, across), _length(rows, down)
    boxes: dict[int, dict[str, None]] = {}
    most = _STRIPES // max(len(panel.shades), 1)
    for shade in panel.shades:
        rectangles = _boxes(shade, width / max(columns, 1), height / max(rows, 1), most)
        boxes.setdefault(shade.colour % COLOURS, {}).update(dict.fromkeys(rectangles))
    lines = [f"M{at} 0v{height}" for at in _between(columns, width)]
    lines += [f"M0 {at}h{width}" for at in _between(rows, height)]
    named = (("→", column_name, columns), ("↓", row_name, rows))
    axes = [f"{arrow} {name}, size {size}" for arrow, name, size in named if name]
    content = filled(
        "map.svg",
        title=panel.title,
        boxes=boxes,
        outline=rectangle(0, 0, width, height),
        lines="".join(lines),
        axes=[(_TITLE + height + _LINE * i - 3, axis) for i, axis in enumerate(axes, 1)],
        edge=_EDGE,
        down=_TITLE,
    )
    text = max(OP_LETTER * len(panel.title), *(NAME_LETTER * len(axis) for axis in axes), 0)
    high = _TITLE + height + _LINE * len(axes) + 2 * _EDGE
    return Figure(content, max(width, ceil(text)) + 2 * _EDGE, high, label)


def _between(cells: int, length: int) -> list[float]:
    """Return where the lines between cells are, if these are few."""
    return [round(i * length / cells, 1) for i in range(1, cells)] if cells <= _GRID else []


def _boxes(shade: Shade, across: float, down: float, most: int) -> Iterator[str]:
    """Yield the rectangles of a shade: one, or those of a strided one, if they are a few."""
    spans = (shade.rows, shade.columns)
    many = prod(len(span) for span in spans if span.step > 1)
    rows, columns = (_pieces(span, many <= most) for span in spans)
    for top, bottom in rows:
        for left, right in columns:
            width, height = (right - left) * across, (bottom - top) * down
            yield rectangle(left * across, top * down, max(width, 1.5), max(height, 1.5))


def _pieces(span: range, apart: bool) -> list[tuple[int, int]]:
    """Return the ends of the runs of a span: each of its places if it has steps, else all."""
    if not span:
        return []
    return [(i, i + 1) for i in span] if apart and span.step > 1 else [(span[0], span[-1] + 1)]


def _words(index_map: IndexMap) -> str:
    data = index_map.data
    parts = []
    for name, spans in (
        (data.rows[0], [s.rows for s in data.shades]),
        (data.columns[0], [s.columns for s in data.shades]),
    ):
        if name and spans:
            ranges = [f"{s.start} to {s[-1]}" for s in dict.fromkeys(spans) if s]
            parts.append(f"{name} at {', '.join(ranges[:4])}" + ", ..." * (len(ranges) > 4))
    verb = "is read" if index_map.is_read else "is written"
    return f"index map: the data {verb}" + (
        f" along {' and '.join(parts)}" if parts else " nowhere"
    )


_MARGIN = 6
_LETTERS = 20  # of a name
_NODE, _VALUE = 38, 22  # heights
_PADDING, _NARROWEST = 16, 56
_TIP = 6
_layout = lru_cache(maxsize=256)(layout)  # pieces of one form are often of one size


def graph_figure(excerpt: Excerpt, word: str) -> Figure:
    """Return the drawing of a piece of graph; ``word`` says which it is.

    >>> from onnx_scatterx.tell.sketch import Box
    >>> piece = Excerpt((Box("node", "Neg", "n"), Box("value", "", "x")), ((1, 0),), (("Neg", 1),))
    >>> graph_figure(piece, "before").label
    'before: 1 node (Neg); reads x'
    """
    if not excerpt.boxes:
        label = f"{word}: no nodes, as nothing reads the result"
        return Figure(filled("graph.svg", boxes=()), 120, 36, label)
    sizes = [_size(box) for box in excerpt.boxes]
    arrangement = _layout(tuple(sizes), excerpt.arrows)
    lines, tips = [], []
    for path in arrangement.paths:
        (x, y), (end_x, end_y) = path[0], path[-1]
        points = [*path[:-1], (end_x, end_y - _TIP)]
        lines.append(f"M{x + _MARGIN} {y + _MARGIN}" + "".join(map(_bent, pairwise(points))))
        tips.append(f"M{end_x + _MARGIN} {end_y + _MARGIN}l-4 -7h8z")
    outlines: dict[str, list[str]] = {}
    boxes = []
    for box, (width, height), (x, y) in zip(excerpt.boxes, sizes, arrangement.centres, strict=True):
        left, top = x - width // 2 + _MARGIN, y - height // 2 + _MARGIN
        outlines.setdefault(box.kind, []).append(rectangle(left, top, width, height))
        texts = [(_short(text), text) for text in (box.op, box.name)]
        boxes.append((*texts, x + _MARGIN, y + _MARGIN))
    content = filled("graph.svg", lines=lines, tips=tips, outlines=outlines, boxes=boxes)
    label = f"{word}: {in_words(excerpt)}"
    return Figure(content, arrangement.width + 2 * _MARGIN, arrangement.height + 2 * _MARGIN, label)


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
    return 2 * round(max(_NARROWEST, width + _PADDING) / 2), high


def _short(name: str) -> str:
    """Return a name, without its middle if it is long."""
    return middle(visible(name), _LETTERS)


def _bent(ends: Sequence[tuple[int, int]]) -> str:
    (x, y), (end_x, end_y) = ends
    if x == end_x:
        return f"V{end_y + _MARGIN}"
    middle = (y + end_y) // 2 + _MARGIN
    end_x += _MARGIN
    return f"C{x + _MARGIN} {middle} {end_x} {middle} {end_x} {end_y + _MARGIN}"

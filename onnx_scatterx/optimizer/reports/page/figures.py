"""Drawings of a page: each is stored once, even if it is shown often, up to a limit."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from onnx_scatterx.optimizer.reports.page.environment import filled

MOST_BYTES = 2_000_000  # of all drawings of a page
OP_LETTER, NAME_LETTER = 8.2, 6.3  # pixels of a letter: of the drawing, and of a name in it


class Figure(NamedTuple):
    """A drawing: the content of its svg element, its size in pixels, and a description."""

    content: Markup
    width: int
    height: int
    label: str


class Figures:
    """The drawings of one page; ``prefix`` keeps their ids apart from those of other pages."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._ids: dict[str, str] = {}
        self._bytes = 0

    def svg(self, figure: Figure) -> Markup | None:
        """Return the element that shows a drawing, or None if the page has too many.

        The first element contains the drawing, and the later ones refer to it. So a closed card
        costs a browser almost nothing.
        """
        is_first = figure.content not in self._ids
        name = self._ids.get(figure.content, f"{self._prefix}g{len(self._ids)}")
        svg = filled("drawing.svg", figure=figure, is_first=is_first, id=name)
        self._bytes += len(svg)
        if self._bytes > MOST_BYTES:
            return None
        self._ids[figure.content] = name
        return svg


def rectangle(x: float, y: float, width: float, height: float) -> str:
    """Return a rectangle as a part of a path."""
    x, y, width, height = (_short(n) for n in (x, y, width, height))
    return f"M{x} {y}h{width}v{height}h-{width}z"


def _short(number: float) -> float:
    rounded = round(number, 1)
    return int(rounded) if rounded == int(rounded) else rounded

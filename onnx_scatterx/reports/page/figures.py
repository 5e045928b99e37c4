"""Drawings of a page: each is stored once, even if it is shown often, up to a limit."""

from __future__ import annotations

from typing import NamedTuple

from onnx_scatterx.text.visible import as_html

MOST_BYTES = 2_000_000  # of all drawings of a page
LEFT_OUT = (
    '<p class="note">Its drawings are left out, since the page would be too large. '
    "A report on this model alone, or on fewer of its scatters, has them.</p>"
)


class Figure(NamedTuple):
    """A drawing: the content of its svg element, its size in pixels, and a description."""

    content: str
    width: int
    height: int
    label: str


class Figures:
    """The drawings of one page; ``prefix`` keeps their ids apart from those of other pages."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._ids: dict[str, str] = {}
        self._bytes = 0

    def svg(self, figure: Figure) -> str | None:
        """Return the element that shows a drawing, or None if the page has too many.

        The first element contains the drawing, and the later ones refer to it. So a closed card
        costs a browser almost nothing.
        """
        name = self._ids.get(figure.content)
        inside = f'<use href="#{name}"/>'
        label = as_html(figure.label)
        self._bytes += len(label) + (len(figure.content) if name is None else 0)
        if self._bytes > MOST_BYTES:
            return None
        if name is None:
            name = self._ids[figure.content] = f"{self._prefix}g{len(self._ids)}"
            inside = f'<g id="{name}">{figure.content}</g>'
        return (
            f'<svg viewBox="0 0 {figure.width} {figure.height}" width="{figure.width}" '
            f'height="{figure.height}" role="img" aria-label="{label}">'
            f"{inside}</svg>"
        )


def rectangle(x: float, y: float, width: float, height: float) -> str:
    """Return a rectangle as a part of a path."""
    x, y, width, height = (_short(n) for n in (x, y, width, height))
    return f"M{x} {y}h{width}v{height}h-{width}z"


def _short(number: float) -> float:
    rounded = round(number, 1)
    return int(rounded) if rounded == int(rounded) else rounded

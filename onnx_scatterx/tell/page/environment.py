"""Fills the templates of a page and of its drawings: every value is escaped and visible."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import onnx_scatterx
from onnx_scatterx.tell.entry_lines import ZERO_SIGN, runtime_lines
from onnx_scatterx.tell.report import NEEDS, OTHERWISE
from onnx_scatterx.text import visible


def filled(template: str, **values: object) -> Markup:
    r"""Return the text of a template with some values.

    >>> from onnx_scatterx.tell.rendering import TextTable
    >>> text = filled("cell.html", tables=[TextTable("<b>\x1b[2J", [], [])])
    >>> print(text.splitlines()[-4])
    <table><caption>&lt;b&gt;\x1b[2J</caption><thead><tr></tr></thead>
    """
    return Markup(_environment().get_template(template).render(values))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("onnx_scatterx.tell.page"),
        auto_reload=False,
        autoescape=True,
        finalize=_seen,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # Both begin with a line break, which is part of the text that a policy names by its hash.
    for name, file in ("style", "report.css"), ("script", "report.js"):
        resource = resources.files("onnx_scatterx.tell.page").joinpath(file)
        text = f"\n{resource.read_text('utf-8')}"
        digest = hashlib.sha256(text.encode()).digest()
        environment.globals[name] = Markup(text)  # our own files
        environment.globals[f"{name}_hash"] = base64.b64encode(digest).decode()
    environment.filters["visible"] = visible
    environment.globals["version"] = getattr(onnx_scatterx, "__version__", "that is not installed")
    environment.globals["ZERO_SIGN"] = ZERO_SIGN
    environment.globals["runtime_lines"] = runtime_lines
    environment.globals["NEEDS"] = f"{NEEDS}: {OTHERWISE}"
    return environment


def _seen(value: object) -> object:
    """Return a value in visible characters; the text of a template is visible already."""
    return value if hasattr(value, "__html__") else visible(value)


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

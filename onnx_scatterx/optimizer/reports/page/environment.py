"""Fills the templates of a page: all values are escaped, and every character is made visible."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import metadata, resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from onnx_scatterx.optimizer.reports.report import NEEDS
from onnx_scatterx.text.visible import visible


def filled(template: str, **values: object) -> Markup:
    r"""Return the text of a template with some values.

    >>> text = filled("cell.html", heading="<b>\x1b[2J", lines=(), good=True)
    >>> print(text.splitlines()[-2])
    <p class="fine">&lt;b&gt;\x1b[2J</p>
    """
    return Markup(_environment().get_template(template).render(values))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("onnx_scatterx.optimizer.reports.page"),
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
        place = resources.files("onnx_scatterx.optimizer.reports.page").joinpath(file)
        text = f"\n{place.read_text('utf-8')}"
        digest = hashlib.sha256(text.encode()).digest()
        environment.globals[name] = Markup(text)  # our own files
        environment.globals[f"{name}_hash"] = base64.b64encode(digest).decode()
    environment.filters["visible"] = visible
    environment.globals["version"] = _version()
    environment.globals["NEEDS"] = NEEDS
    return environment


def _seen(value: object) -> object:
    """Return a value in visible characters; the text of a template is visible already."""
    return value if hasattr(value, "__html__") else visible(value)


def _version() -> str:
    """Return the version of the package that is installed."""
    try:
        return metadata.version("onnx-scatterx")
    except metadata.PackageNotFoundError:
        return "that is not installed"

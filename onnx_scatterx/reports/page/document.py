"""A page: the parts that stand by themselves put into one document, with its style and script."""

from __future__ import annotations

import base64
import hashlib
import os
from datetime import UTC, datetime
from importlib import metadata, resources

from onnx_scatterx.reports.page.comparison import ComparedNote
from onnx_scatterx.reports.page.figures import Figures
from onnx_scatterx.reports.page.head import title
from onnx_scatterx.reports.page.model_section import kinds_of, model_section
from onnx_scatterx.reports.page.words import glossary
from onnx_scatterx.reports.report import Report
from onnx_scatterx.text.visible import as_html


def page(
    report: Report, comparison: ComparedNote | None = None, date: datetime | None = None
) -> str:
    """Return the page of one report."""
    figures = Figures("")
    date = date or now()
    tools = filters([report])
    section = model_section(report, comparison, date, version(), figures, tools=tools)
    name = as_html(title(report))
    heading = "What would become of" if report.planned else "What became of"
    body = (
        f'<header><p class="kicker">{heading}</p><h1>{name}</h1></header>\n<main>\n'
        f"{section}</main>\n"
    )
    return document(title(report), body)


def document(name: str, body: str) -> str:
    """Return a whole document around the content of a page.

    Its policy allows one style and one script, by their hashes, and to load nothing.
    """
    styles, script = f"\n{style()}", f"\n{_file('report.js')}"
    policy = (
        f"default-src 'none'; style-src {_hash(styles)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{as_html(name)}: onnx-scatterx</title>\n<style>{styles}</style>\n</head>\n"
        f'<body class="scatterx page">\n{body}'
        f'<section class="glossary"><h2>Words</h2>\n{glossary("")}</section>\n'
        f"<footer><p>Written by onnx-scatterx {as_html(version())}.</p></footer>\n"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def filters(reports: list[Report]) -> str:
    """Return the form that searches and filters cards; the script shows it."""
    kinds = kinds_of(reports)
    if sum(count for *_, count in kinds) < 2:
        return ""
    boxes = "".join(
        f'<label><input type="checkbox" value="{kind}" checked="checked"/> {word} ({count})</label>'
        for kind, word, count in kinds
    )
    return (
        '<form class="filters" role="search" hidden="hidden">'
        '<label class="find">Search '
        '<input type="search" placeholder="name, operator, rule"/></label>'
        f"<fieldset><legend>Show</legend>{boxes}</fieldset>"
        '<span class="buttons"><button type="button" data-open="true">Open all</button>'
        '<button type="button" data-open="false">Close all</button></span>'
        '<output aria-live="polite"></output></form>\n'
    )


def style() -> str:
    """Return the style of pages and of reports in a notebook."""
    return _file("report.css")


def now() -> datetime:
    """Return the time, or that of SOURCE_DATE_EPOCH, by which builds can be repeated."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isdecimal():
        return datetime.fromtimestamp(int(epoch), UTC)
    return datetime.now(UTC)


def version() -> str:
    """Return the version of the package that is installed."""
    try:
        return metadata.version("onnx-scatterx")
    except metadata.PackageNotFoundError:
        return "that is not installed"


def _hash(text: str) -> str:
    """Return how a Content-Security-Policy names a text: by its hash-source."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _file(name: str) -> str:
    return resources.files("onnx_scatterx.reports.page").joinpath(name).read_text("utf-8")

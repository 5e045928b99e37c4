"""Parts of a page that a notebook shows: they bring their style along, and need no script."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from onnx_scatterx.reports.page.comparison import ComparedNote
from onnx_scatterx.reports.page.document import now, style, version
from onnx_scatterx.reports.page.figures import Figures
from onnx_scatterx.reports.page.model_section import model_section
from onnx_scatterx.reports.page.words import glossary
from onnx_scatterx.reports.report import Report
from onnx_scatterx.text.visible import as_html


def fragment(report: Report, comparison: ComparedNote | None = None) -> str:
    """Return a report as a part of a page; its ids differ from those of other reports."""
    prefix = f"x{hashlib.sha256(report.to_json().encode()).hexdigest()[:10]}-"
    figures = Figures(prefix)
    section = model_section(
        report, comparison, now(), version(), figures, prefix=prefix, words=prefix, level=3
    )
    words = f"<details><summary>Words</summary>{glossary(prefix)}</details>"
    return _styled(f"{section}{words if report.entries else ''}")


def tables(*parts: tuple[str, Sequence[str], Iterable[Sequence[str]]]) -> str:
    """Return tables, each with its caption and its columns; all but the first are numbers.

    >>> "<td>1</td>" in tables(("times", ("model", "ms"), [("a", "1")]))
    True
    """
    return _styled("".join(_table(*part) for part in parts))


def lines(heading: str, texts: Iterable[str], *, good: bool) -> str:
    """Return a sentence that is good or bad news, with lines below it."""
    kind = "fine" if good else "alarm"
    items = "".join(f"<li>{as_html(text)}</li>" for text in texts)
    rest = f"<ul>{items}</ul>" if items else ""
    return _styled(f'<p class="{kind}">{as_html(heading)}</p>{rest}')


def _table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{as_html(column)}</th>' for column in columns)
    body = "".join(
        f'<tr><th scope="row">{as_html(row[0])}</th>'
        f"{''.join(f'<td>{as_html(cell)}</td>' for cell in row[1:])}</tr>\n"
        for row in rows
    )
    return (
        f"<table><caption>{as_html(caption)}</caption><thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}</tbody></table>\n"
    )


def _styled(text: str) -> str:
    return f'<div class="scatterx cell">\n<style>\n{style()}</style>\n{text}</div>\n'

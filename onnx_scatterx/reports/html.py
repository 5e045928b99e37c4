"""The report as a page of HTML that stands by itself: no script, no other file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from onnx_scatterx.reports.entries import Action
from onnx_scatterx.reports.report import Report
from onnx_scatterx.text.visible import as_html

if TYPE_CHECKING:
    from onnx_scatterx.verification import Verification

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem; border: 1px solid #8885 }
td { overflow-wrap: anywhere }
td:first-child, td:last-child { min-width: 12rem }
td:nth-child(2), td:nth-child(4) { overflow-wrap: normal }
pre { white-space: pre-wrap }
tr.kept td:last-child { color: #b35900 }
tr.removed td:last-child, tr.dead td:last-child { color: #1a7f37 }
"""


def page(report: Report, verification: Verification | None = None) -> str:
    """Return a report as HTML, with the answer of ``verify`` if given."""
    parts = [f"<p>Target <code>{as_html(report.target)}</code>: {as_html(report.headline())}.</p>"]
    if report.entries:
        rows = ((entry.action, entry.row()) for entry in report.entries)
        parts.append(_table(report.columns, rows))
    for title, texts in (
        ("Assumed", report.assumptions),
        ("Assumed and not needed", report.not_needed),
        ("Operator set", report.opset_lines()),
        ("Sizes", (*report.fixed_lines(), *report.size_lines())),
        ("Updates that collide", report.duplicate_lines()),
    ):
        if texts:
            items = "".join(f"<li>{as_html(text)}</li>" for text in texts)
            parts.append(f"<h2>{title}</h2><ul>{items}</ul>")
    if report.violations:
        left = ((None, (v.node, v.op, v.why)) for v in report.violations)
        parts.append("<h2>Not taken by the target</h2>")
        parts.append(_table(("node", "operator", "why"), left))
    if verification is not None:
        lines = "\n".join(map(as_html, str(verification).split("\n")))
        parts.append(f"<h2>Verified</h2><pre>{lines}</pre>")
    changed = _changed(report.ops_before, report.ops_after)
    if changed:
        parts.append("<h2>Nodes</h2>")
        parts.append(_table(("operator", "before", "after"), ((None, row) for row in changed)))
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f"<title>onnx-scatterx</title>\n<style>{_STYLE}</style>\n"
        f"<h1>onnx-scatterx</h1>\n{body}\n</html>\n"
    )


def _table(head: Iterable[str], rows: Iterable[tuple[Action | None, Iterable[str]]]) -> str:
    lines = ["<table>", f"<tr>{''.join(f'<th>{as_html(text)}</th>' for text in head)}</tr>"]
    for action, row in rows:
        kind = "" if action is None else f' class="{action.name.lower()}"'
        lines.append(f"<tr{kind}>{''.join(f'<td>{as_html(text)}</td>' for text in row)}</tr>")
    return "\n".join([*lines, "</table>"])


def _changed(before: Counter[str], after: Counter[str]) -> list[tuple[str, str, str]]:
    """Return the operators that are there more or less often than before."""
    names = sorted(before | after)
    return [(op, str(before[op]), str(after[op])) for op in names if before[op] != after[op]]

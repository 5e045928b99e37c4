"""The head of a report: the model, the options, the result, and the operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from onnx_scatterx.reports.about import About, bytes_text
from onnx_scatterx.reports.page.comparison import ComparedNote
from onnx_scatterx.reports.page.words import link
from onnx_scatterx.reports.report import Report
from onnx_scatterx.text.visible import as_html


def title(report: Report) -> str:
    """Return the name of the model; of a path, the last part."""
    if report.about is None:
        return "onnx-scatterx"
    return report.about.model.replace("\\", "/").rstrip("/").rpartition("/")[2] or "model"


def head(
    report: Report, comparison: ComparedNote | None, date: datetime, version: str, words: str
) -> str:
    """Return a sentence about the result, and a list of the model's properties."""
    rows = "\n".join(
        f"<div><dt>{name}</dt><dd>{text}</dd></div>"
        for name, text in _rows(report, comparison, date, version, words)
    )
    return f'<p class="lead">{as_html(report.headline())}.</p>\n<dl class="about">\n{rows}\n</dl>\n'


def _rows(
    report: Report, comparison: ComparedNote | None, date: datetime, version: str, words: str
) -> Iterator[tuple[str, str]]:
    about = report.about
    if about is not None:
        yield "Model", f"<code>{as_html(about.model)}</code>"
        if size := size_text(about):
            yield "File size", size
    after = "would be" if report.planned else "after"
    yield "Nodes", f"{report.nodes_before} before, {report.nodes_after} {after}"
    yield "Target", f"<code>{as_html(report.target)}</code>"
    if about is not None:
        if about.opset is not None:
            yield "Operator set", str(about.opset)
        options = " ".join(about.options)
        yield "Options", f"<code>{as_html(options)}</code>" if options else "none"
    count = len(report.assumptions)
    yield "Assumptions", f"{link('assumption', words, str(count))}" if count else "none"
    if not report.planned:
        yield "Compared", _compared(comparison)
    yield "Date", f'<time datetime="{date:%Y-%m-%dT%H:%M:%SZ}">{date:%Y-%m-%d %H:%M} UTC</time>'
    yield "Version", f"onnx-scatterx {as_html(version)}"


def _compared(comparison: ComparedNote | None) -> str:
    if comparison is None:
        return "not compared: <code>--verify</code> does"
    lines = "\n".join(map(as_html, comparison.lines))
    more = f"<details><summary>What was compared</summary><pre>{lines}</pre></details>"
    return as_html(comparison.outcome) + more * bool(comparison.lines)


def size_text(about: About) -> str:
    """Return how large the file is before and after.

    >>> size_text(About("m.onnx", size_before=2000, size_after=1500))
    '2.00 kB before, 1.50 kB after (25 % less)'
    """
    if about.size_before is None:
        return ""
    text = bytes_text(about.size_before)
    if about.size_after is not None:
        text = f"{text} before, {bytes_text(about.size_after)} after"
        share = (about.size_after - about.size_before) / max(about.size_before, 1) * 100
        if abs(share) >= 0.5:
            text += f" ({abs(share):.0f} % {'more' if share > 0 else 'less'})"
    if about.size_outside:
        text += f", and {bytes_text(about.size_outside)} in other files"
    return text


def operators(before: Counter[str], after: Counter[str], label: str) -> str:
    """Return the table of all operators, those that changed first, with a total."""
    names = sorted(before | after, key=lambda op: (before[op] == after[op], op))
    rows = [(op, before[op], after[op]) for op in names]
    lines = [_row(op, a, b) for op, a, b in rows]
    total = _row("total", before.total(), after.total())
    return (
        f'<table>\n<caption>{as_html(label)}</caption>\n<thead><tr><th scope="col">operator</th>'
        '<th scope="col">before</th><th scope="col">after</th><th scope="col">change</th></tr>'
        f"</thead>\n<tbody>\n{''.join(lines)}</tbody>\n<tfoot>\n{total}</tfoot>\n</table>\n"
    )


def _row(name: str, before: int, after: int) -> str:
    change = after - before
    kind = "" if change == 0 else ' class="less"' if change < 0 else ' class="more"'
    difference = "" if change == 0 else f"{change:+d}"
    return (
        f'<tr{kind}><th scope="row">{as_html(name)}</th><td>{before}</td><td>{after}</td>'
        f"<td>{difference}</td></tr>\n"
    )

"""The page of many models: a table of all, and below it the report of each, folded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from onnx_scatterx.reports.about import bytes_text
from onnx_scatterx.reports.entries import Action
from onnx_scatterx.reports.page.comparison import ComparedNote
from onnx_scatterx.reports.page.document import document, filters, now, version
from onnx_scatterx.reports.page.figures import Figures
from onnx_scatterx.reports.page.head import operators
from onnx_scatterx.reports.page.model_section import model_section
from onnx_scatterx.reports.report import Report
from onnx_scatterx.text.visible import as_html


@dataclass(frozen=True)
class OneModel:
    """One of many models: its name, its report or the error, what was done, how it compared."""

    name: str
    report: Report | None
    done: str
    comparison: ComparedNote | None = None
    error: str | None = None

    @property
    def rank(self) -> int:
        """The order of models: first errors, then differences, kept nodes, ScatterX, the others."""
        if self.report is None:
            return 0
        if not self.report.entries and not self.report.violations:
            return 5
        if self.comparison is not None and not self.comparison.same:
            return 1
        report = self.report
        if report.violations or any(e.action is Action.KEPT for e in report.entries):
            return 2
        return 3 if report.native else 4


KINDS = ("failed", "failed", "kept", "native", "removed", "none")
WORDS = ("failed", "DIFFERS", "some kept", "ScatterX", "all removed", "no scatter")


def directory_page(
    name: str, summary: str, models: Sequence[OneModel], date: datetime | None = None
) -> str:
    """Return the page of many models; ``summary`` is a sentence about the results."""
    figures = Figures("")
    date = date or now()
    ordered = sorted(enumerate(models), key=lambda pair: (pair[1].rank, pair[0]))
    reports = [m.report for m in models if m.report is not None]
    before, after = Counter[str](), Counter[str]()
    for report in reports:
        before += report.ops_before
        after += report.ops_after
    sections = "\n".join(_folded(place, model, date, figures) for place, model in ordered)
    stamp = f'<time datetime="{date:%Y-%m-%dT%H:%M:%SZ}">{date:%Y-%m-%d %H:%M} UTC</time>'
    body = (
        f'<header><p class="kicker">What became of {len(models)} models</p>'
        f"<h1>{as_html(name)}</h1></header>\n<main>\n"
        f'<p class="lead">{as_html(summary)}.</p>\n<p>{stamp}</p>\n'
        f"<section><h2>Models</h2>\n{_table(ordered)}</section>\n"
        f"<section><h2>Each model</h2>\n{filters(reports)}{sections}\n</section>\n"
        f'<section class="operators"><h2>Operators of all models</h2>\n'
        f"{operators(before, after, 'Nodes of each operator in all models')}</section>\n</main>\n"
    )
    return document(name, body)


def _table(models: Sequence[tuple[int, OneModel]]) -> str:
    rows = []
    for place, model in models:
        report = model.report
        cells = ["", "", "", ""]
        if report is not None:
            about = report.about
            sizes = [] if about is None else [about.size_before, about.size_after]
            cells = [
                f"{report.removed} of {len(report.scatters)}" if report.scatters else "",
                str(report.native or ""),
                f"{report.nodes_before} → {report.nodes_after}",
                " → ".join(bytes_text(s) for s in sizes if s is not None),
            ]
        status = f'<b class="badge {KINDS[model.rank]}">{WORDS[model.rank]}</b>'
        rows.append(
            f'<tr><th scope="row"><a href="#m{place}">{as_html(model.name)}</a></th>'
            f"<td>{status}</td>{''.join(f'<td>{as_html(cell)}</td>' for cell in cells)}</tr>\n"
        )
    columns = ("model", "outcome", "scatters removed", "ScatterX", "nodes", "file size")
    names = "".join(f'<th scope="col">{column}</th>' for column in columns)
    return (
        '<div class="wide" tabindex="0" role="group" aria-label="table of the models">'
        f'<table class="plain models"><thead><tr>{names}</tr></thead>\n'
        f"<tbody>\n{''.join(rows)}</tbody></table></div>\n"
    )


def _folded(place: int, model: OneModel, date: datetime, figures: Figures) -> str:
    inside = f'<p class="alarm">{as_html(model.error or "")}</p>\n'
    if model.report is not None:
        inside = model_section(
            model.report,
            model.comparison,
            date,
            version(),
            figures,
            prefix=f"m{place}",
            level=3,
            opened=0,
        )
    kind = KINDS[model.rank]
    return (
        f'<details class="model {kind}" id="m{place}"><summary>'
        f'<span class="node">{as_html(model.name)}</span> <span class="done">'
        f'<b class="badge">{WORDS[model.rank]}</b> {as_html(model.done)}</span></summary>\n'
        f'<div class="body">\n{inside}</div></details>'
    )

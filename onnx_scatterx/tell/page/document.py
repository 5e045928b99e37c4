"""Pages of one model and of many, and the parts of them that a notebook shows."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from onnx_scatterx.tell.entries import Action, bytes_text
from onnx_scatterx.tell.page.environment import Figures, filled
from onnx_scatterx.tell.page.model_part import (
    ComparedNote,
    ModelPart,
    kinds_of,
    operator_rows,
)
from onnx_scatterx.tell.rendering import TextTable
from onnx_scatterx.tell.report import Report


def page(
    report: Report, comparison: ComparedNote | None = None, date: datetime | None = None
) -> str:
    """Return the page of one report."""
    name = "onnx-scatterx"
    if report.about is not None:
        name = report.about.model.replace("\\", "/").rstrip("/").rpartition("/")[2] or "model"
    model = ModelPart(report, comparison, Figures(""))
    kinds = kinds_of([report])
    return str(filled("page.html", name=name, model=model, kinds=kinds, date=date or _now()))


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

    @property
    def cells(self) -> list[str]:
        """What the table of models says of it, after its name and outcome."""
        report = self.report
        if report is None:
            return [""] * 4
        about = report.about
        sizes = [] if about is None else [about.size_before, about.size_after]
        return [
            f"{report.removed} of {len(report.scatters)}" if report.scatters else "",
            str(report.native or ""),
            f"{report.nodes_before} → {report.nodes_after}",
            " → ".join(bytes_text(s) for s in sizes if s is not None),
        ]


_OUTCOMES = (
    ("failed", "failed"),
    ("failed", "DIFFERS"),
    ("kept", "some kept"),
    ("native", "ScatterX"),
    ("removed", "all removed"),
    ("none", "no scatter"),
)
"""Of each rank: the name for style and filter, and the word."""


def directory_page(
    name: str, summary: str, models: Sequence[OneModel], date: datetime | None = None
) -> str:
    """Return the page of many models; ``summary`` is a sentence about the results."""
    figures = Figures("")
    reports = [m.report for m in models if m.report is not None]
    before, after = Counter[str](), Counter[str]()
    for report in reports:
        before += report.ops_before
        after += report.ops_after
    rows = []
    for index, model in sorted(enumerate(models), key=lambda pair: (pair[1].rank, pair[0])):
        part = None
        if model.report is not None:
            part = ModelPart(model.report, model.comparison, figures, f"m{index}", level=3)
        kind, word = _OUTCOMES[model.rank]
        rows.append({"model": model, "part": part, "id": f"m{index}", "kind": kind, "word": word})
    return str(
        filled(
            "directory.html",
            name=name,
            summary=summary,
            date=date or _now(),
            rows=rows,
            kinds=kinds_of(reports),
            operator_rows=operator_rows(before, after),
        )
    )


def fragment(report: Report, comparison: ComparedNote | None = None) -> str:
    """Return a report as a part of a page; its ids differ from those of other reports."""
    prefix = f"x{hashlib.sha256(report.to_json().encode()).hexdigest()[:10]}-"
    model = ModelPart(report, comparison, Figures(prefix), prefix, prefix, level=3)
    return str(filled("cell.html", model=model))


def tables(*parts: TextTable) -> str:
    """Return tables, each with its title and its columns; all but the first are numbers.

    >>> "<td>1</td>" in tables(TextTable("times", ("model", "ms"), [("a", "1")]))
    True
    """
    return str(filled("cell.html", tables=parts))


def _now() -> datetime:
    """Return the time, or that of SOURCE_DATE_EPOCH, by which builds can be repeated."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isdecimal():
        return datetime.fromtimestamp(int(epoch), UTC)
    return datetime.now(UTC)

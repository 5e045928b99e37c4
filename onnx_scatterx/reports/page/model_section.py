"""All that a page says of one model, as sections; a page of many models has them folded."""

from __future__ import annotations

from datetime import datetime

from onnx_scatterx.reports.page.attention import attention
from onnx_scatterx.reports.page.cards import KINDS, Cards
from onnx_scatterx.reports.page.comparison import ComparedNote
from onnx_scatterx.reports.page.figures import Figures
from onnx_scatterx.reports.page.head import head, operators
from onnx_scatterx.reports.report import Report

_FEW = 3  # cards that are open from the start


def model_section(
    report: Report,
    comparison: ComparedNote | None,
    date: datetime,
    version: str,
    figures: Figures,
    *,
    prefix: str = "",
    words: str = "",
    level: int = 2,
    opened: int = _FEW,
    tools: str = "",
) -> str:
    """Return the sections of a model.

    ``prefix`` begins the ids, ``words`` those of the explanations; ``level`` is that of headings.
    If there are at most ``opened`` cards, all are open. ``tools`` stand above the cards.
    """
    h, sub = f"h{level}", level + 1
    cards = Cards(report, figures, prefix, comparison, words, sub)
    ordered = cards.ordered()
    parts = [head(report, comparison, date, version, words)]
    sizes = report.fixed_lines() + report.size_lines() + report.opset_lines()
    contents = (report.entries, report.violations, sizes, report.not_needed, comparison)
    if any(contents):
        needs = attention(report, ordered, comparison, words, sub)
        parts.append(
            f'<section class="attention"><{h}>What needs attention</{h}>\n{needs}</section>\n'
        )
    if report.entries:
        kind = "Scatters and gathers" if report.scatters and report.gathers else "Scatters"
        kind = "Gathers" if not report.scatters else kind
        few = len(ordered) if len(ordered) <= opened else 0
        parts.append(
            f'<section class="cards"><{h}>{kind}</{h}>\n{tools}'
            f"{cards.all(opened=few)}\n</section>\n"
        )
    if report.ops_before or report.ops_after:
        table = operators(report.ops_before, report.ops_after, "Nodes of each operator")
        parts.append(f'<section class="operators"><{h}>Operators</{h}>\n{table}</section>\n')
    return "".join(parts)


def kinds_of(reports: list[Report]) -> list[tuple[str, str, int]]:
    """Return the kinds of cards there are: the name, the word on the card, and how many."""
    counts: dict[tuple[str, str], int] = dict.fromkeys(dict.fromkeys(KINDS.values()), 0)
    for report in reports:
        for entry in report.entries:
            counts[KINDS[entry.action]] += 1
    return [(kind, word, count) for (kind, word), count in counts.items() if count]

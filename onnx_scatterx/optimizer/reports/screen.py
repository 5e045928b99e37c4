"""A report on one screen: equal rows are one row, and what is left out is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from onnx_scatterx.optimizer.reports.advice import advice_lines
from onnx_scatterx.optimizer.reports.entries import STYLES, Action, Entry, legend
from onnx_scatterx.optimizer.reports.rendering import group, table
from onnx_scatterx.text.visible import middle

if TYPE_CHECKING:
    from onnx_scatterx.optimizer.reports.rendering import Group, Table
    from onnx_scatterx.optimizer.reports.report import Report

_ROWS = 5  # of the table
_ADVICE = 2  # reasons that have a command
_WAYS = 2  # commands, if there is one reason
_LINES = 3  # about one matter
_OPERATORS = 6  # whose counts are told
_LETTERS = 150  # of a line: two lines of a terminal
_DONE = 60  # of a cell, if rows are left out
_LAST = [Action.KEPT, Action.NATIVE, Action.REMOVED, Action.DEAD]


def screen(report: Report) -> Group:
    """Return what a user reads first; ``report.shown()`` is all of it."""
    ways = _WAYS if len(report.advice) == 1 else 1
    advice = [replace(a, ways=a.ways[:ways]) for a in report.advice[:_ADVICE]]
    told = advice_lines(advice)  # of which commands and conditions are never cut
    told = [line if line.startswith(" " * 6) else middle(line, _LETTERS) for line in told]
    more = len(report.advice) - len(advice)
    told += [f"  and {more} more: -v prints them"] if more > 0 else []
    shown, left = _table(report) if report.entries else (report.headline(), [])
    changed = [middle(report.operators(_OPERATORS), _LETTERS)] if report.operators() else []
    *matters, refused = report.sections()
    if report.to_fix and refused:  # most of them are gone at numbers
        refused = [f"{refused[0].rstrip(':')}, with sizes that are not numbers: -v prints them"]
    below = [line for lines in (*matters, refused) for line in _cut(lines)]
    return group(*told, shown, *left, *changed, *below, legend=legend(report.entries))


def _table(report: Report) -> tuple[Table, list[str]]:
    """Return a row for each group of entries, and a line about the entries that have none.

    If some are together in a row, it has their number instead of their operator.
    """
    groups = sorted(_groups(report.entries), key=lambda alike: _LAST.index(alike[0].action))
    is_grouped = len(groups) < len(report.entries)
    rows, styles = [], []
    for alike in groups[:_ROWS]:
        texts = [[*dict.fromkeys(told)] for told in zip(*(e.row() for e in alike), strict=True)]
        row = [first + ", ..." * bool(others) for first, *others in (texts[0][:1], *texts[1:])]
        if is_grouped:
            row[1:] = [str(len(alike) - 1 or ""), row[2], middle(row[3], _DONE)]
        rows.append(row)
        styles.append(STYLES[alike[0].action])
    node, operator, *others = report.columns
    columns = (node, "more" if is_grouped else operator, *others)
    left = sum(map(len, groups[_ROWS:]))
    return (
        table(report.headline(), columns, rows, numbers=["more"], names=["node"], styles=styles),
        [f"and {left} more: -v prints them"] if left else [],
    )


def _groups(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Return the entries that are told alike: by less of their row, until few groups are left."""
    found: dict[object, list[Entry]] = {}
    for cells in ((0, 1, 2, 3), (1, 2, 3), (2, 3), (3,)):
        found = {}
        for entry in entries:
            row = entry.row()
            found.setdefault((entry.action, *(row[cell] for cell in cells)), []).append(entry)
        if len(found) <= _ROWS:
            break
    return list(found.values())


def _cut(lines: Sequence[str]) -> list[str]:
    """Return the first lines of a matter, each of bearable length."""
    left = len(lines) - _LINES
    told = [middle(line, _LETTERS) for line in (lines[:_LINES] if left > 1 else lines)]
    return [*told, *([f"  and {left} more: -v prints them"] if left > 1 else [])]

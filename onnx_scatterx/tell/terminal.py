"""A report on one screen: equal rows are one row, and what is left out is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from onnx_scatterx.grouping import grouped
from onnx_scatterx.operators import SCATTERS
from onnx_scatterx.tell.entries import STYLES, Action, Entry, legend
from onnx_scatterx.tell.entry_lines import duplicate_lines, move_lines, runtime_lines, zero_lines
from onnx_scatterx.tell.kept_advice import Advice, without_parts
from onnx_scatterx.tell.outcome import outcome
from onnx_scatterx.tell.refused import lacked_lines, left_lines
from onnx_scatterx.tell.rendering import Group, TextTable

if TYPE_CHECKING:
    from onnx_scatterx.tell.report import Report

_ADVICE = 2  # reasons that have a command
_WAYS = 2  # commands, if there is one reason
_ROWS = 5  # of the table
_LINES = 3  # about one matter
_FEW = 2  # of what would be left out: so many are told after all
_DONE = 60  # letters of a cell if rows are together: a longer reason is told without its detail
_LAST = [Action.KEPT, Action.NATIVE, Action.REMOVED, Action.DEAD]


def screen(
    report: Report,
    *,
    whole: bool = False,
    answer: Sequence[str] = (),
    command: str = "",
    is_written: bool = True,
) -> Group:
    """Return what a user reads first, or the ``whole``: nothing is left out.

    First comes the result, then what there is to do, and then what is so. That the model runs on no
    input comes before all, and no command after it. No sentence is cut. Of a model as it is, there
    is no table: nothing would be done with its scatters.
    ``answer`` is that of a comparison, in lines, and ``command`` what to do if there is no advice.
    If the result differs, it is not ``is_written``, and has no outcome.
    """
    if report.as_is:
        head: list[TextTable | str] = []
    elif report.entries:
        table, left = _table(report, whole)
        head = [table, *left]
    else:
        head = [report.headline()]
    fatal = [line for a in report.advice if a.is_fatal for line in a.lines()]
    ending = [outcome(report)] if is_written and (report.entries or report.has_profile) else []
    told = _advised([a for a in report.advice if a.has_action], whole)
    told += [f"  {line}" for line in lacked_lines(report)]
    idle = [a for a in report.advice if not a.has_action and not a.is_fatal]
    rest = [a for a in idle if whole or not a.is_idle]
    facts = [line.removeprefix("  ") for line in _advised(rest, whole)]
    matters = _matters(report, whole)
    below = [x for lines in matters for x in (lines if whole else _cut(lines))]
    doing = ["next:", f"  {command}"] if command and not fatal else []
    doing = ["what to do next:", *told] if told else doing
    return Group([*fatal, *head, *answer, *ending, *doing, *facts, *below], bold=ending)


def _advised(advice: Sequence[Advice], whole: bool) -> list[str]:
    """Return advice in indented lines; if not the ``whole``, the first, with few commands."""
    some = list(advice)
    if not whole:
        shown = without_parts(advice)
        ways = _WAYS if len(shown) < _ADVICE else 1
        some = [replace(a.brief(), ways=a.ways[:ways]) for a in shown[: _first(shown, _ADVICE)]]
    more = _left_out(len(advice) - len(some), "  ")
    return [*(f"  {line}" for a in some for line in a.lines()), *more]


def _first(told: Sequence[object], most: int) -> int:
    """Return how many of some lines are told: ``most``, or all if few more are there."""
    return len(told) if len(told) <= most + _FEW else most


def _left_out(left: int, indent: str) -> list[str]:
    """Return in a line how many more there are, if there are any."""
    return [f"{indent}and {left} more: -v prints {'it' if left == 1 else 'them'}"] if left else []


def _operators(report: Report) -> str:
    """Return in a line the operators whose counts differ: scatters, then what changes most."""
    before, after = report.ops_before, report.ops_after
    changed = [op for op in before | after if before[op] != after[op]]
    changed.sort(key=lambda op: (op not in SCATTERS, -abs(after[op] - before[op]), op))
    return ", ".join(f"{op} {before[op]} -> {after[op]}" for op in changed)


def _matters(report: Report, whole: bool) -> list[list[str]]:
    """Return the text below the table, in lines for each matter."""
    changed = _operators(report) if whole else ""
    return [
        [changed] if changed else [],
        report.standard_lines(),
        report.opset_lines(),
        report.fixed_lines(),
        ["assumed:", *(f"  {fact}" for fact in report.assumptions)] if report.assumptions else [],
        move_lines(report.scatters) if whole else [],
        duplicate_lines(report.scatters),
        zero_lines(report.entries, planned=report.planned),
        runtime_lines(report.entries),
        []
        if report.advice or report.as_is
        else report.size_lines(),  # advice says it, with numbers
        report.violation_lines() if whole else left_lines(report),
    ]


def _table(report: Report, whole: bool) -> tuple[TextTable, list[str]]:
    """Return a row for each group of entries, and a line about the entries that have none.

    If some are together in a row, it has their number instead of their operator.
    """
    groups = [[entry] for entry in report.entries]
    if not whole:
        groups = sorted(_groups(report.entries), key=lambda alike: _LAST.index(alike[0].action))
    is_grouped = len(groups) < len(report.entries)
    rows, styles = [], []
    for alike in groups if whole else groups[: _first(groups, _ROWS)]:
        cells = (_row(entry, is_grouped) for entry in alike)
        texts = [[*dict.fromkeys(told)] for told in zip(*cells, strict=True)]
        row = [first + ", ..." * bool(others) for first, *others in (texts[0][:1], *texts[1:])]
        if is_grouped:
            row[1] = str(len(alike) - 1 or "")
        rows.append(row)
        styles.append(STYLES[alike[0].action])
    node, operator, *others = report.columns
    columns = (node, "more" if is_grouped else operator, *others)
    left = sum(map(len, groups[len(rows) :]))
    words = [*legend(report.entries), *["more: how many more nodes a row is about"] * is_grouped]
    table = TextTable(
        report.headline(),
        columns,
        rows,
        ["more"],
        ["node"],
        styles,
        ["; ".join(words)] * bool(words),
    )
    return table, _left_out(left, "")


def _row(entry: Entry, is_grouped: bool) -> tuple[str, ...]:
    """Return the row of an entry; if rows are together, without the detail of a long reason."""
    *cells, done = entry.row()
    if is_grouped and entry.reason is not None and len(done) > _DONE:
        done = f"{entry.action.value}: {entry.reason.value}"
    return *cells, done


def _groups(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Return the entries that are told alike: by less of their row, until few groups are left."""
    rows = [(entry, entry.row()) for entry in entries]
    for cells in ((0, 1, 2, 3), (1, 2, 3), (2, 3), (3,)):
        groups = grouped(((e.action, *(row[cell] for cell in cells)), e) for e, row in rows)
        if len(groups) <= _ROWS:
            break
    return list(groups.values())


def _cut(lines: Sequence[str]) -> list[str]:
    """Return the first lines of a matter, and how many more there are; of few lines all.

    >>> _cut(list("abcdef"))[3:], _cut(list("abcde"))[3:]
    (['  and 3 more: -v prints them'], ['d', 'e'])
    """
    first = _first(lines, _LINES)
    return [*lines[:first], *_left_out(len(lines) - first, "  ")]

"""What is left to do about a result, on the first screen of a page: commands that were tried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from onnx_scatterx.tell.entries import Action, ScatterReport
from onnx_scatterx.tell.kept_advice import without_parts
from onnx_scatterx.tell.refused import lacked_lines

if TYPE_CHECKING:
    from onnx_scatterx.tell.report import Report

_SHOWN = 2  # matters that have a command; the others are counted


class Task(NamedTuple):
    """One thing to do: what is so, the command that changes it, and what it depends on."""

    why: str
    command: str = ""
    condition: str = ""


def to_do(report: Report, *, differs: bool = False) -> list[Task]:
    """Return what is left to do about a result.

    >>> from onnx_scatterx.tell.report import Report
    >>> to_do(Report("npu", (), 9, 5, has_profile=True))
    []
    """
    if differs:
        return [Task("do not use the result: its outputs differ from those of the model")]
    acts = [advice for advice in report.advice if advice.has_action]
    tasks = []
    for advice in without_parts(acts)[:_SHOWN]:
        first, *_ = advice.lines()
        command, condition = "", f"add {advice.missing}"
        if advice.ways:
            command, condition = advice.ways[0].command, advice.ways[0].condition
        tasks.append(Task(first.rstrip(":"), command, condition))
    if more := len(acts) - len(tasks):
        tasks.append(Task(f"{more} more below"))
    told = tasks or [Task(text) for text in _without_commands(report)]
    return [*told, *map(Task, lacked_lines(report))]


def _without_commands(report: Report) -> Iterator[str]:
    """Yield what is open if no command is known."""
    if not report.advice:
        yield from report.size_lines()
    kept = [entry for entry in report.entries if entry.action is Action.KEPT]
    refused = any(not violation.is_taken for violation in report.violations)
    if report.to_fix:
        return
    if refused if report.has_profile else kept:
        tried = (
            "no option that was tried changes it" if report.advice else "see what needs attention"
        )
        noun = "scatter" if all(isinstance(entry, ScatterReport) for entry in kept) else "node"
        count = f"1 {noun} is kept" if len(kept) == 1 else f"{len(kept)} {noun}s are kept"
        yield f"{f'{report.target} refuses a part of it' if refused else count}: {tried}"

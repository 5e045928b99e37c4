"""The outcomes of models as a table in Markdown, for the summary of a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from onnx_scatterx.operators import SCATTERS
from onnx_scatterx.text import visible

if TYPE_CHECKING:
    from onnx_scatterx.doors.batch.gate import Gate
    from onnx_scatterx.doors.batch.summary import ModelOutcome

_HEAD = "| result | model | scatters | violations | what to do first |\n|---|---|---|---|---|"


def markdown(outcomes: Iterable[ModelOutcome], gate: Gate) -> str:
    r"""Return a table with a row for each model.

    >>> from pathlib import Path
    >>> from onnx_scatterx.doors.batch.gate import Gate
    >>> from onnx_scatterx.doors.batch.summary import ModelOutcome
    >>> broken = ModelOutcome(Path("a|b.onnx"), None, None, None, "a|b.onnx: is empty", 0.0)
    >>> print(markdown([broken], Gate()).splitlines()[-1])
    | **fail** | `a\|b.onnx` |  |  | is empty |
    """
    return "\n".join([_HEAD, *(_row(outcome, gate) for outcome in outcomes), ""])


def _row(outcome: ModelOutcome, gate: Gate) -> str:
    verdict = gate.verdict(outcome)
    told = {
        "pass": "pass",
        "fail": "**fail**",
        "allowed": f"allowed: {_cell(gate.reason(outcome.source) or '')}",
    }[verdict]
    cells = [told, _code(str(outcome.source)), "", ""]
    report = outcome.report
    if report is None:
        error = (outcome.error or "").removeprefix(f"{outcome.source}: ")
        return _joined([*cells, _cell(error)])
    hosted = sum(violation.on_host for violation in report.violations)
    refused = sum(not violation.is_taken for violation in report.violations)
    cells[2] = f"{_scatters(report.ops_before)} → {_scatters(report.ops_after)}"
    if report.has_profile:
        cells[3] = f"{refused}{f', {hosted} on the host' if hosted else ''}"
    if outcome.agrees is False:
        return _joined([*cells, "the result differs, and is not written"])
    if verdict == "pass":
        return _joined([*cells, ""])
    command, words = report.first_step()
    if not command and report.unmet(gate.strict):
        command = gate.look_closer(outcome.source, _options(outcome))
    return _joined([*cells, _code(command) if command else _cell(words)])


def _scatters(operators: Mapping[str, int]) -> int:
    return sum(operators.get(op, 0) for op in (*SCATTERS, "ScatterX"))


def _options(outcome: ModelOutcome) -> list[str]:
    """Return the options of a model as they are typed, without those by which it stays as it is."""
    report = outcome.report
    options = () if report is None or report.about is None else report.about.options
    return [option for option in options if not option.startswith("--passes ")]


def _joined(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    r"""Return a text for a cell: it ends no cell, and is no markup.

    >>> print(_cell("<b> | *"))
    \<b\> \| \*
    """
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>|#" else letter for letter in visible(text))


def _code(text: str) -> str:
    shown = visible(text).replace("|", "\\|")
    marks = "``" if "`" in shown else "`"
    return f"{marks}{shown}{marks}"

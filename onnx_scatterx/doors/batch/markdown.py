"""The outcomes of models as a table in Markdown, for the summary of a pull request.

Somebody who has never heard of the tool reads it, so the text above the table says how to act.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from onnx_scatterx.text import visible

if TYPE_CHECKING:
    from onnx_scatterx.doors.batch.gate import Gate
    from onnx_scatterx.doors.batch.summary import ModelOutcome
    from onnx_scatterx.tell import Report

_ABOUT = """\
onnx-scatterx removes scatter nodes from ONNX models, so that chips without a scatter operator \
take these models. The table says which models pass{target}, and why the others fail.

To run a command of the table, clone the repository of onnx-scatterx, and install it there with \
`pip install --config-settings=wheel.cmake=false .` If a command writes `OUT.onnx`, commit this \
file in place of the model, or change the export of the model so that it gives this file. A known \
model may fail `--strict` if the file of `allow` (`--allow`) has a line for it: `PATH # REASON`.
"""
_COLUMNS = ("result", "model", "scatters", "violations", "why", "what to do first")


def markdown(outcomes: Iterable[ModelOutcome], gate: Gate) -> str:
    r"""Return what the tool is and how to act, and below it a table with a row for each model.

    >>> from pathlib import Path
    >>> from onnx_scatterx.doors.batch.gate import Gate
    >>> from onnx_scatterx.doors.batch.summary import ModelOutcome
    >>> broken = ModelOutcome(Path("a|b.onnx"), None, None, None, "a|b.onnx: is empty", 0.0)
    >>> print(markdown([broken], Gate()).splitlines()[-1])
    | **fail** | `a\|b.onnx` |  |  | is empty |  |
    """
    about = _ABOUT.format(target=f" for the target {_code(gate.target)}" if gate.target else "")
    head = [_joined(_COLUMNS), f"|{'---|' * len(_COLUMNS)}"]
    return "\n".join([about, *head, *(_row(outcome, gate) for outcome in outcomes), ""])


def _row(outcome: ModelOutcome, gate: Gate) -> str:
    verdict, reason, report = gate.verdict(outcome), gate.reason(outcome.source), outcome.report
    told = {"pass": "pass", "fail": "**fail**", "allowed": f"allowed: {_cell(reason or '')}"}
    scatters = violations = first = ""
    why = gate.why(outcome) or ""
    if report is not None:
        scatters = f"{_scatters(report.ops_before)} → {_scatters(report.ops_after)}"
        violations = _violations(report)
        if verdict == "pass" and gate.strict and reason is not None:
            why = "it passes: remove it from the file of --allow"
        if verdict != "pass" and outcome.agrees is not False:
            first = _first_step(outcome, report, gate)
    cells = [told[verdict], _code(str(outcome.source)), scatters, violations, _cell(why), first]
    return _joined(cells)


def _violations(report: Report) -> str:
    """Return how many nodes a target refuses, and how many more run on its host."""
    if not report.has_profile:
        return ""
    hosted = sum(violation.on_host for violation in report.violations)
    refused = sum(not violation.is_taken for violation in report.violations)
    told = [
        *([f"{refused} refused"] if refused else []),
        *([f"{hosted} on the host"] * bool(hosted)),
    ]
    return ", ".join(told) or "0"


def _first_step(outcome: ModelOutcome, report: Report, gate: Gate) -> str:
    if report.as_is:
        return _code(gate.rewrite(outcome.source, _options(outcome)))
    command, words = report.first_step()
    if not command and report.unmet(gate.strict):
        command = gate.look_closer(outcome.source, _options(outcome))
    return _code(command) if command else _cell(words)


def _scatters(operators: Mapping[str, int]) -> int:
    from onnx_scatterx.operators import SCATTERS  # not needed for --help

    return sum(operators.get(op, 0) for op in (*SCATTERS, "ScatterX"))


def _options(outcome: ModelOutcome) -> list[str]:
    """Return the options of a model as they are typed, without those by which it stays as it is."""
    report = outcome.report
    options = () if report is None or report.about is None else report.about.options
    return [option for option in options if not option.startswith("--passes ")]


def _joined(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    r"""Return a text in which nothing is read as Markdown, such as the end of a cell.

    >>> print(_cell("<b> | *"))
    \<b\> \| \*
    """
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>|#" else letter for letter in visible(text))


def _code(text: str) -> str:
    shown = visible(text).replace("|", "\\|")
    marks = "``" if "`" in shown else "`"
    return f"{marks}{shown}{marks}"

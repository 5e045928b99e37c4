"""What `--strict` asks of one model and of several: the exit status, and on stderr what is not met.

Of several models, each that does not meet it is named with its first reasons, and with the command
that shows all of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from onnx_scatterx.doors.cli.output import DONE, NO, print_error, show_text

if TYPE_CHECKING:
    from onnx_scatterx.doors.batch.gate import Gate
    from onnx_scatterx.doors.batch.summary import ModelOutcome, Summary
    from onnx_scatterx.tell import Report

_REASONS = 3  # that are told of each of several models


def strict_status(args: argparse.Namespace, report: Report, written: str = "") -> int:
    """Return the status that --strict asks for; if it is not met, print why in a line.

    ``written`` names the model if it was written, which the line says, too.
    """
    source = args.models[0]
    if (why := args.gate.reason(source)) is not None:
        fails = bool(report.unmet(args.strict))
        if not args.quiet:
            print_error(args.gate.told(source, why, fails=fails), DONE)
        return DONE
    lines = report.unmet(args.strict)
    if not lines:
        return DONE
    heads = [line.rstrip(":") for line in lines if not line.startswith(" ")]
    # The screen may not show it.
    is_one = len(lines) == 2 and lines[0].endswith(("on its host:", "slowly:"))
    why = " ".join(map(str.strip, lines)) if is_one else "; ".join(heads)
    if written:
        refuses = any(not violation.is_taken for violation in report.violations)
        but = f", but {report.target} does not take all of it" if refuses else ""
        why += f"; {written} is written{but}"
    return print_error(f"{source}: {why}", NO)


def show_unmet(summary: Summary, *, quiet: bool) -> None:
    """Print to stderr, below the table, which models do not meet --strict, and why.

    With ``quiet``, the models that may fail it are not named.
    """
    unmet = summary.gate.unmet(summary)
    told = [
        line
        for outcome in summary.outcomes
        if outcome.source in unmet
        for line in _reasons(outcome, unmet[outcome.source], summary.gate)
    ]
    notes = [note for outcome in summary.outcomes if (note := summary.gate.note(outcome))]
    if quiet:
        notes = []
    if told or notes:
        if sys.stdout is not None:
            sys.stdout.flush()  # so that one file of both streams has the table first
        show_text("\n".join([*told, *notes]), err=True)


def _reasons(outcome: ModelOutcome, lines: list[str], gate: Gate) -> Iterator[str]:
    """Yield what a model does not meet, and a command that says more."""
    head, *rest = lines
    yield f"{outcome.source}: {head}"
    shown, is_more = rest[:_REASONS], len(rest) > _REASONS
    yield from shown[:-1] if is_more and shown[-1].endswith(":") else shown
    yield "  all reasons:" if is_more else "  look closer:"
    report = outcome.report
    options = () if report is None or report.about is None else report.about.options
    if report is not None and report.as_is:
        options = ("--as-is", *(o for o in options if not o.startswith("--passes ")))
    yield f"    {gate.look_closer(outcome.source, (*options, *['-v'] * is_more))}"

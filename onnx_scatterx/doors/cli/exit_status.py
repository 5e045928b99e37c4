"""What several commands say of a report or of a verification, and the status that follows."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from onnx_scatterx.doors.cli.arguments import checks, settings
from onnx_scatterx.doors.cli.output import print_error
from onnx_scatterx.doors.cli.progress import stages
from onnx_scatterx.options import words

if TYPE_CHECKING:
    from onnx_scatterx.doors.advice.change import Command
    from onnx_scatterx.judges.verification.result import Verification
    from onnx_scatterx.optimizer.reports.builder import NodeRecord
    from onnx_scatterx.optimizer.reports.report import Report

_DONE, _NO = 0, 1
_STATUS = {"same": _DONE, "different": _NO, "not compared": 2, "not proven": 3}


def strict_status(args: argparse.Namespace, report: Report) -> int:
    """Return the status that --strict asks for."""
    if not report.unmet(args.strict):
        return _DONE
    return print_error(report.violation_lines()[0].rstrip(":"), _NO)


def with_advice(
    args: argparse.Namespace,
    model: Any,
    report: Report,
    output: str = "OUT.onnx",
    records: Sequence[NodeRecord] | None = None,
) -> Report:
    """Return a report that says what to do next; each command in it was tried.

    With the ``records`` of the report, the model is not inspected again.
    """
    if args.no_advice or not (report.is_open or report.growth):
        return report
    from onnx_scatterx.doors.explanation import advised

    return advised(report, model, command_of(args, output), records, **settings(args))


def command_of(args: argparse.Namespace, output: str = "OUT.onnx") -> Command:
    """Return what the user typed: the arguments that change what is done with the model."""
    from onnx_scatterx.doors.advice.change import Command

    said = words({**settings(args), "target": "scatterx"})
    return Command(args.model, output, args.target_said, tuple(chain.from_iterable(said)))


def verified(args: argparse.Namespace, before: Any, after: Any, **more: Any) -> Verification:
    """Compare two models as the arguments say, and as ``more`` says, showing how far it is."""
    from onnx_scatterx.judges.verification.verifying import verify

    with stages(quiet=getattr(args, "quiet", False)) as tell:
        return verify(before, after, on_progress=tell, **{**checks(args), **more})


def answer(verification: Verification, consequence: str = "") -> int:
    """Return the exit status of a verification; if it is not 0, print a line to stderr.

    ``consequence`` is said of models that differ, or that could not be compared.
    """
    status = _STATUS[verification.answer]
    if status == _DONE:
        return status
    return print_error(verification.shortfall + consequence * (not verification.same), status)

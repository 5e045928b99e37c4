"""One model, as a command and a task of many treat it: what is made of it, and its outcome."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_scatterx.doors.batch.summary import ModelOutcome
from onnx_scatterx.observer import NOBODY, Observer
from onnx_scatterx.tell import Inquiry, Report, advised, settled

if TYPE_CHECKING:
    from onnx_scatterx.compare import Verification
    from onnx_scatterx.engine.passes import Settings
    from onnx_scatterx.files import AnyModel
    from onnx_scatterx.tell import Command


class Made(NamedTuple):
    """The report on one model and, unless it was only inspected, the new model.

    ``told`` is the report with advice, if a command for it was given. Neither report holds the
    analysis. ``left_out`` are the names of ``fix`` that the model lacks.
    """

    report: Report
    told: Report
    left_out: tuple[str, ...]
    model: Any = None
    source_path: Path | None = None

    def outcome(
        self,
        source: str | Path,
        output: str | Path | None,
        start: float,
        verification: Verification | None = None,
        files: tuple[Path, ...] = (),
    ) -> ModelOutcome:
        """Return what was done with the model, on which work began at the time ``start``."""
        agrees = proof = None
        compared = 0
        if verification is not None:
            agrees, compared = verification.agrees, verification.accepted
            proof = None if verification.proof is None else verification.proof.to_dict()
        return ModelOutcome(
            Path(source),
            None if output is None else Path(output),
            self.told,
            agrees,
            None,
            time.perf_counter() - start,
            () if agrees is False else files,
            proof,
            compared,
            self.left_out,
        )


def made(
    model: AnyModel,
    settings: Settings,
    observer: Observer = NOBODY,
    *,
    writes: bool,
    details: bool,
    leave_out: Callable[[Inquiry], tuple[str, ...]],
    command: Callable[[Report], Command] | None,
) -> Made:
    """Optimize a model, or inspect it if nothing ``writes`` it.

    The reports have the ``details`` of each scatter, or none. ``leave_out`` leaves out names of
    ``fix``. ``command`` returns the command that each command of the advice begins with.
    """
    with Inquiry.about(model, settings, observer) as asked:
        left_out = leave_out(asked)
        if writes:
            new, report, records, path, *_ = asked.optimized(keeps=command is not None)
        else:
            (report, records), new, path = asked.inspected, None, None
        report = settled(report, details=details)
        told = report if command is None else advised(asked, report, records, command(report))
    return Made(report, told, left_out, new, path)

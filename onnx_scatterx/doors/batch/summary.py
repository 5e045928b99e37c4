"""The outcomes of many models: as a table, as a page, as Markdown and as plain data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from onnx_scatterx.doors.batch.gate import Gate, Verdict
from onnx_scatterx.doors.batch.markdown import markdown
from onnx_scatterx.tell import NEEDS, OTHERWISE, SCHEMA, ShownInTables, TextTable, tallies

if TYPE_CHECKING:
    from datetime import datetime

    from onnx_scatterx.options import Strict
    from onnx_scatterx.tell import Report

_OPEN = Gate()
"""The gate that asks nothing of a result for a target."""


@dataclass(frozen=True)
class ModelOutcome:
    """One model: its report, or instead of the report its error.

    ``output`` is the file that is written; None if the model was only inspected. ``seconds`` is the
    time that the model took. ``files`` are all files that were written. ``agrees`` says that
    ``verify`` found no difference, and ``compared`` is the number of its sets of inputs. If the
    models differ, no file is written. ``proof`` is the proof as plain data, if ``prove`` was asked
    for. ``left_out`` are the names of ``fix`` that the model lacks.
    """

    source: Path
    output: Path | None
    report: Report | None
    agrees: bool | None
    error: str | None
    seconds: float
    files: tuple[Path, ...] = ()
    proof: Mapping[str, Any] | None = None
    compared: int = 0
    left_out: tuple[str, ...] = ()

    @property
    def is_written(self) -> bool:
        """Whether the optimized model is at ``output``."""
        return self.output is not None and self.error is None and self.agrees is not False

    @property
    def same(self) -> bool | None:
        """Whether the answer of ``verify`` is "same"; None if it was not asked for."""
        return self.agrees and self.answer in (None, "proven")

    @property
    def done(self) -> str:
        """The outcome in one sentence."""
        if self.report is None:
            return f"failed: {(self.error or '').removeprefix(f'{self.source}: ')}"
        if self.report.as_is:
            return self.report.summary()
        verified = {None: "", True: "; verified", False: "; DIFFERS, and is not written"}
        refused = [v for v in self.report.violations if not v.is_taken]
        left = f", {len(refused)} violation{'s' * (len(refused) > 1)} of the target" * bool(refused)
        hosted = sum(v.on_host for v in self.report.violations)
        left += f", {hosted} on its host" * bool(hosted)
        kept = "".join(f"; {line}" for line in self.report.opset_lines())
        names = ", ".join(self.left_out)
        without = f"; without --fix of {names}, which the model lacks" if names else ""
        answer = {None: "", "unknown": "not proven"}.get(self.answer, self.answer)
        proof = f", {answer}" if answer else ""
        return self.report.summary() + left + kept + without + verified[self.agrees] + proof

    @property
    def answer(self) -> str | None:
        """The answer of the proof; None without a proof."""
        return None if self.proof is None else self.proof["answer"]

    def to_dict(self, gate: Gate = _OPEN) -> dict[str, Any]:
        """Return the outcome as plain data: the keys of one model, as a gate judges it."""
        return self.told(None if self.report is None else self.report.to_dict(), gate)

    def told(self, report: Mapping[str, Any] | None, gate: Gate) -> dict[str, Any]:
        """Return the JSON of one model as plain data, given that of its report."""
        return {
            **({"schema": SCHEMA, "strict_met": None} if report is None else report),
            "source": str(self.source),
            "result": gate.verdict(self),
            "why": gate.why(self),
            "allowed": gate.reason(self.source),
            "output": str(self.output) if self.is_written else None,
            "error": self.error,
            "same": self.same,
            "fix_left_out": list(self.left_out),
            **({} if self.proof is None else {"proof": self.proof}),
            "seconds": round(self.seconds, 3),
        }


def failed_outcome(
    source: Path, output: Path | None, error: str, seconds: float = 0.0
) -> ModelOutcome:
    """Return the outcome of a model without a result; the error begins with the name of its file.

    >>> failed_outcome(Path("a.onnx"), None, "the file is empty").error
    'a.onnx: the file is empty'
    """
    if not error.startswith(str(source)):
        error = f"{source}: {error}"
    return ModelOutcome(source, output, None, None, error, seconds)


@dataclass(frozen=True)
class Summary(ShownInTables):
    """The outcomes of many models, in the order in which they were given.

    ``gate`` is what is asked of them: if it has a ``strict``, the table says which models pass.
    """

    outcomes: tuple[ModelOutcome, ...]
    seconds: float
    gate: Gate = field(default=_OPEN, compare=False)

    @property
    def failed(self) -> tuple[ModelOutcome, ...]:
        """The models that could not be optimized."""
        return tuple(o for o in self.outcomes if o.error is not None)

    @property
    def differing(self) -> tuple[ModelOutcome, ...]:
        """The models that ``verify`` found to differ."""
        return tuple(o for o in self.outcomes if o.agrees is False)

    @property
    def unproven(self) -> tuple[ModelOutcome, ...]:
        """The models for which a proof was requested and not found."""
        return tuple(o for o in self.outcomes if o.answer not in (None, "proven"))

    def unmet(self, strict: Strict) -> dict[Path, list[str]]:
        """Return the models that do not meet ``strict``, as in ``optimize``, with the violations.

        The violations are in lines: first how many there are, then each reason.
        """
        told = {o.source: o.report.unmet(strict) for o in self.outcomes if o.report is not None}
        return {source: lines for source, lines in told.items() if lines}

    def __bool__(self) -> bool:
        """Whether every model was optimized, and is the same and proven if this was asked for."""
        return not (self.failed or self.differing or self.unproven)

    def summary(self) -> str:
        """Return the summary in one sentence."""
        reports = [o.report for o in self.outcomes if o.report is not None]
        planned = self._planned
        written = sum(o.is_written for o in self.outcomes)
        done, went = (len(reports), "inspected") if planned else (written, "written")
        parts = [f"{done} of {len(self.outcomes)} models {went}"]
        if self._as_is:
            parts[0] += " as they are"
        else:
            parts += tallies(reports, planned)
        if self.failed:
            parts.append(f"{len(self.failed)} failed")
        if self.differing:
            parts.append(f"{len(self.differing)} differ")
        parts += self._taken()
        needs = f"; {NEEDS}: {OTHERWISE}" if any(report.native for report in reports) else ""
        return f"{', '.join(parts)}{needs} ({self.seconds:.1f} s)"

    @property
    def _planned(self) -> bool:
        """Whether the models were only inspected, even if each of them failed."""
        return all(
            o.output is None if o.report is None else o.report.planned for o in self.outcomes
        )

    @property
    def _as_is(self) -> bool:
        """Whether the models were compared with the target, and nothing would be done."""
        return any(o.report is not None and o.report.as_is for o in self.outcomes)

    def _taken(self) -> list[str]:
        """Return how many results the target takes whole, and how many more with its host."""
        there = [o.report for o in self.outcomes if o.report is not None and o.agrees is not False]
        known = [report for report in there if report.has_profile]
        if not known:
            return []
        accepted = [report for report in known if not report.unmet("taken")]
        hosted = sum(any(v.on_host for v in report.violations) for report in accepted)
        what = "" if self._as_is else "results would be " if known[0].planned else "results "
        told = f"{len(accepted) - hosted} of {len(known)} {what}taken whole by {known[0].target}"
        return [told, *([f"{hosted} more with nodes on its host"] if hosted else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data."""
        verdicts = [self.gate.verdict(outcome) for outcome in self.outcomes]
        return {
            "schema": SCHEMA,
            "summary": self.summary(),
            "seconds": round(self.seconds, 3),
            "totals": {word: verdicts.count(word) for word in get_args(Verdict)},
            "models": [outcome.to_dict(self.gate) for outcome in self.outcomes],
        }

    def to_html(self, name: str = "models", *, date: datetime | None = None) -> str:
        """Return the summary as one page of HTML, with the report of each model folded.

        ``name`` is its heading. ``date`` stands on it: now by default, or the time of the
        environment's SOURCE_DATE_EPOCH.
        """
        from onnx_scatterx.tell import ComparedNote, OneModel, directory_page

        top = self._folder()
        models = [
            OneModel(
                os.path.relpath(o.source, top),
                o.report,
                o.done,
                None
                if o.agrees is None
                else ComparedNote(o.compared, o.agrees, o.answer == "proven"),
                o.error,
            )
            for o in self.outcomes
        ]
        return directory_page(name, self.summary(), models, date)

    def to_markdown(self) -> str:
        """Return the outcomes as a table in Markdown, with a row for each model."""
        return markdown(self.outcomes, self.gate)

    def _folder(self) -> str:
        """Return the deepest folder that has all models; empty if no folder has all of them."""
        folders = {os.path.dirname(os.path.abspath(o.source)) for o in self.outcomes}
        return os.path.commonpath(folders) if folders else ""

    def shown(self) -> TextTable:
        """Return the models as a table, for a terminal or a pipe."""
        top = self._folder()
        rows: list[tuple[str, ...]] = [
            (os.path.relpath(o.source, top), f"{o.seconds:.2f}", o.done) for o in self.outcomes
        ]
        done = (
            "what is taken" if self._as_is else f"what {'would be' if self._planned else 'is'} done"
        )
        columns: tuple[str, ...] = ("model", "seconds", done)
        bad = [o.error is not None or o.agrees is False for o in self.outcomes]
        if self.gate.strict:
            verdicts = [self.gate.verdict(o) for o in self.outcomes]
            columns = ("result", *columns)
            rows = [(verdict, *row) for verdict, row in zip(verdicts, rows, strict=True)]
            bad = [verdict == "fail" for verdict in verdicts]
        styles = ["bold red" if is_bad else "" for is_bad in bad]
        numbers, names = ["seconds"], ["model"]
        return TextTable(self.summary(), columns, rows, numbers=numbers, names=names, styles=styles)

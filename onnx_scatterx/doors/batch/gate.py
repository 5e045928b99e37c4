"""The gate of a pull request: which models pass, which fail, and which may fail, and why they may.

A model passes if there is a result, if this is the same and proven where that was asked for, and if
it meets `--strict`. The file of `--allow` names models that may fail `--strict`, each with
a reason.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from onnx_scatterx.errors import ScatterXError, about_file, one_line
from onnx_scatterx.files import note_read
from onnx_scatterx.observer import LOG
from onnx_scatterx.options import check_words

if TYPE_CHECKING:
    from onnx_scatterx.doors.batch.summary import ModelOutcome, Summary
    from onnx_scatterx.options import Strict

Verdict = Literal["pass", "fail", "allowed"]
_LETTERS = 160  # the most of a reason


@dataclass(frozen=True)
class Gate:
    """What is asked of models: ``strict``, for a target, but for those that are ``allowed``.

    ``allowed`` has the reasons for which models may fail ``strict``, by their paths, which may be
    patterns of a shell. ``target`` is the target as it is typed.
    """

    strict: Strict = False
    target: str = ""
    allowed: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, strict: Strict, target: str, allow: str | None) -> Gate:
        """Return the gate with the models that a file ``allow`` names; None names no file."""
        return cls(strict, target, {} if allow is None else _listed(allow))

    def reason(self, source: str | Path) -> str | None:
        """Return why a model may fail ``strict``; None if it may not.

        >>> gate = Gate(True, "qnn", {"models/old/*": "retired in May"})
        >>> gate.reason("models/old/a.onnx"), gate.reason("models/b.onnx")
        ('retired in May', None)
        """
        path = os.path.relpath(source)
        for pattern, reason in self.allowed.items():
            if path == os.path.relpath(pattern) or fnmatch.fnmatchcase(path, pattern):
                return reason
        return None

    def unmet(self, summary: Summary) -> dict[Path, list[str]]:
        """Return the models that do not meet ``strict``, but for those that may fail it."""
        unmet = summary.unmet(self.strict).items()
        return {source: lines for source, lines in unmet if self.reason(source) is None}

    def verdict(self, outcome: ModelOutcome) -> Verdict:
        """Return whether a model passes, fails, or fails ``strict`` and may."""
        if outcome.report is None or outcome.agrees is False or outcome.same is False:
            return "fail"
        if not outcome.report.unmet(self.strict):
            return "pass"
        return "fail" if self.reason(outcome.source) is None else "allowed"

    def why(self, outcome: ModelOutcome) -> str | None:
        """Return the first reason for which a model does not pass, shortened; None if it passes."""
        if outcome.report is None:
            error = outcome.error or ""
            return one_line(error.removeprefix(f"{outcome.source}: "), _LETTERS)
        if outcome.agrees is False:
            return "the result differs, and is not written"
        reasons = list(_reasons(outcome.report.unmet(self.strict)))
        if reasons:
            more = f", and {len(reasons) - 1} more" if len(reasons) > 1 else ""
            return one_line(reasons[0], _LETTERS) + more
        return f"the proof is not complete: {outcome.answer}" if outcome.same is False else None

    def note(self, outcome: ModelOutcome) -> str | None:
        """Return the line about a model that the list names: it fails, or it need not be named."""
        reason = self.reason(outcome.source)
        if reason is None or outcome.report is None:
            return None
        return self.told(outcome.source, reason, fails=bool(outcome.report.unmet(self.strict)))

    @staticmethod
    def told(source: str | Path, reason: str, *, fails: bool) -> str:
        """Return the line about a model that may fail ``strict``."""
        if fails:
            return f"{source} may fail --strict: {reason}"
        return f"{source} meets --strict: remove it from the file of --allow"

    def rewrite(self, source: str | Path, options: Iterable[str] = ()) -> str:
        """Return the command that optimizes a model; each of the ``options`` is quoted already."""
        return self._asked(["optimize", str(source), "-o", "OUT.onnx"], options)

    def look_closer(self, source: str | Path, options: Iterable[str] = ()) -> str:
        """Return the command that inspects a model; each of the ``options`` is quoted already."""
        return self._asked(["inspect", str(source)], options)

    def _asked(self, words: Iterable[str], options: Iterable[str]) -> str:
        """Return a command with the target, the options, and what the gate asks for."""
        command = shlex.join(["onnx-scatterx", *words, "--target", self.target])
        return " ".join((command, *options, *check_words(strict=self.strict)))


def _reasons(lines: Iterable[str]) -> Iterator[str]:
    """Yield each reason in the lines of ``Report.unmet``, with what is so if it is not refused.

    >>> list(_reasons(["1 violation of the target npu:", "  y (Erf): npu takes no Erf"]))
    ['y (Erf): npu takes no Erf']
    >>> list(_reasons(["1 scatter that npu runs on its host:", "  ScatterND (1): y"]))
    ['1 scatter that npu runs on its host: ScatterND (1): y']
    """
    head = ""
    for line in lines:
        if line.startswith(" "):
            taken = head.endswith(("on its host:", "slowly:"))
            yield f"{head} {line.strip()}" if taken else line.strip()
        else:
            head = line


def _listed(file: str) -> dict[str, str]:
    """Return the reasons in a file by the paths before them: in each line ``PATH  # REASON``."""
    note_read(Path(file), "the list of --allow")
    with about_file(file, "cannot be read"):
        lines = Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    allowed = {}
    for number, line in enumerate(lines, 1):
        path, _, reason = (part.strip() for part in line.partition("#"))
        if path and not reason:
            raise ScatterXError(f"{file}, line {number}: write why it may fail: {path} # REASON")
        if path:
            allowed[path] = reason
            if not _is_there(path):
                LOG.warning("%s, line %d: no file is %s", file, number, path)
    return allowed


def _is_there(pattern: str) -> bool:
    """Return whether a file has this path, or a path of this pattern, as `Gate.reason` reads it."""
    if os.path.exists(pattern):
        return True
    start, *rest = re.split(r"[*?[]", pattern, maxsplit=1)
    if not rest:
        return False
    return any(
        fnmatch.fnmatchcase(os.path.relpath(os.path.join(folder, name)), pattern)
        for folder, _, names in os.walk(os.path.dirname(start) or ".")
        for name in names
    )

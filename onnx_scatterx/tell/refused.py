"""The parts of a result that a target does not take: which of them are an error, and in lines."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from onnx_scatterx.engine.device import Violation, by_reason
from onnx_scatterx.options import Strict
from onnx_scatterx.tell.kept_advice import counted, refused_text, without_parts
from onnx_scatterx.text import Missing

if TYPE_CHECKING:
    from onnx_scatterx.tell.report import Report

_ADDED = re.compile(r"(?<=,)\s*add\s*=\s*\[")  # a key behind the name of a target


def is_error(violation: Violation, strict: Strict) -> bool:
    """Return whether a violation is an error; what is on the host or slow, if ``strict`` says so.

    >>> hosted = Violation("y", "ScatterND", "main", "npu runs ScatterND on its host", on_host=True)
    >>> [is_error(hosted, strict) for strict in (False, True, "native", "taken")]
    [False, True, True, False]
    """
    counts_taken = strict == "native" or (strict is True and violation.is_scatter)
    return bool(strict) and (counts_taken or not violation.is_taken)


def refused_lines(violations: Sequence[Violation], target: str, kept: int | None) -> list[str]:
    """Return how many violations of a target there are, and each reason, in lines.

    ``kept`` is how many there would be if all scatters were kept; None if this is not another
    number.
    """
    refused = [v for v in violations if not v.is_taken]
    more = "" if kept is None else f" ({kept} if all scatters were kept)"
    return _listed(violations, target, f"{_counted(refused)} of the target {target}{more}:")


def left_lines(report: Report) -> list[str]:
    """Return which violations remain after the commands of the advice, in lines.

    No line if the target wants numbers, and it is not known what remains at numbers.
    """
    if report.left is None:
        return [] if report.to_fix else report.violation_lines()
    acts = [advice for advice in without_parts(report.advice) if advice.has_action]
    refused = any(not violation.is_taken for violation in report.violations)
    if not acts or not refused or report.left == report.violations:
        return report.violation_lines()
    added = dict.fromkeys(op for advice in acts for way in advice.ways[:1] for op in way.added)
    above = f"command{'s' * (len(acts) > 1)} above"
    return _remaining(report.left, report.target, above, tuple(added))


def lacked_lines(report: Report) -> list[str]:
    """Return in a line how to say that the target has the operators that it lacks, if any are left.

    A profile may be wrong, and nothing else helps if no form of a node is known. No line if the
    model runs on no input.
    """
    is_fatal = any(advice.is_fatal for advice in report.advice)
    if is_fatal or (report.left is None and report.to_fix):
        return []
    left = report.violations if report.left is None else report.left
    lacked = dict.fromkeys(v.lacked for v in left if v.lacked is not None)
    return [_added([*lacked], report.target, report.target_text or report.target)] if lacked else []


def _added(lacked: Sequence[str], target: str, text: str) -> str:
    r"""Return how to say that a target has operators. ``text`` names it on the command line.

    >>> _added(["Gemm", "Exp"], "npu", "npu.toml")
    'if npu takes Gemm and Exp after all: --target \'npu.toml, add = ["Gemm", "Exp"]\''
    >>> print(_added(["Exp"], "npu", 'npu, add=["Sin"]'))
    if npu takes Exp after all: --target 'npu, add=["Exp", "Sin"]'
    """
    listed = json.dumps(lacked)
    said = _ADDED.sub(lambda found: found[0] + listed[1:-1] + ", ", text, count=1)
    changed = shlex.quote(said if said != text else f"{text}, add = {listed}")
    name = Missing(tuple(lacked), target).listed
    return f"if {target} takes {name} after all: --target {changed}"


def _remaining(
    violations: Sequence[Violation], target: str, above: str, added: tuple[str, ...] = ()
) -> list[str]:
    r"""Return which violations of a target remain after the commands ``above``, in lines.

    ``added`` are operators that these commands add to the target.

    >>> left = Violation("y", "Erf", "main", "npu takes no Erf")
    >>> print(*_remaining([left], "npu", "command above"), sep="\n")
    1 violation of the target npu remains after the command above:
      y (Erf): npu takes no Erf
    >>> _remaining([], "npu", "commands above")
    ['no violation of the target npu remains after the commands above']
    >>> _remaining([], "npu", "command above", ("CumSum", "Less"))
    ['no violation of npu with CumSum and Less added remains after the command above']
    >>> hosted = Violation("y", "ScatterND", "main", "npu runs ScatterND on its host", on_host=True)
    >>> print(*_remaining([hosted], "npu", "command above"), sep="\n")
    no violation of the target npu remains after the command above, but this remains:
    1 scatter that npu runs on its host:
      ScatterND (1): y
    """
    refused = [v for v in violations if not v.is_taken]
    whole = f"the target {target}"
    if added:
        whole = f"{target} with {Missing(added, target).listed} added"
    if not refused:
        but = ", but this remains:" if violations else ""
        none = f"no violation of {whole} remains after the {above}{but}"
        return [none, *_listed(violations, target, "")]
    verb = "remains" if len(refused) == 1 else "remain"
    head = f"{_counted(refused)} of {whole} {verb} after the {above}:"
    return _listed(violations, target, head)


def _counted(violations: Sequence[Violation]) -> str:
    count = len(violations)
    return f"{count} violation{'s' if count > 1 else ''}"


def _listed(violations: Sequence[Violation], target: str, head: str) -> list[str]:
    """Return a head and each reason below it, if there are any, then what the target takes."""
    refused = [v for v in violations if not v.is_taken]
    told = [refused_text(*key, names) for key, names in by_reason(refused).items()]
    return [
        *((head, *(f"  {line}" for line in told)) if told else ()),
        *_second_choice([v for v in violations if v.on_host], f"{target} runs on its host"),
        *_second_choice([v for v in violations if v.slow], f"{target} runs slowly"),
    ]


def _second_choice(taken: Sequence[Violation], what: str) -> list[str]:
    """Return how many nodes a target takes, though not well, and which, in lines."""
    if not taken:
        return []
    noun = "scatter" if all(v.is_scatter for v in taken) else "node"
    head = f"{len(taken)} {noun}{'s' if len(taken) > 1 else ''} that {what}:"
    moved = [counted(op, names) for (op, _), names in by_reason(taken).items()]
    return [head, *(f"  {line}" for line in moved)]

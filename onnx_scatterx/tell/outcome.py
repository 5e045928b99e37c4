"""The outcome in one line: how many nodes a result has, and whether the target takes all of them.

If the target has a profile, the line counts the nodes that it does not take and those that it runs
on its host, which is not "taken", and those that ONNX Runtime computes in its place when it loads
the file. It names those that it takes and runs slowly. Other targets are not devices: of them, the
line says which scatters are left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from onnx_scatterx.operators import SCATTERS

if TYPE_CHECKING:
    from onnx_scatterx.engine.device import Violation
    from onnx_scatterx.tell.report import Report

_NAMED = 2  # operators


def outcome(report: Report) -> str:
    """Return the outcome of an optimization, as somebody reads it who does not know scatters.

    >>> from onnx_scatterx.tell.report import Report
    >>> outcome(Report("npu", (), 9, 5, has_profile=True))
    '5 nodes, all of them taken by npu'
    >>> outcome(Report("standard", (), 9, 5, ops_after=Counter(ScatterND=2, Add=3)))
    '5 nodes, 2 of them scatters: ScatterND'
    >>> from onnx_scatterx.engine.device import Violation
    >>> hosted = Violation("y", "Erf", "main", "npu runs Erf on its host", on_host=True)
    >>> outcome(Report("npu", (), 9, 5, has_profile=True, violations=(hosted,)))
    '5 nodes: 4 taken by npu, 1 on its host: Erf'
    """
    count = report.nodes_after
    nodes = f"{count} node{'s' * (count != 1)}"
    if not report.has_profile:
        return f"{nodes}, {_scatters(report.ops_after)}"
    refused = [v for v in report.violations if not v.is_taken]
    of_nodes = _operators(v for v in refused if not v.is_of_model)
    if any(v.is_of_model for v in refused):
        return f"{nodes}, {_taken(report, 'none of them')}: {_of_model(refused)}"
    hosted = _operators(v for v in report.violations if v.on_host)
    slow = _operators(v for v in report.violations if v.slow and not v.on_host)
    at_load = _most_first(report.at_load)
    parts = {"on its host": hosted, "computed by ONNX Runtime when it loads the file": at_load}
    beside = [f"{ops.total()} {where}: {_told(ops)}" for where, ops in parts.items() if ops]
    slowly = f"{slow.total()} slowly: {_told(slow)}" if slow else ""
    if of_nodes:
        some = "it" if count == 1 else f"{of_nodes.total()} of them"
        told = f"{nodes}, {_taken(report, some, no=True)}: {_told(of_nodes)}"
        return "; ".join(filter(None, (told, *beside, slowly)))
    if beside:
        left = count - hosted.total() - at_load.total()
        taken = _taken(report, str(left)).removeprefix("and ")
        run = "and run " if hosted and report.planned and not report.as_is else ""
        told = f"{nodes}: {taken}, {run}{beside[0]}"
        return "; ".join(filter(None, (told, *beside[1:], slowly)))
    told = f"{nodes}, {_taken(report, 'it' if count == 1 else 'all of them')}"
    return f"{told}; {slowly}" if slowly else told


def _taken(report: Report, what: str, *, no: bool = False) -> str:
    """Return that the target takes ``what``, or does not if ``no``."""
    keys = report.target_keys
    target = f"{report.target} ({keys})" if keys else report.target
    if report.planned and not report.as_is:
        return f"and {target} would {'not ' * no}take {what}"
    return f"{'' if what == 'it' else f'{what} '}{'not ' * no}taken by {target}"


def _scatters(operators: Mapping[str, int]) -> str:
    """Return how many scatters there are among operators, ScatterX apart."""
    left = Counter({op: operators[op] for op in sorted(SCATTERS) if operators.get(op)})
    native = operators.get("ScatterX", 0)
    told = [f"{left.total()} of them scatters: {_told(left)}"] if left else []
    told += [f"{native} of them ScatterX"] if native else []
    return " and ".join(told) or "no scatter among them"


def _operators(violations: Iterable[Violation]) -> Counter[str]:
    """Return how many nodes of each operator there are: scatters first, then the most."""
    named = dict.fromkeys((v.is_scatter, v.graph, v.node, v.op) for v in violations)
    counts = Counter((is_scatter, op) for is_scatter, _, _, op in named)
    ordered = sorted(counts.items(), key=lambda item: (not item[0][0], -item[1], item[0][1]))
    return Counter({op: count for (_, op), count in ordered})


def _most_first(operators: Counter[str]) -> Counter[str]:
    """Return operators with the most nodes first; of equally many, by their names."""
    return Counter(dict(sorted(operators.items(), key=lambda item: (-item[1], item[0]))))


def _told(operators: Counter[str]) -> str:
    """Return the names of operators, with their numbers if they are several.

    >>> _told(Counter(Erf=2)), _told(Counter(Erf=2, Mod=1, Tan=3, Not=1))
    ('Erf', 'Erf (2), Mod (1) and 2 other operators')
    """
    if len(operators) == 1:
        return next(iter(operators))
    shown = len(operators) if len(operators) <= _NAMED + 1 else _NAMED
    names = [f"{op} ({count})" for op, count in operators.items()]
    more = f" and {len(names) - shown} other operators" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def _of_model(refused: Iterable[Violation]) -> str:
    """Return why a target refuses a model, whatever its nodes are."""
    found = [v for v in refused if v.is_of_model]
    if all(v.why.startswith("the size ") for v in found):
        return "it wants all sizes as numbers"
    first, *others = dict.fromkeys(
        f"the {v.op} {v.node}: {v.why}" if v.op in ("input", "output") else v.why for v in found
    )
    return first + (f", and {len(others)} more" if others else "")

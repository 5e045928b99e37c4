"""What would do away with a scatter that stays: other settings, each of which is tried.

A step is named only where the model was rewritten with it and the scatter went, so what it says is
no guess. Whether an assumption is true only the user knows.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.assumptions.clauses import Clause, clauses
from onnx_scatterx.assumptions.syntax import statement
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.reports.builder import NodeRecord
from onnx_scatterx.reports.entries import Action, Entry
from onnx_scatterx.targets.target import STANDARD, Target
from onnx_scatterx.text.reasons import Reason

Further: TypeAlias = "dict[tuple[str, str], list[str]]"
Rewrite: TypeAlias = "Callable[[Target, Sequence[Clause], bool], Sequence[Entry]]"
"""Gives what becomes of a model for a target, on more assumptions, made deterministic or not."""


@dataclass(frozen=True)
class Step:
    """What is to be changed, and how a user says it.

    What is ``last`` is tried for those that no other step helped.
    """

    said: str
    target: Target | None = None
    assumed: tuple[Clause, ...] = ()
    deterministic: bool = False
    last: bool = False


def steps(
    accounts: Sequence[NodeRecord], target: Target, deterministic: bool, rewrite: Rewrite
) -> Further:
    """Return for scatters and gathers that stay what makes them go, by ``key_of``.

    ``deterministic`` says whether the last update wins already.
    """
    stuck = [a for a in accounts if a.entry.refusal is not None]
    found: Further = {}
    for step in _candidates(stuck, target):
        waiting = {key_of(a.entry) for a in stuck}
        if step.last:
            waiting -= found.keys()
        if not waiting:
            continue
        settled = deterministic or step.deterministic
        for entry in rewrite(step.target or target, step.assumed, settled):
            if key_of(entry) in waiting and entry.action in (Action.REMOVED, Action.DEAD):
                how = f": {', '.join(entry.rules)}" if entry.rules else ""
                found.setdefault(key_of(entry), []).append(f"it goes with {step.said}{how}")
    return found


def key_of(entry: Entry) -> tuple[str, str]:
    """Return what tells a scatter or gather from others in every run."""
    return entry.graph, entry.node


def _candidates(stuck: Sequence[NodeRecord], target: Target) -> Iterator[Step]:
    reasons = {a.entry.reason for a in stuck}
    if any(a.entry.action is Action.NATIVE for a in stuck):
        yield Step("--target standard", target=STANDARD)
    if Reason.COLLIDES in reasons:
        yield Step("--deterministic", deterministic=True)
    doubted = dict.fromkeys(clause for a in stuck for clause in a.doubted)
    if doubted and Reason.UNKNOWN_RANK in reasons:
        yield from _assuming(tuple(doubted))
    if reasons & {Reason.TOO_LARGE, Reason.UNKNOWN_INDICES}:
        base = STANDARD if target.has_scatterx else target
        said = "a profile that says dense = true, dense_limit = inf"
        yield Step(said, target=replace(base, dense_limit=inf), last=True)
    for reason, said in (
        (Reason.UNKNOWN_SIGN, "nonnegative"),
        (Reason.UNKNOWN_INDICES, "contiguous, nonnegative"),
    ):
        named = dict.fromkeys(n for a in stuck if a.entry.reason is reason for n in _inputs(a))
        for name in named:
            yield from _assuming(clauses({name: said}))


def _assuming(assumed: tuple[Clause, ...]) -> Iterator[Step]:
    """Yield a step with these assumptions, unless one is about a name that cannot be typed."""
    said: dict[str, list[str]] = {}
    for clause in assumed:
        said.setdefault(clause.name, []).append(clause.said)
    options = []
    for name, parts in said.items():
        text = ", ".join((str(Clause(name, parts[0])), *parts[1:]))
        if not _reads_back(text, name):
            return
        options.append(f"--assume {shlex.quote(text)}")
    yield Step(f"{' '.join(options)}, if that is so", assumed=assumed)


def _reads_back(text: str, name: str) -> bool:
    try:
        return text.isprintable() and statement(text)[0] == name
    except ScatterXError:
        return False


def _inputs(account: NodeRecord) -> list[str]:
    """Return the values whose elements the targets depend on; only inputs can be assumed of."""
    if account.canonical is None:
        return []
    leaves = {leaf for t in account.canonical.access.index_exprs for leaf in t.leaves()}
    sources = (s for leaf in leaves if isinstance(leaf.source, tuple) for s in leaf.source)
    return sorted(s.name for s in sources if isinstance(s, ir.Value) and s.name is not None)

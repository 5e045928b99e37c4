"""Which other arguments to try, given the reasons why scatters are kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import onnx_ir as ir

from onnx_scatterx.doors.advice.change import Change
from onnx_scatterx.doors.advice.sizes import fitting_sizes
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.optimizer.assumptions.clauses import Clause, clauses
from onnx_scatterx.optimizer.assumptions.syntax import statement
from onnx_scatterx.optimizer.reports.builder import NodeRecord
from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.optimizer.symbolic.terms import Term
from onnx_scatterx.optimizer.targets.target import Target
from onnx_scatterx.text.reasons import Missing, Reason

_OPSETS = (13, 16, 18, 24)
_DENSE = {Reason.TOO_LARGE, Reason.UNKNOWN_INDICES, Reason.IRREGULAR, Reason.UNKNOWN_SIGN}
_OF_SIZES = set(Reason) - {Reason.COLLIDES, Reason.DIAGONAL, Reason.INVALID, Reason.UNKNOWN_TYPE}
"""Reasons that other sizes, or sizes that are known, may remove."""
_SIGNS = (
    (Reason.UNKNOWN_SIGN, "nonnegative"),
    (Reason.NOT_IN_TARGET, "nonnegative"),  # what counts from the end needs more operators
    (Reason.UNKNOWN_INDICES, "nonnegative"),
    (Reason.UNKNOWN_INDICES, "contiguous, nonnegative"),
    (Reason.MAY_COLLIDE, "unique"),
)


def candidates(
    stuck: Sequence[NodeRecord], model: ir.Model, settings: Settings
) -> Iterator[Change]:
    """Yield changes to be tried one by one: those that need no promise come first."""
    reasons = {record.entry.reason for record in stuck}
    target = settings.target
    if reasons & _OF_SIZES and not settings.target.static_only:
        numbers = fixed(model, settings)
        if numbers is not None:
            yield replace(numbers, is_last=True)
    if Reason.COLLIDES in reasons and not settings.deterministic:
        yield Change(deterministic=True, conditions=("the last update wins",))
    if reasons & {Reason.OPSET, Reason.OLD_OPERATOR}:
        there = model.opset_imports.get("", 0)
        yield from (Change(opset=n) for n in _OPSETS if n > there)
    if reasons & _DENSE:
        yield from _dense(target)
    yield from _other_compilers(stuck, target)
    doubted = tuple(dict.fromkeys(clause for record in stuck for clause in record.doubted))
    if doubted and Reason.UNKNOWN_RANK in reasons:
        yield from _assuming(doubted)
    for reason, condition in _SIGNS:
        found = (n for r in stuck if r.entry.reason is reason for n in _inputs(r))
        for name in dict.fromkeys(found):
            yield from _assuming(clauses({name: condition}))
    for name, size in dict.fromkeys(pair for r in stuck for pair in _positions(r)):
        yield from _assuming(clauses({name: f"nonnegative, < {size}"}))


def fixed(model: ir.Model, settings: Settings) -> Change | None:
    """Return numbers for all sizes that have none yet, at which the model runs."""
    found = fitting_sizes(model, settings)
    if not isinstance(found, dict) or not all(name.isprintable() for name in found):
        return None
    return Change(fix=found) if found else None


def _dense(target: Target) -> Iterator[Change]:
    """Yield targets that allow dense forms: of bounded size, and of any."""
    base = "standard" if target.has_scatterx else ""
    if target.dense_limit is None or base:
        yield Change(base=base, keys={"dense": "true"}, is_last=bool(base))
    if target.dense_limit != float("inf"):
        conditions = ("with tensors of any size",)
        keys = {"dense": "true", "dense_limit": "inf"}
        yield Change(base=base, keys=keys, conditions=conditions, is_last=True)


def _other_compilers(stuck: Sequence[NodeRecord], target: Target) -> Iterator[Change]:
    """Yield the target with the operators or the rank that the nearest forms lack."""
    for record in stuck:
        refusal = record.entry.refusal
        if refusal is None or not isinstance(refusal.detail, Missing):
            continue
        if refusal.reason is Reason.RANK:
            rank = max(int(use.rsplit(" ", 1)[1]) for use in refusal.detail.uses)
            yield Change(
                keys={"max_rank": str(rank)}, conditions=(f"if your compiler takes {rank} dims",)
            )
            continue
        names = [use for use in refusal.detail.uses if not target.has(use)]
        if names and names == list(refusal.detail.uses):
            listed = ", ".join(f'"{name}"' for name in names)
            condition = f"if your compiler has {' and '.join(names)}"
            yield Change(keys={"add": f"[{listed}]"}, conditions=(condition,))


def _assuming(assumed: tuple[Clause, ...]) -> Iterator[Change]:
    """Yield a promise, unless it is about a name that cannot be typed."""
    by_name: dict[str, list[str]] = {}
    for clause in assumed:
        by_name.setdefault(clause.name, []).append(clause.condition)
    for name, parts in by_name.items():
        text = ", ".join((str(Clause(name, parts[0])), *parts[1:]))
        if not _reads_back(text, name):
            return
    yield Change(assumed=assumed)


def _reads_back(text: str, name: str) -> bool:
    try:
        return text.isprintable() and statement(text)[0] == name
    except ScatterXError:
        return False


def _positions(record: NodeRecord) -> Iterator[tuple[str, int]]:
    """Yield the inputs that positions depend on, each with the size of the axis, if it is known.

    They count from the start, so a promise may say that they lie within the axis.
    """
    wanted = record.entry.reason in (Reason.NOT_IN_TARGET, Reason.UNKNOWN_SIGN)
    if record.canonical is None or not wanted:
        return
    access = record.canonical.access
    for expr, size in zip(access.index_exprs, access.data_shape, strict=True):
        if size.constant is not None:
            yield from ((name, size.constant) for name in _read_by([expr]))


def _inputs(record: NodeRecord) -> list[str]:
    """Return the values whose elements the targets depend on; only inputs can be assumed of."""
    if record.canonical is None:
        return []
    return _read_by(record.canonical.access.index_exprs)


def _read_by(exprs: Iterable[Term]) -> list[str]:
    leaves = {leaf for t in exprs for leaf in t.leaves()}
    sources = (s for leaf in leaves if isinstance(leaf.origin, tuple) for s in leaf.origin)
    return sorted(s.name for s in sources if isinstance(s, ir.Value) and s.name is not None)

"""Which arguments to try, given the kept scatters, the refused nodes, and the reasons."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import onnx_ir as ir

from onnx_scatterx.assumptions import Clause, parts_of, read_clauses
from onnx_scatterx.engine.analysis import size_name
from onnx_scatterx.engine.passes import Settings
from onnx_scatterx.engine.terms import Indicator, PositivePart, Term
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.operators import READS
from onnx_scatterx.targets import Target
from onnx_scatterx.tell.advice.change import Change, promises
from onnx_scatterx.tell.advice.sizes import fitting_sizes, needs_at
from onnx_scatterx.tell.advice.whole import Whole
from onnx_scatterx.tell.builder import NodeRecord
from onnx_scatterx.tell.entries import ScatterReport
from onnx_scatterx.text import Missing, Reason

_OPSETS = (13, 16, 18, 24)
_DENSE = {
    *(Reason.TOO_LARGE, Reason.UNKNOWN_INDICES, Reason.IRREGULAR, Reason.UNKNOWN_SIGN),
    Reason.NOT_IN_TARGET,  # the dense form may need other operators
}
_OF_SIZES = set(Reason) - {Reason.COLLIDES, Reason.DIAGONAL, Reason.INVALID, Reason.UNKNOWN_TYPE}
"""Reasons that may vanish at other sizes, or if the sizes are numbers."""
_RUN = "contiguous, nonnegative"
_SIGNS = (
    (Reason.UNKNOWN_SIGN, "nonnegative"),
    (Reason.NOT_IN_TARGET, "nonnegative"),  # positions from the end need more operators
    (Reason.UNKNOWN_INDICES, "nonnegative"),
    (Reason.UNKNOWN_INDICES, _RUN),
    (Reason.MAY_COLLIDE, "unique"),
)
_LARGEST = 4096  # the largest lower bound of a size that is tried
_VALUES = 64  # of those from which indices are computed: no more are looked at


def candidates(
    stuck: Sequence[NodeRecord], refused: Collection[str], model: ir.Model, settings: Settings
) -> Iterator[Change]:
    """Yield changes to try one by one: changes that need no promise come first.

    ``stuck`` are the scatters and gathers that are kept. ``refused`` are the operators of other
    nodes that the target does not take.
    """
    reasons = {record.entry.reason for record in stuck}
    target = settings.target
    if (refused or reasons & _OF_SIZES) and not target.static_only:
        yield Change(at_numbers=True, is_last=True)
    if Reason.COLLIDES in reasons and not settings.options["deterministic"]:
        yield Change(deterministic=True)
    if not READS.isdisjoint(refused) and not settings.options["gathers"]:
        yield Change(gathers=True)
    if {"Einsum", "Gemm"}.intersection(refused) and not settings.options["last_bits"]:
        yield Change(last_bits=True)
    if "NonZero" in refused:
        yield from _chosen_rows(settings)
    old = bool(reasons & {Reason.OPSET, Reason.OLD_OPERATOR})
    if (old or refused) and settings.options["opset"] is None:
        there, most = model.opset_imports.get("", 0), target.max_opset or _OPSETS[-1]
        yield from (Change(opset=n, is_last=not old) for n in _OPSETS if there < n <= most)
    if reasons & _DENSE:
        yield from _dense(target)
    yield from _other_compilers(stuck, target)
    doubted = tuple(dict.fromkeys(clause for record in stuck for clause in record.doubted))
    if doubted and Reason.UNKNOWN_RANK in reasons:
        yield from _assuming(doubted)
    inputs = model.graph.inputs
    integers = {v.name for v in inputs if v.dtype is not None and v.dtype.is_integer()}
    promised = [list(_bounds(stuck))]
    colliding = {name for record in stuck if _reduces(record) for name in _inputs(record)}
    for reason, condition in _SIGNS:
        names = (n for r in stuck if r.entry.reason is reason for n in _inputs(r))
        likely = integers - colliding if condition == _RUN else integers
        promised.append([(n, condition) for n in names if n in likely])
    within = [(n, f"nonnegative, < {size}") for r in stuck for n, size in _positions(r)]
    promised.append([pair for pair in within if pair[0] in integers])
    groups = [tuple(dict.fromkeys(pairs)) for pairs in promised]
    # All promises of a kind, together, come before each alone: so the limit suffices for them.
    for pairs in (*(g for g in groups if len(g) > 1), *((pair,) for g in groups for pair in g)):
        yield from _assuming([Clause(n, part) for n, text in pairs for part in parts_of(text)])


def fixed(whole: Whole) -> Change | None:
    """Return numbers for all sizes that have none yet, at which the model runs."""
    sizes, _, sample = fitting_sizes(whole)
    if not sizes or not all(name.isprintable() for name in sizes):
        return None
    return Change.at(sizes, whole.model, needs_at(whole, sizes), sample)


def _chosen_rows(settings: Settings) -> Iterator[Change]:
    """Yield the changes that let a function of chosen rows be computed for all rows."""
    last_bits = [] if settings.options["last_bits"] else [Change(last_bits=True)]
    yield from last_bits
    if settings.target.work_limit != float("inf"):
        any_work = Change(keys={"work_limit": "inf"}, is_last=True)
        yield any_work
        yield from (change | any_work for change in last_bits)


def _dense(target: Target) -> Iterator[Change]:
    """Yield the changes that allow dense forms: of bounded size, and of any size."""
    allowed = {} if target.dense_limit is not None else {"dense": "true"}
    if allowed:
        yield Change(keys=allowed)
    if target.dense_limit != float("inf"):
        yield Change({**allowed, "dense_limit": "inf"}, is_last=True)


def _other_compilers(stuck: Sequence[NodeRecord], target: Target) -> Iterator[Change]:
    """Yield the target with the operators or the rank that the nearest forms lack."""
    for record in stuck:
        refusal = record.entry.refusal
        if refusal is None or not isinstance(refusal.detail, Missing):
            continue
        if refusal.reason is Reason.RANK:
            rank = max(int(use.rsplit(" ", 1)[1]) for use in refusal.detail.uses)
            yield Change(max_rank=rank)
            continue
        names = refusal.detail.uses
        if not any(target.has(name) or " " in name for name in names):  # missing operators only
            yield Change(added=names)


def _assuming(assumed: Sequence[Clause]) -> Iterator[Change]:
    """Yield promises, unless one is about a name that cannot be typed."""
    texts = promises(assumed)
    try:
        if all(map(str.isprintable, texts)) and set(read_clauses(texts)) == set(assumed):
            yield Change(assumed=tuple(assumed))
    except ScatterXError:
        pass


def _bounds(stuck: Sequence[NodeRecord]) -> Iterator[tuple[str, str]]:
    """Yield for each size the lower bound from which on the signs of all cases are known.

    max(0, n - 7) is n - 7 if n >= 7, [3 - n >= 0] is 0 if n >= 4, and a box of n - 2 rows is not
    empty if n >= 3.
    """
    least: dict[str, int] = {}
    for case, beyond in (case for record in stuck for case in _cases(record)):
        for leaf in case.leaves():
            slope, rest = case.split(leaf)
            name, by, at = size_name(leaf), slope.constant, rest.constant
            if name is not None and by and at is not None:
                bound = -((at + (beyond if by < 0 else 0)) // by)
                if 0 < bound <= _LARGEST:
                    least[name] = max(bound, least.get(name, 0))
    yield from ((name, f">= {least[name]}") for name in sorted(least))


def _cases(record: NodeRecord) -> Iterator[tuple[Term, int]]:
    """Yield the terms on whose signs a written box depends, each with 1 if 0 counts as positive.

    If indices are not known as terms, the tensors that they are computed from give the terms.
    """
    if record.in_theory is None:
        return
    access = record.in_theory.access
    yield from ((n - 1, 0) for n in access.shape)
    terms, values = [*access.shape, *access.index_exprs], _read_by(access.index_exprs)
    for value in values:
        known, node = record.scope.values.get(value), value.producer()
        if known is not None and known.index_map is not None:
            terms.append(known.index_map)
        elif node is not None and len(values) < _VALUES:
            values += [v for v in node.inputs if v is not None]
    for atom in {atom for t in terms for atom in t.all_atoms()}:
        if isinstance(atom, PositivePart | Indicator):
            yield atom.parts[0], int(isinstance(atom, Indicator))


def _positions(record: NodeRecord) -> Iterator[tuple[str, int | str]]:
    """Yield the inputs that hold positions, each with the size of the axis, if this is known.

    A promise may say that the positions count from the start and lie within the axis.
    """
    wanted = record.entry.reason in (Reason.NOT_IN_TARGET, Reason.UNKNOWN_SIGN)
    if record.in_theory is None or not wanted:
        return
    access = record.in_theory.access
    for expr, size in zip(access.index_exprs, access.data_shape, strict=True):
        leaf = size.symbol
        bound = size.constant if leaf is None else size_name(leaf)
        if bound is not None:
            yield from ((v.name or "", bound) for v in _read_by([expr]))


def _reduces(record: NodeRecord) -> bool:
    """Return whether a scatter combines updates: then its indices are meant to be equal."""
    return isinstance(record.entry, ScatterReport) and record.entry.reduction != "none"


def _inputs(record: NodeRecord) -> list[str]:
    """Return the names of the values from whose elements the written positions are computed."""
    if record.in_theory is None:
        return []
    return [v.name for v in _read_by(record.in_theory.access.index_exprs) if v.name is not None]


def _read_by(exprs: Iterable[Term]) -> list[ir.Value]:
    leaves = {leaf for t in exprs for leaf in t.leaves()}
    sources = (s for leaf in leaves if isinstance(leaf.origin, tuple) for s in leaf.origin)
    return sorted({s for s in sources if isinstance(s, ir.Value)}, key=lambda v: v.name or "")

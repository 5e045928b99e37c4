"""What a change of the arguments does: it is tried on the part of the model that decides.

If it helps there, it is tried on the whole model. What concerns nodes that are no scatters or
gathers is tried only on the whole model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

import onnx_ir as ir

from onnx_scatterx.engine.budget import LimitError, SpentError, budget
from onnx_scatterx.engine.device import Violation, by_reason
from onnx_scatterx.engine.passes import Settings
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.observer import NOBODY, Observer
from onnx_scatterx.tell.advice.change import Change
from onnx_scatterx.tell.advice.whole import RAISED, Whole
from onnx_scatterx.tell.builder import NodeRecord
from onnx_scatterx.tell.entries import Action, Entry, ScatterReport
from onnx_scatterx.tell.reporting import rewritten_under
from onnx_scatterx.text import Reason, Refusal

Key: TypeAlias = "tuple[str, str]"
"""A scatter or gather: its graph and name. Other refused nodes: their operator and the reason."""

_LARGE = 500  # a model with more nodes is tried seldom


def key_of(entry: Entry) -> Key:
    """Return the key of a scatter or gather: the same in every run of the pipeline."""
    return entry.graph, entry.node


def refusals_of(records: Iterable[NodeRecord]) -> dict[Key, Refusal]:
    """Return why nodes are kept."""
    return {key_of(r.entry): r.entry.refusal for r in records if r.entry.refusal is not None}


def stuck_of(records: Sequence[NodeRecord]) -> list[NodeRecord]:
    """Return the records of the nodes that are kept, scatters first."""
    kept = (r for r in records if r.entry.refusal is not None and r.entry.action is Action.KEPT)
    return sorted(kept, key=lambda record: not isinstance(record.entry, ScatterReport))


class Result(NamedTuple):
    """The result of other settings: the records, and the other nodes that the target refuses."""

    settings: Settings
    records: Sequence[NodeRecord]
    refused: dict[Key, list[str]]
    violations: Sequence[Violation] | None = None


@dataclass
class Trials:
    """The trials of a model.

    ``base`` is part of all changes: it gives the sizes numbers if the target wants numbers.
    ``stuck`` are the scatters and gathers that are kept without ``base``. ``kept`` are the nodes to
    remove that are kept with ``base``, each with its reason in ``later``. ``refused`` are other
    nodes that the target does not take with ``base``. ``violations`` are all nodes that the target
    does not take with ``base``; None if they are not known. ``tried`` are the statements of the
    changes that were tried. ``untried`` are changes that were not tried, as their number or the
    steps ended.
    """

    whole: Whole
    stuck: Sequence[NodeRecord]
    base: Change
    observer: Observer = NOBODY
    refused: dict[Key, list[str]] = field(default_factory=dict)
    violations: Sequence[Violation] | None = None
    kept: Sequence[NodeRecord] = ()
    later: dict[Key, Refusal] = field(default_factory=dict)
    tried: set[frozenset[object]] = field(default_factory=set)
    untried: list[str] = field(default_factory=list)
    _runs: int = 0

    def beside(self, violations: Sequence[Violation]) -> dict[Key, list[str]]:
        """Return the nodes that the target refuses, by operator and reason, without ``stuck``.

        Scatters that it runs on its host, or slowly, are among them.
        """
        kept = {(record.entry.op, record.entry.node) for record in self.stuck}
        there = (
            v for v in violations if (not v.is_taken or v.is_scatter) and (v.op, v.node) not in kept
        )
        return by_reason(there)

    @cached_property
    def waiting(self) -> set[Key]:
        """The scatters and gathers that are kept without ``base``."""
        return {key_of(record.entry) for record in self.stuck}

    def left(self, result: Result) -> list[NodeRecord]:
        """Return the nodes to remove that a result keeps, and those of refused operators."""
        ops = {op for op, _ in result.refused}
        kept = stuck_of(result.records)
        return [r for r in kept if key_of(r.entry) in self.waiting or r.entry.op in ops]

    @cached_property
    def part(self) -> tuple[ir.Model, set[Key], float] | None:
        """The part of the model that decides about kept nodes, these nodes, and its steps.

        With ``base``, the part keeps these nodes for the same reasons as the whole model. If the
        part for all of them is not small, a large model has the part for the first node of each
        reason. None if no part is small.
        """
        first = {refusal: key for key, refusal in reversed(self.later.items())}
        some = [set(self.later), set(first.values())][: 1 + (self.whole.nodes > _LARGE)]
        with suppress(LimitError):
            return next(filter(None, map(self._around, some)), None)
        return None

    def _around(self, keys: set[Key]) -> tuple[ir.Model, set[Key], float] | None:
        """Return the part for these nodes; None if it is not small or has other reasons."""
        part, before = self.whole.small_part({name for _, name in keys}), budget().steps
        result = None if part is None else self._rewritten(part, self.base)
        if part is None or result is None:
            return None
        refusals = refusals_of(stuck_of(result.records))
        is_alike = all(refusals.get(key) == self.later[key] for key in keys)
        return (part, keys, before - budget().steps) if is_alike else None

    def afforded(self, change: Change) -> Result | None:
        """Return the result of a change; None if it is impossible or takes too many steps."""
        with suppress(LimitError):
            return self.attempt(change)
        return None

    def attempt(self, change: Change) -> Result | None:
        """Return the result of a change on the part; if the change helps there, on the whole model.

        The result is None if the change is impossible. Raises LimitError if the change takes too
        many steps.
        """
        self.observer.stage("trying what would help", self._runs)
        self._runs += 1
        self.tried.add(change.statements)
        # Only the whole model shows which changes help nodes that are no scatters or gathers.
        base, has_more = self.base, change.opset or change.gathers or change.asks > 1
        is_at_others = (change.fix, change.needs) != (base.fix, base.needs)
        more = 0.0
        concerns_others = bool(self.refused) and (has_more or is_at_others)
        if change.statements != base.statements and not concerns_others and self.part is not None:
            part, keys, steps = self.part
            before = budget().steps
            result = self._rewritten(part, change)
            if result is None:
                return None
            there = [r for r in stuck_of(result.records) if key_of(r.entry) in keys]
            if len(there) == len(keys):  # no node is removed: nothing of this is printed
                others = [r for r in self.kept if key_of(r.entry) not in keys]
                return Result(result.settings, there + others, self.refused)
            more = (before - budget().steps - steps) * len(self.later) / len(keys)
        return self._rewritten(self.whole.model, change, more)

    def _rewritten(self, model: ir.Model, change: Change, more: float = 0) -> Result | None:
        """Return the result of a change of a model; None if the change is impossible.

        The change is expected to cost ``more`` steps. Raises LimitError if the steps end.
        """
        if not change.statements and model is self.whole.model:
            return Result(self.whole.settings, self.stuck, self.refused, self.violations)
        try:
            settings = change.settings(self.whole.settings)
        except ScatterXError:  # it contradicts what the user says
            return None
        self.whole.charge(model, more=more)
        if change.opset:
            self.whole.charge(model, RAISED)
        try:
            asked = self.violations is not None and change is self.base
            whole = bool(self.refused) or (asked and model is self.whole.model)
            records, violations = rewritten_under(model, settings, whole=whole)
        except ScatterXError:  # such as a promise that no number satisfies
            return None
        if any(r.entry.reason is Reason.MODEL_LIMIT for r in records):
            raise SpentError
        return Result(settings, records, self.beside(violations), violations if whole else None)

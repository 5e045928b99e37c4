"""Finds arguments that remove the kept scatters, by trying them.

Arguments are tried first on the part of the model that decides about these scatters. If they help
there, they are tried on the whole model. A command is printed only if the whole model was rewritten
with its arguments and the nodes were removed. Arguments for other nodes that the target does not
take are tried only on the whole model. Only the user knows whether a promise is true.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import onnx_ir as ir

from onnx_scatterx.engine.budget import LimitError, SpentError, budget
from onnx_scatterx.engine.device import Violation, by_reason
from onnx_scatterx.engine.passes import Settings
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.observer import NOBODY, Observer
from onnx_scatterx.tell.advice.candidates import candidates, fixed
from onnx_scatterx.tell.advice.change import Change, Command, Found
from onnx_scatterx.tell.advice.price import Price, limit_of
from onnx_scatterx.tell.advice.sizes import SizeAdvice
from onnx_scatterx.tell.advice.whole import RAISED, Whole
from onnx_scatterx.tell.advice.worded import about_kept, about_refused
from onnx_scatterx.tell.builder import NodeRecord
from onnx_scatterx.tell.entries import Action, Entry, ScatterReport
from onnx_scatterx.tell.kept_advice import Advice, counted
from onnx_scatterx.tell.reporting import rewritten_under
from onnx_scatterx.text import Missing, Reason, Refusal

Key: TypeAlias = "tuple[str, str]"
"""A scatter or gather: its graph and name. Other refused nodes: their operator and the reason."""

_CHANGES = 24  # the most that are tried on one model
_LARGE = 500  # a model with more nodes is tried seldom
_WAYS = 3  # the most commands for one scatter


def advise_on(
    whole: Whole,
    records: Sequence[NodeRecord],
    violations: Sequence[Violation] | None = None,
    command: Command | None = None,
    observer: Observer = NOBODY,
) -> tuple[Advice, ...]:
    """Return advice about kept scatters and gathers, and about other nodes that the target refuses.

    A scatter that becomes ScatterX needs no advice. ``records`` has each scatter and gather of the
    ``whole`` model, ``violations`` the refused nodes of the result, if they are known: then what
    the target takes is told apart. ``command`` was typed by the user. ``observer`` is told how many
    changes were tried.
    """
    given = command or Command(target=whole.settings.target.text)
    sized = SizeAdvice.of(whole)
    search = Search(whole, _stuck(records), sized.change or Change(), observer)
    if sized.change is not None or not (sized.options or sized.failure):  # else sizes come first
        search.refused = search.beside(violations or ())
    search.violations = violations
    search.run()
    advice = [*about_kept(search, given), *about_refused(search, given)]
    if untried := search.left():
        advice.append(Advice((), counted("changes that were not tried", untried), ""))
    wanted = {key_of(record.entry) for record in search.stuck} - search.taken()
    ways_kept = (way for key in wanted for way in search.ways.get(key, ()))
    leads = any(w.change.fix and w.change.asks < 2 for w in ways_kept)  # for the same target
    return tuple(advice) if leads else (*sized.advice(given), *advice)


def key_of(entry: Entry) -> Key:
    """Return the key of a scatter or gather: the same in every run of the pipeline."""
    return entry.graph, entry.node


def _refusals(records: Iterable[NodeRecord]) -> dict[Key, Refusal]:
    return {key_of(r.entry): r.entry.refusal for r in records if r.entry.refusal is not None}


def _stuck(records: Sequence[NodeRecord]) -> list[NodeRecord]:
    kept = (r for r in records if r.entry.refusal is not None and r.entry.action is Action.KEPT)
    return sorted(kept, key=lambda record: not isinstance(record.entry, ScatterReport))


class _Result(NamedTuple):
    """The result of other settings: the records, and the other nodes that the target refuses."""

    settings: Settings
    records: Sequence[NodeRecord]
    refused: dict[Key, list[str]]
    violations: Sequence[Violation] | None = None


@dataclass
class Search:
    """The changes of a model that are tried, and what they show.

    ``base`` is part of all changes: it gives the sizes numbers if the target wants numbers.
    ``stuck`` are the scatters and gathers that are kept without ``base``. ``kept`` are the nodes to
    remove that are kept with ``base``, each with its reason in ``later``. ``refused`` are other
    nodes that the target does not take with ``base``. ``ways`` are the changes that remove a node,
    ``too_large`` those that do so by a larger dense form than the target allows. ``lacks`` are the
    operators that the target lacks for a dense form. ``violations`` are all nodes that the target
    does not take with ``base``; None if they are not known. ``untried`` are changes that were not
    tried, as their number or the steps ended.
    """

    whole: Whole
    stuck: Sequence[NodeRecord]
    base: Change
    observer: Observer = NOBODY
    refused: dict[Key, list[str]] = field(default_factory=dict)
    violations: Sequence[Violation] | None = None
    kept: Sequence[NodeRecord] = ()
    later: dict[Key, Refusal] = field(default_factory=dict)
    ways: dict[Key, list[Found]] = field(default_factory=dict)
    too_large: dict[Key, list[Found]] = field(default_factory=dict)
    lacks: dict[Key, Missing] = field(default_factory=dict)
    untried: list[str] = field(default_factory=list)

    @cached_property
    def numbers(self) -> Change | None:
        """The change that gives each size of the model a number."""
        return fixed(self.whole)

    def refusal(self, record: NodeRecord) -> Refusal | None:
        """Return why a node is kept with ``base``; if this is not known, why without ``base``."""
        return self.later.get(key_of(record.entry), record.entry.refusal)

    def left(self) -> list[str]:
        """Return the untried changes, if a node is left that no tried change removes."""
        keys = (*(key_of(record.entry) for record in self.stuck), *self.refused)
        is_open = any(not self.ways.get(key) for key in keys)
        return list(dict.fromkeys(self.untried)) if is_open else []

    def beside(self, violations: Sequence[Violation]) -> dict[Key, list[str]]:
        """Return the nodes that the target refuses, by operator and reason, without ``stuck``."""
        kept = {(record.entry.op, record.entry.node) for record in self.stuck}
        there = (v for v in violations if not v.is_taken and (v.op, v.node) not in kept)
        return by_reason(there)

    @staticmethod
    def key(record: NodeRecord) -> Key:
        """Return the key of a kept node."""
        return key_of(record.entry)

    def taken(self) -> set[Key]:
        """Return the nodes that are kept with ``base``, and that a target with limits takes."""
        target = self.whole.settings.target
        if self.violations is None or not target.has_profile:
            return set()
        named = {(violation.op, violation.node) for violation in self.violations}
        entries = (record.entry for record in self.kept)
        return {key_of(entry) for entry in entries if (entry.op, entry.node) not in named}

    def least(self, found: Iterable[Found]) -> list[Found]:
        """Return some changes without those that include another: what asks least comes first."""
        ways = sorted(found, key=lambda w: (w.change.asks, len(w.change.statements)))
        stated = [way.change.statements for way in ways]
        least = [w for w in ways if not any(other < w.change.statements for other in stated)]
        return least[:_WAYS]

    def run(self) -> None:
        """Try ``base``, and then, one by one, the changes that the reasons with it suggest."""
        settings = self._with_base()
        if settings is None:
            return
        tried, idle = {self.base.statements}, list[frozenset[object]]()
        most = _CHANGES + (not self.base.statements)
        operators = {op for op, _ in self.refused}
        found = candidates(self.kept, operators, self.whole.model, settings)
        for alone in sorted(found, key=lambda change: change.is_last):
            change, wanted = self.base | alone, self._waiting | self.refused.keys()
            if change.at_numbers and not wanted <= self.ways.keys():
                if not self.whole.affords_numbers:
                    self.untried.append(f"{change} --fix ...".strip())
                    continue
                change = replace(change | (self.numbers or Change()), at_numbers=False)
            wanted -= self._settled(change)
            # If several statements together change nothing, each one alone changes nothing.
            known = change.statements in tried or any(change.statements <= more for more in idle)
            if not wanted or known:
                continue
            if len(tried) >= most or budget().is_spent:
                self.untried.append(str(change))
                continue
            result = self._tried(change, len(tried))
            tried.add(change.statements)
            if result is not None and not self._helps(change, result, wanted):
                idle.append(change.statements)

    def _with_base(self) -> Settings | None:
        """Try ``base``, and note what it leaves; return its settings, or None if nothing is."""
        wanted = self._waiting | self.refused.keys()
        if not wanted:
            return None
        if self.base.statements and budget().is_spent:
            self.untried.append(str(self.base))
            return None
        result = self._tried(self.base, 0)
        self.refused = result.refused if result and self.refused else {}
        self.violations = result.violations if result else None
        if result is None:
            return None
        self.kept = self._left(result)
        self.later = _refusals(self.kept)
        self._note(self.base, result, wanted)
        return result.settings

    def _helps(self, change: Change, result: _Result, wanted: Collection[Key]) -> bool:
        """Note what a change does; return whether it removes nodes or changes why some are kept."""
        removes = self._note(change, result, wanted)
        refusals = _refusals(self._left(result))
        for key, refusal in refusals.items() if "dense" in change.keys else ():
            first = self.later.get(key, refusal)
            if isinstance(refusal.detail, Missing) and not isinstance(first.detail, Missing):
                self.lacks.setdefault(key, refusal.detail)
        return removes or refusals != self.later

    @cached_property
    def _waiting(self) -> set[Key]:
        return {key_of(record.entry) for record in self.stuck}

    def _left(self, result: _Result) -> list[NodeRecord]:
        """Return the nodes to remove that a result keeps, and those of refused operators."""
        ops = {op for op, _ in result.refused}
        kept = _stuck(result.records)
        return [r for r in kept if key_of(r.entry) in self._waiting or r.entry.op in ops]

    def _settled(self, change: Change) -> set[Key]:
        """Return the nodes that another change removes which asks for less."""
        return {
            key
            for key, ways in self.ways.items()
            for other in (way.change for way in ways)
            if other.statements <= change.statements
            or (change.is_last and (not other.asks or (change.fix and not self.base.fix)))
        }

    def _note(self, change: Change, result: _Result, wanted: Collection[Key]) -> bool:
        """Note which of the wanted nodes a change removes; return whether it removes any."""
        gone: dict[Key, Found] = {}
        if result.refused.keys() <= self.refused.keys():  # the change adds no refused nodes
            gone = dict.fromkeys(self.refused.keys() - result.refused.keys(), Found(change))
        most = limit_of(self.whole.settings.target)
        added = {op for op, _ in result.refused} - {op for op, _ in self.refused}
        for record in (record for record in result.records if record.entry.is_gone):
            if added.intersection(record.entry.written):  # the target lacks it, but refuses less
                continue
            key, price = key_of(record.entry), Price.of(record)
            found = Found(change, record.entry.rules, price)
            if price is None or price.number <= most:
                gone[key] = found
            elif key in wanted:
                self.too_large.setdefault(key, []).append(found)
        removed = gone.keys() & wanted
        for key in removed:
            self.ways.setdefault(key, []).append(gone[key])
        return bool(removed)

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
        refusals = _refusals(_stuck(result.records))
        is_alike = all(refusals.get(key) == self.later[key] for key in keys)
        return (part, keys, before - budget().steps) if is_alike else None

    def _tried(self, change: Change, number: int) -> _Result | None:
        """Return the result of a change; None if it is impossible or takes too many steps.

        ``number`` is how many changes were tried before.
        """
        self.observer.stage("trying what would help", number)
        try:
            return self._result(change)
        except LimitError:
            self.untried.append(str(change))
            return None

    def _result(self, change: Change) -> _Result | None:
        """Return the result of a change on the part; if the change helps there, on the whole model.

        The result is None if the change is impossible. Raises LimitError if the change takes too
        many steps.
        """
        # Only the whole model shows which changes help nodes that are no scatters or gathers.
        base, has_more = self.base, change.opset is not None or change.gathers or change.asks > 1
        more = 0.0
        concerns_others = bool(self.refused) and (has_more or change.fix != base.fix)
        if change.statements != base.statements and not concerns_others and self.part is not None:
            part, keys, steps = self.part
            before = budget().steps
            result = self._rewritten(part, change)
            if result is None:
                return None
            there = [r for r in _stuck(result.records) if key_of(r.entry) in keys]
            if len(there) == len(keys):  # no node is removed: nothing of this is printed
                others = [r for r in self.kept if key_of(r.entry) not in keys]
                return _Result(result.settings, there + others, self.refused)
            more = (before - budget().steps - steps) * len(self.later) / len(keys)
        return self._rewritten(self.whole.model, change, more)

    def _rewritten(self, model: ir.Model, change: Change, more: float = 0) -> _Result | None:
        """Return the result of a change of a model; None if the change is impossible.

        The change is expected to cost ``more`` steps. Raises LimitError if the steps end.
        """
        if not change.statements and model is self.whole.model:
            return _Result(self.whole.settings, self.stuck, self.refused, self.violations)
        try:
            settings = change.settings(self.whole.settings)
        except ScatterXError:  # it contradicts what the user says
            return None
        self.whole.charge(model, more=more)
        if change.opset is not None:
            self.whole.charge(model, RAISED)
        try:
            asked = self.violations is not None and change is self.base
            whole = bool(self.refused) or (asked and model is self.whole.model)
            records, violations = rewritten_under(model, settings, whole=whole)
        except ScatterXError:  # such as a promise that no number satisfies
            return None
        if any(r.entry.reason is Reason.MODEL_LIMIT for r in records):
            raise SpentError
        return _Result(settings, records, self.beside(violations), violations if whole else None)

"""Trying other arguments: which of them remove the scatters that are kept.

A command is printed only if the model was rewritten with its arguments and the scatter was removed.
Only the user knows whether a promise is true.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.doors.advice.candidates import candidates
from onnx_scatterx.doors.advice.change import Change, Command
from onnx_scatterx.doors.advice.sizes import SizeAdvice
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.ir.clone import cloned
from onnx_scatterx.ir.graphs import all_graphs
from onnx_scatterx.ir.opset import raise_opset
from onnx_scatterx.optimizer.reports.advice import Advice, Way
from onnx_scatterx.optimizer.reports.builder import NodeRecord
from onnx_scatterx.optimizer.reports.entries import Action, Entry
from onnx_scatterx.optimizer.run import tried
from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.optimizer.symbolic.budget import LimitError, budget
from onnx_scatterx.text.reasons import Missing, Refusal

Key: TypeAlias = "tuple[str, str]"

_TRIALS = 24  # of one model
_NODES = 400_000  # that all trials of one model together visit
_WAYS = 3  # that are named for one scatter
_DEPTH = 2  # changes that are made together, beside the numbers of sizes


def advise_on(
    model: ir.Model,
    settings: Settings,
    records: Sequence[NodeRecord],
    command: Command | None = None,
) -> tuple[Advice, ...]:
    """Return what to do about the scatters and gathers of a model that are kept.

    A scatter that becomes ScatterX is as the target asks for it.

    ``records`` say what was done with each node under ``settings``. ``command`` is what the user
    typed.
    """
    given = command or Command(target=settings.target.name)
    stuck = [r for r in records if r.entry.refusal is not None and r.entry.action is Action.KEPT]
    sized = SizeAdvice.of(model, settings)
    search = _search(model, settings, stuck, sized.change)
    groups: dict[tuple[object, ...], list[NodeRecord]] = {}
    for record in stuck:
        key = key_of(record.entry)
        found = sorted(search.ways.get(key, ()), key=lambda way: way[0].asks)
        ways = tuple(
            Way(change.command(given), change.condition(), rules)
            for change, rules in _simplest(found)[:_WAYS]
        )
        alike = ways or (search.refusal(record),)  # if nothing removes it: its reason
        groups.setdefault(alike, []).append(record)
    nodes = tuple(
        _advice(alike, tuple(k for k in key if isinstance(k, Way)), search)
        for key, alike in groups.items()
    )
    leads = any(change.fix for found in search.ways.values() for change, _ in found)
    return nodes if leads else (*sized.advice(given), *nodes)


def _simplest(
    ways: Sequence[tuple[Change, tuple[str, ...]]],
) -> list[tuple[Change, tuple[str, ...]]]:
    """Leave out changes that say all that another one says, and more."""
    changes = [change for change, _ in ways]
    return [way for way in ways if not any(way[0].says_more_than(c) for c in changes)]


def _advice(records: Sequence[NodeRecord], ways: tuple[Way, ...], search: _Search) -> Advice:
    """Return what to do about some nodes."""
    refusals = [r for r in map(search.refusal, records) if r is not None]
    reasons = dict.fromkeys(map(str, refusals))
    missing = dict.fromkeys(refusal.reason.missing for refusal in refusals)
    keys = [key_of(record.entry) for record in records]
    needed = dict.fromkeys(search.lacks[key] for key in keys if key in search.lacks)
    missing |= dict.fromkeys(f"or, for a form that compares all positions, {n}" for n in needed)
    nodes = tuple(record.entry.node for record in records)
    return Advice(nodes, "; ".join(reasons), "; ".join(missing), ways)


def key_of(entry: Entry) -> Key:
    """Return a key that identifies a scatter or gather in every run."""
    return entry.graph, entry.node


@dataclass(frozen=True)
class _Search:
    """The results of all trials, by node.

    ``ways`` are the changes that remove the node, with the rules that replace it. ``lacks`` are the
    operators that the target lacks for a dense form. ``later`` is the reason for which the node is
    kept if all sizes are numbers.
    """

    ways: dict[Key, list[tuple[Change, tuple[str, ...]]]] = field(default_factory=dict)
    lacks: dict[Key, Missing] = field(default_factory=dict)
    later: dict[Key, Refusal] = field(default_factory=dict)

    def refusal(self, record: NodeRecord) -> Refusal | None:
        """Return why a node is kept, if possible for a reason that is not its sizes."""
        return self.later.get(key_of(record.entry), record.entry.refusal)


def _search(
    model: ir.Model, settings: Settings, stuck: Sequence[NodeRecord], sizes: Change | None
) -> _Search:
    """Try changes one by one; if a node is still kept, try those that the new reason suggests.

    If the target wants ``sizes``, all changes are made beside them.
    """
    search = _Search()
    found = search.ways
    waiting = {key_of(r.entry) for r in stuck}
    nodes = sum(len(graph) for graph in all_graphs(model))
    trials = min(_TRIALS, max(_NODES // max(nodes, 1), 2))
    first = [sizes] if sizes is not None else list(candidates(stuck, model, settings))
    first.sort(key=lambda change: change.is_last)
    depth = 1 if sizes is None else 0
    queue = deque((change, depth) for change in first if not change.repeats(settings.target))
    seen: set[str] = set()
    while queue and len(seen) < trials and not budget().is_spent:
        change, depth = queue.popleft()
        done = {k for k, ways in found.items() if any(not c.asks for c, _ in ways)}
        if change.fix and sizes is None:
            done |= found.keys()
        open_ = waiting - done if change.is_last else waiting
        command = change.command(Command())
        if not open_ or command in seen:
            continue
        seen.add(command)
        records, changed = _tried(model, settings, change)
        for entry in (record.entry for record in records):
            if key_of(entry) in open_ and entry.action in (Action.REMOVED, Action.DEAD):
                found.setdefault(key_of(entry), []).append((change, entry.rules))
        still = [r for r in records if key_of(r.entry) in waiting]
        still = [r for r in still if r.entry.refusal is not None]
        for key, refusal in ((key_of(r.entry), r.entry.refusal) for r in still):
            if refusal is not None and not depth:
                search.later[key] = refusal
            if "dense" in change.keys and refusal and isinstance(refusal.detail, Missing):
                search.lacks.setdefault(key, refusal.detail)
        if depth < _DEPTH:
            more = [c for c in candidates(still, model, changed) if not c.repeats(settings.target)]
            more = [c for c in more if not c.base or not depth]
            joined = (replace(change | c, is_last=c.is_last or depth > 0) for c in more)
            queue.extend((c, depth + 1) for c in sorted(joined, key=lambda c: c.is_last))
    return search


def _tried(
    model: ir.Model, settings: Settings, change: Change
) -> tuple[Sequence[NodeRecord], Settings]:
    """Return the records of the scatters under a change; empty if the change is impossible."""
    copy = cloned(model)
    try:
        if change.opset is not None:
            raise_opset(copy, change.opset)
        changed = change.settings(settings)
        return tried(copy, changed), changed
    except (ScatterXError, LimitError):  # it contradicts what the user says, or takes too long
        return (), settings

"""Trying other arguments: which of them remove the scatters of a model that stay.

A command is named only if the model was rewritten as it says and the scatter went, so what it says
is no guess. Whether a promise is true only the user knows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.advice.candidates import candidates
from onnx_scatterx.advice.change import Change, Command
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.ir.clone import cloned
from onnx_scatterx.ir.graphs import all_graphs
from onnx_scatterx.ir.opset import raise_opset
from onnx_scatterx.pipeline import tried
from onnx_scatterx.reports.advice import Advice, Way
from onnx_scatterx.reports.builder import NodeRecord
from onnx_scatterx.reports.entries import Action, Entry
from onnx_scatterx.settings import Settings
from onnx_scatterx.symbolic.budget import LimitError

Key: TypeAlias = "tuple[str, str]"

_TRIALS = 24  # of one model
_NODES = 400_000  # that all trials of one model together go through
_WAYS = 3  # that are named for one scatter
_DEPTH = 2  # changes that are made together


def advise_on(
    model: ir.Model,
    settings: Settings,
    records: Sequence[NodeRecord],
    command: Command | None = None,
) -> tuple[Advice, ...]:
    """Return what to do about the scatters and gathers of a model that stay.

    ``records`` are what was done with the model under ``settings``, and ``command`` is how that was
    said.
    """
    given = command or Command(target=settings.target.name)
    stuck = [r for r in records if r.entry.refusal is not None]
    ways = _search(model, settings, stuck)
    groups: dict[tuple[object, ...], list[NodeRecord]] = {}
    for record in stuck:
        told = tuple(
            Way(change.command(given), change.condition(), rules)
            for change, rules in ways.get(key_of(record.entry), ())[:_WAYS]
        )
        alike = told or (record.entry.refusal,)  # what nothing removes stays for its own reason
        groups.setdefault((record.entry.action, *alike), []).append(record)
    return tuple(
        _advice(records, tuple(k for k in key if isinstance(k, Way)))
        for key, records in groups.items()
    )


def _advice(records: Sequence[NodeRecord], ways: tuple[Way, ...]) -> Advice:
    """Return what to do about some nodes."""
    refusals = [r.entry.refusal for r in records if r.entry.refusal is not None]
    reasons = dict.fromkeys(map(str, refusals))
    missing = dict.fromkeys(refusal.reason.missing for refusal in refusals)
    nodes = tuple(record.entry.node for record in records)
    native = records[0].entry.action is Action.NATIVE
    return Advice(nodes, "; ".join(reasons), "; ".join(missing), ways, native)


def key_of(entry: Entry) -> Key:
    """Return what tells a scatter or gather from others in every run."""
    return entry.graph, entry.node


def _search(
    model: ir.Model, settings: Settings, stuck: Sequence[NodeRecord]
) -> dict[Key, list[tuple[Change, tuple[str, ...]]]]:
    """Try changes one by one, and for what still stays those that the new reasons suggest, too."""
    found: dict[Key, list[tuple[Change, tuple[str, ...]]]] = {}
    waiting = {key_of(r.entry) for r in stuck}
    nodes = sum(len(graph) for graph in all_graphs(model))
    trials = min(_TRIALS, max(_NODES // max(nodes, 1), 2))
    first = sorted(candidates(stuck, model, settings), key=lambda change: change.is_last)
    queue = deque((change, 1) for change in first if not change.repeats(settings.target))
    seen: set[str] = set()
    while queue and len(seen) < trials:
        change, depth = queue.popleft()
        open_ = waiting - found.keys() if change.is_last else waiting
        said = change.command(Command())
        if not open_ or said in seen:
            continue
        seen.add(said)
        records, changed = _tried(model, settings, change)
        for entry in (record.entry for record in records):
            if key_of(entry) in open_ and entry.action in (Action.REMOVED, Action.DEAD):
                found.setdefault(key_of(entry), []).append((change, entry.rules))
        still = [r for r in records if key_of(r.entry) in waiting - found.keys()]
        still = [r for r in still if r.entry.refusal is not None]
        if depth < _DEPTH:
            more = candidates(still, model, changed)
            queue.extend(
                (change | c, depth + 1)
                for c in more
                if not c.base and not c.repeats(settings.target)
            )
    return found


def _tried(
    model: ir.Model, settings: Settings, change: Change
) -> tuple[Sequence[NodeRecord], Settings]:
    """Return what becomes of the scatters of a model under a change; nothing if it cannot be."""
    copy = cloned(model)
    try:
        if change.opset is not None:
            raise_opset(copy, change.opset)
        changed = change.settings(settings)
        return tried(copy, changed), changed
    except (ScatterXError, LimitError):  # it contradicts what the user says, or takes too long
        return (), settings

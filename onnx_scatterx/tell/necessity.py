"""The assumptions that a rewriting needs: without them, other nodes would be written.

This is not traced through the proofs. A model is rewritten with fewer and fewer assumptions, as
long as the result is the same. The final result comes from a run that knew only the named
assumptions. So an assumption that is not named was not used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.assumptions.clauses import METADATA, Clause, as_metadata, from_metadata
from onnx_scatterx.engine.budget.spending import budget
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.plan.commit import REPLACES
from onnx_scatterx.graphs.cleanup import cloned
from onnx_scatterx.graphs.constants import constant
from onnx_scatterx.graphs.traversal import all_nodes
from onnx_scatterx.grouping import grouped
from onnx_scatterx.tell.builder import NodeRecord
from onnx_scatterx.tell.entries import Action, Entry

Clauses: TypeAlias = "tuple[Clause, ...]"
Written: TypeAlias = "tuple[object, ...]"

_SMALL = 64  # elements of a constant that is compared


@dataclass(frozen=True)
class Effect:
    """The effect of a rewriting: the entry and the new nodes of each scatter, and all operators."""

    entries: tuple[Entry, ...]
    written: Mapping[str, Written]
    operators: Counter[str]

    @classmethod
    def of(cls, model: ir.Model, entries: Iterable[Entry]) -> Effect:
        """Return the visible effect of rewriting a model."""
        nodes = [*all_nodes(model)]
        named = ((node, node.metadata_props.get(REPLACES) or "") for node in nodes)
        written = grouped((name, _looks(n)) for n, names in named for name in names.split(", "))
        operators = Counter(node.op_type for node in nodes)
        return cls(tuple(entries), {n: tuple(f) for n, f in written.items()}, operators)

    def differs_in(self, other: Effect) -> tuple[bool, ...]:
        """Return for each scatter whether another run did something else with it."""
        if len(self.entries) != len(other.entries):
            return (True,) * len(self.entries)
        return tuple(
            mine != theirs or self._of(mine) != other._of(theirs)
            for mine, theirs in zip(self.entries, other.entries, strict=True)
        )

    def _of(self, entry: Entry) -> Written | None:
        """Return the new nodes for a scatter; without a name, it is found by its operator."""
        return self.written.get(entry.node, self.written.get(entry.op))

    def is_same_as(self, other: Effect) -> bool:
        """Return whether two effects are the same."""
        return self.operators == other.operators and not any(self.differs_in(other))


def fewest(given: Clauses, run: Callable[[Clauses], Effect]) -> tuple[Clauses, list[Clauses]]:
    """Return the assumptions that are needed for the result with all assumptions.

    ``run`` rewrites the model with some assumptions, and returns the effect. The second value lists
    for each scatter the assumptions that it needs.
    """
    effect = cache(run)
    whole = effect(given)
    if effect(()).is_same_as(whole):
        return (), [() for _ in whole.entries]
    kept = given
    for clause in given:
        rest = _without(kept, clause)
        if effect(rest).is_same_as(whole):
            kept = rest
    changed = [whole.differs_in(effect(_without(kept, clause))) for clause in kept]
    rests = [
        tuple(c for c, differs in zip(kept, changed, strict=True) if differs[i])
        for i in range(len(whole.entries))
    ]
    return kept, rests


def needed_promises(
    job: Job, run: Callable[[Job], Iterable[NodeRecord]]
) -> tuple[Clauses, list[Clauses]]:
    """Return the promises without which less would be done, and those that each scatter needs.

    The pipeline is ``run`` with parts of the promises of a job. If the steps for that end, all are
    needed.
    """
    given, tries = tuple(job.assumed), count(1)

    def effect(some: Clauses) -> Effect:
        job.observer.stage("finding out which assumptions are needed", next(tries), 0)
        fewer = Job(cloned(job.model), job.settings, some, keeps_rest=True)
        entries = [record.entry for record in run(fewer)]
        return Effect.of(fewer.model, entries)

    with budget().share(1 / 2):
        kept, by_scatter = fewest(given, effect)
        return (given, [given] * len(by_scatter)) if budget().is_spent else (kept, by_scatter)


def note_needed(
    model: ir.Model, needed: Clauses, records: Iterable[NodeRecord], by_scatter: Iterable[Clauses]
) -> tuple[NodeRecord, ...]:
    """Return records with the promises that each scatter needs, and write them into the model.

    The model gets the needed promises of the scatters that were removed, behind those that it has.
    """
    pairs = list(zip(records, by_scatter, strict=True))
    used = [c for record, own in pairs if record.entry.action is not Action.KEPT for c in own]
    if used:
        said = (*from_metadata(model.metadata_props), *(c for c in needed if c in used))
        model.metadata_props[METADATA] = as_metadata(dict.fromkeys(said))
    return tuple(
        replace(r, entry=replace(r.entry, facts=(*r.entry.facts, *map(str, own))))
        for r, own in pairs
    )


def _without(clauses: Sequence[Clause], clause: Clause) -> Clauses:
    return tuple(c for c in clauses if c != clause)


def _looks(node: ir.Node) -> object:
    """Return the operator of a node, its attributes, and the small constants that it reads."""
    attributes = sorted((name, str(a.value)) for name, a in node.attributes.items())
    constants = []
    for value in node.inputs:
        tensor = constant(value, ())
        small = tensor is not None and tensor.size <= _SMALL
        constants.append(tensor.numpy().tolist() if tensor is not None and small else None)
    return node.op_type, tuple(attributes), str(constants)

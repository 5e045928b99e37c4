"""One model: its settings are checked, and the passes run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.assumptions import Clause, FixedSizes, at_sizes, check_clauses, note_assumptions
from onnx_scatterx.engine.budget import LIMITS, Budget, of_command
from onnx_scatterx.engine.device import check_sizes, known_sizes
from onnx_scatterx.engine.passes import Job, Settings
from onnx_scatterx.engine.plan import written_nodes
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.fitting import forget_unchecked_dims
from onnx_scatterx.graphs import (
    Inventory,
    all_graphs,
    all_nodes,
    cloned,
    is_scatterx_domain,
    values_by_name,
)
from onnx_scatterx.observer import NOBODY, Observer
from onnx_scatterx.pipeline.order import check_passes, rewritten
from onnx_scatterx.pipeline.unread import drop_unread, unread_constants


class Run(NamedTuple):
    """What the pipeline did to a model."""

    job: Job
    fixed: FixedSizes
    before: Counter[str]  # how often it had each operator
    after: Counter[str]


def run(
    model: ir.Model,
    settings: Settings,
    observer: Observer = NOBODY,
    original: Callable[[], ir.Model] | None = None,
) -> Run:
    """Optimize a model in place, and write the promises into its metadata.

    ``original`` returns the model once more; without it, the model is copied if that may be needed.
    Raises ScatterXError if the settings do not fit the model.
    """
    check_sizes(model, settings.size_hint)
    for name in settings.size_hint:
        if name in (settings.options["fix"] or {}):
            raise ScatterXError(f"the size {name!r} is fixed: a hint on it has no effect")
    check_passes(settings.options["passes"] or ())
    fixed = settings.fixed_in(model)
    assumed = _assumed(model, settings, fixed)
    job = Job(model, settings, assumed, observer=observer, original=original)
    before, unread = _operators(job.held), {v.name for v in unread_constants(job.held)}
    job = rewritten(job)
    if job.forbidden is not None and fixed.shapes:
        why = job.forbidden.detail or job.forbidden
        raise ScatterXError(f"the sizes ({fixed}) cannot be written: {why}")
    drop_unread(Inventory(model), unread)  # a plan may make some for nodes that get another form
    job.note_change()
    forget_unchecked_dims(model, written_nodes(job.held), job.proven_of)
    if job.modified:
        note_assumptions(assumed, model.metadata_props)
    return Run(job, fixed, before, _operators(job.held))


def tried(model: ir.Model, settings: Settings, *, whole: bool = False) -> Job:
    """Run the passes on a copy of a model, to see what other settings do.

    Without ``whole``, only the passes for scatters and gathers run. Raises ScatterXError if the
    promises contradict each other.
    """
    original = partial(cloned, model)
    assumed = _assumed(model, settings, settings.fixed_in(model))
    return rewritten(Job(original(), settings, assumed, keeps_rest=not whole, original=original))


def _assumed(model: ir.Model, settings: Settings, fixed: FixedSizes) -> Sequence[Clause]:
    """Return what the user assumes, with numbers in the place of fixed sizes."""
    if not settings.assumed:
        return ()
    inputs = model.graph.inputs
    integers = {v.name or "": v.dtype is not None and v.dtype.is_integer() for v in inputs}
    symbols = known_sizes(model).keys()
    values = {name: value.dtype for name, value in values_by_name(model.graph).items()}
    check_clauses(settings.assumed, symbols=symbols, inputs=integers, values=values)
    assumed = at_sizes(settings.assumed, fixed)
    if any(clause.is_count or clause.condition == "unique" for clause in assumed):
        from onnx_scatterx.pipeline.counted import check_possible

        check_possible(model, assumed, fixed)
    return assumed


def command_budget(model: ir.Model, settings: Settings) -> AbstractContextManager[Budget]:
    """Return the budget of a command about a model, which all its parts share."""

    def steps() -> float:
        return settings.options["effort"] * LIMITS.steps_of(sum(map(len, all_graphs(model))))

    return of_command(steps)


def _operators(held: Inventory) -> Counter[str]:
    counts = Counter({operator: len(nodes) for operator, nodes in held.operators.items()})
    for function in held.model.functions.values():
        if is_scatterx_domain(function.domain):  # a fallback of ScatterX
            counts.subtract(n.op_type for n in all_nodes(function))
    return +counts

"""The model that advice is about, what is known of it, and how many steps advice may take.

Steps are counted, so that advice does not depend on the machine: the steps of the budget, and some
steps for each node of a model that is copied. Advice may take five times the steps of the
optimization before it, or as many as take about two seconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial

import onnx_ir as ir

from onnx_scatterx.assumptions import FixedSizes
from onnx_scatterx.engine.analysis import Knowledge
from onnx_scatterx.engine.budget import SpentError, budget
from onnx_scatterx.engine.passes import Settings
from onnx_scatterx.fitting import analysis_at
from onnx_scatterx.graphs import all_nodes
from onnx_scatterx.processes import raised_gc_threshold
from onnx_scatterx.tell.extraction.region import (
    cut_out,
    known_in,
    may_be_cut,
    region_of,
    roots_of,
)

_DISTANCE = 1  # how far other nodes of a part are from the nodes that it is cut around
_SMALL = 4  # a small part has at most the nodes of the model divided by this

READ = 10
"""Steps for a node that is copied and interpreted."""
REWRITTEN = 20
"""Steps for a node that is copied, and that each pass visits."""
RAISED = 40
"""Steps for a node that is raised to a newer operator set."""
_OPTIMIZED = 30  # steps for a node that the optimization copied, merged with its file and reported
_TIMES = 5  # advice may take so many times the steps of the optimization
_LEAST = 333_000  # steps that advice may always take: about two seconds


@dataclass(frozen=True)
class Whole:
    """A model, the settings with which it was optimized, and the steps that this took."""

    model: ir.Model
    settings: Settings
    price: float = 0

    @cached_property
    def nodes(self) -> int:
        """How many nodes the model has."""
        return len(all_nodes(self.model))

    @cached_property
    def knowledge(self) -> Knowledge:
        """The analysis of the model, which holds at any sizes. LimitError if no steps are left."""
        self.charge(self.model, READ)
        return analysis_at(self.model, self.settings, FixedSizes({}, {})).knowledge

    @property
    def affords_numbers(self) -> bool:
        """Whether the steps suffice to analyse the model at some numbers, and then rewrite it."""
        return budget().steps >= 2 * self.price + (READ + REWRITTEN) * self.nodes

    def small_part(self, names: Collection[str]) -> ir.Model | None:
        """Return the part that decides about some nodes; None if it is not small."""
        roots = roots_of(self.model, names)
        if not roots:
            return None
        known = known_in(self.model, self.knowledge)
        region = region_of(self.model.graph, roots, _DISTANCE, partial(may_be_cut, known))
        is_small = _SMALL * len(region.nodes) <= len(self.model.graph)
        return cut_out(self.model, region, known) if is_small else None

    def charge(self, model: ir.Model, each: int = REWRITTEN, more: float = 0) -> None:
        """Take ``each`` steps for each node of a copy of this model, or of a part of it.

        For a model that is rewritten, raises SpentError if the remaining steps are fewer than the
        optimization took for so many nodes, and ``more``.
        """
        nodes = len(all_nodes(model))
        budget().charge_command(each * nodes)
        if each == REWRITTEN and budget().steps < self.price * nodes / self.nodes + more:
            raise SpentError


@contextmanager
def bounded(model: ir.Model, settings: Settings) -> Iterator[Whole]:
    """Let a block take at most the steps that advice may take, after the model was optimized."""
    spending = budget()
    whole = Whole(model, settings, spending.limit - spending.steps)
    of_nodes = _TIMES * _OPTIMIZED * whole.nodes
    most = max(_TIMES * whole.price + of_nodes, _LEAST) - READ * whole.nodes  # to read it anew
    left = max(spending.steps, 1.0)  # the command's own steps, in which no nodes are counted
    with raised_gc_threshold(), spending.share(min(most, left + of_nodes) / left):
        yield whole

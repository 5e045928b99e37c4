"""The model that advice is about, what is known of it, and how much work advice may take.

Work is counted, so that advice does not depend on the machine. It is the steps of the budget, and
some for each node of a model that is copied, which no other budget counts. Advice may take three
times the work of the optimization before it, or about a second.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial

import onnx_ir as ir

from onnx_scatterx.doors.extraction.region import (
    cut_out,
    known_in,
    may_be_cut,
    region_of,
    roots_of,
)
from onnx_scatterx.ir.collection import raised_gc_threshold
from onnx_scatterx.ir.graphs import all_nodes
from onnx_scatterx.optimizer.analysis.domain.call import Knowledge
from onnx_scatterx.optimizer.assumptions.fixed_sizes import FixedSizes
from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.optimizer.symbolic.budget import SpentError, budget
from onnx_scatterx.optimizer.transforms.write_sizes import analysis_at

_DISTANCE = 1  # of other nodes of a part from those that it is cut around
_SMALL = 4  # times the nodes of a part is the model: a larger part would save little

READ = 10
"""Steps for a node that is copied and interpreted."""
REWRITTEN = 20
"""Steps for a node that is copied, and that each pass visits."""
RAISED = 40
"""Steps for a node that is raised to a newer operator set."""
_OPTIMIZED = 30  # for a node of the model that was optimized, merged with its file, and reported
_TIMES = 3  # the work of the optimization
_LEAST = 200_000  # steps: about a second


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
        """What is known of the model at any sizes. Raises LimitError if no steps are left."""
        self.charge(self.model, READ)
        return analysis_at(self.model, self.settings, FixedSizes({}, {})).knowledge

    @property
    def affords_numbers(self) -> bool:
        """Whether the steps suffice to read the model at some numbers, and to rewrite it then."""
        return budget().steps >= 2 * self.price + (READ + REWRITTEN) * self.nodes

    def small_part(self, names: Collection[str]) -> ir.Model | None:
        """Return the part that decides about nodes, unless it is a large part of the model."""
        roots = roots_of(self.model, names)
        if not roots:
            return None
        known = known_in(self.model, self.knowledge)
        region = region_of(self.model.graph, roots, _DISTANCE, partial(may_be_cut, known))
        is_small = _SMALL * len(region.nodes) <= len(self.model.graph)
        return cut_out(self.model, region, known) if is_small else None

    def charge(self, model: ir.Model, each: int = REWRITTEN, more: float = 0) -> None:
        """Take ``each`` steps for the nodes of a model: a copy of this one, or a part of it.

        If it is to be rewritten, and then less remains than the optimization of so many nodes took
        and ``more`` steps, SpentError is raised.
        """
        nodes = len(all_nodes(model))
        budget().charge_command(each * nodes)
        if each == REWRITTEN and budget().steps < self.price * nodes / self.nodes + more:
            raise SpentError


@contextmanager
def bounded(model: ir.Model, settings: Settings) -> Iterator[Whole]:
    """Let a block take at most so much work; the command has optimized the model before."""
    spending = budget()
    whole = Whole(model, settings, spending.given - spending.steps)
    of_nodes = _TIMES * _OPTIMIZED * whole.nodes
    most = max(_TIMES * whole.price + of_nodes, _LEAST) - READ * whole.nodes  # it was read anew
    left = max(spending.steps, 1.0)  # of the command, which does not count nodes
    with raised_gc_threshold(), spending.share(min(most, left + of_nodes) / left):
        yield whole

"""Choosing how to write a region out: every form that can do it is tried, and the least is taken.

A form is one rule of ``rewrites/``. It makes a plan or gives a reason. What a plan costs is counted
on trial; it is written only when it was chosen, so a refusal never leaves anything half-built.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.analysis.domain.tensor import Shape
from onnx_scatterx.emit.terms import TermEmitter
from onnx_scatterx.emit.writer import Writer
from onnx_scatterx.mosaic.cells import Cell
from onnx_scatterx.mosaic.constants import Constants
from onnx_scatterx.mosaic.existing_view import ExistingViews
from onnx_scatterx.mosaic.mosaic import Mosaic
from onnx_scatterx.mosaic.span import ZERO, StridedInterval
from onnx_scatterx.symbolic.prove import Facts
from onnx_scatterx.symbolic.simplify import simplify
from onnx_scatterx.symbolic.terms import Term
from onnx_scatterx.targets.cost_model.costs import Costs, Work
from onnx_scatterx.text.reasons import Reason, Refusal, RefusedError


class Region(NamedTuple):
    """A box of a tensor, ``low[d] <= x_d < high[d]``, and the cells that cover it."""

    cells: tuple[Cell, ...]
    low: Shape
    high: Shape

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.low)

    def extent(self, axis: int) -> Term:
        """Return how long the region is on an axis."""
        return self.high[axis] - self.low[axis]

    @property
    def extents(self) -> Shape:
        """The shape of the region."""
        return tuple(self.extent(d) for d in range(self.rank))

    def part(self, axis: int, low: Term, high: Term, cells: Sequence[Cell]) -> Region:
        """Return the region between two positions of an axis, covered by these cells."""
        return Region(
            tuple(cells),
            (*self.low[:axis], low, *self.low[axis + 1 :]),
            (*self.high[:axis], high, *self.high[axis + 1 :]),
        )

    @classmethod
    def of(cls, mosaic: Mosaic) -> Region:
        """Return a whole tensor as a region."""
        return cls(mosaic.cells, tuple(ZERO for _ in mosaic.shape), mosaic.shape)


@dataclass(frozen=True)
class Plan:
    """A way to write a region."""

    cost: int  # in nodes
    weight: float  # what plans are compared by: nodes, or time
    forms: frozenset[str]  # that it uses
    reads: tuple[ir.Value, ...]
    write: Callable[[], ir.Value]


class Form(ABC):
    """A way to write regions out."""

    name: str

    @abstractmethod
    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        """Return a plan for a region, or why this form cannot write it."""


class Planner:
    """Finds the cheapest plan for regions of one element type.

    ``copies`` says that new constants may be as large as those that they are made of.
    """

    def __init__(
        self,
        forms: Sequence[Form],
        writer: Writer,
        numbers: TermEmitter,
        facts: Facts,
        constants: Constants,
        existing_views: ExistingViews,
        dtype: ir.DataType,
        costs: Costs,
        *,
        copies: bool = True,
    ) -> None:
        self.forms = forms
        self.writer = writer
        self.numbers = numbers
        self.facts = facts
        self.constants = constants
        self.existing_views = existing_views
        self.dtype = dtype
        self.costs = costs
        self.copies = copies
        self._plans: dict[Region, Plan | Refusal] = {}

    def best(self, region: Region) -> Plan | Refusal:
        """Return the plan of the least weight, or the most telling refusal."""
        if region not in self._plans:
            self._plans[region] = self._best(region)
        return self._plans[region]

    def require(self, region: Region) -> Plan:
        """Return the best plan for a part of a region, or refuse the whole."""
        found = self.best(region)
        if isinstance(found, Refusal):
            raise RefusedError(found.reason, found.detail)
        return found

    def _best(self, region: Region) -> Plan | Refusal:
        plans: list[Plan] = []
        refusals: list[Refusal] = []
        for form in self.forms:
            try:
                found = form.plan(region, self)
            except RefusedError as error:
                found = error.refusal
            if isinstance(found, Plan):
                plans.append(found)
                if found.cost == 0:
                    break
            else:
                refusals.append(found)
        if plans:
            return min(plans, key=lambda p: p.weight)
        telling = [r for r in refusals if r.reason is not Reason.NO_RULE]
        return telling[0] if telling else Refusal(Reason.NO_RULE)

    def plan(
        self,
        form: Form,
        write: Callable[[], ir.Value],
        *parts: Plan,
        work: Sequence[Work] = (),
    ) -> Plan | Refusal:
        """Return a plan of a form over the plans of its parts, or why it cannot be written.

        ``work`` is that of the form itself.
        """
        trial = self.writer.dry_run(write)
        if isinstance(trial, Refusal):
            return trial
        forms = frozenset((form.name,)).union(*(p.forms for p in parts))
        own = trial.cost - sum(p.cost for p in parts)
        weight = self.costs.weigh(own, work, self.dtype) + sum(p.weight for p in parts)
        return Plan(trial.cost, weight, forms, tuple(trial.reads), write)

    def simplified(self, t: Term) -> Term:
        """Return a term with the cases decided that the facts decide."""
        return simplify(t, self.facts)


def edges(span: StridedInterval) -> tuple[Term, Term]:
    """Return the first position of a span and the one after its last."""
    m, r = span.modulus, span.residue
    if m == 1:
        return span.low, span.high
    return m * span.low + r, m * (span.high - 1) + r + 1

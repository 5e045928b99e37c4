"""The interface of a rule: it is asked for a region, and returns a plan, which writes nodes.

A rule says in its attributes how it is used; nothing else in the package lists rules by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar

import onnx_ir as ir

from onnx_scatterx.engine.analysis import ElementOf, Shape, TensorValue
from onnx_scatterx.engine.budget import budget
from onnx_scatterx.engine.lift import Gather, InTheory, Scatter
from onnx_scatterx.engine.mosaic import Cell, Constants, Mosaic, Provenance, is_unique
from onnx_scatterx.engine.plan.last_bits import computes_alike, rows_alike
from onnx_scatterx.engine.terms import Facts, Symbol, Term, element, term
from onnx_scatterx.engine.write import Numbers, Writer
from onnx_scatterx.targets import Target
from onnx_scatterx.text import Reason, Refusal, RefusedError

if TYPE_CHECKING:
    from onnx_scatterx.engine.plan.planner import Planner

S = TypeVar("S")


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

    def spans(self, cell: Cell, axis: int, facts: Facts) -> bool:
        """Return whether a cell is as long as the region on an axis."""
        span = cell.box[axis]
        ends = (span.low, self.low[axis]), (span.high, self.high[axis])
        return span.modulus == 1 and all(facts.equal(*pair) for pair in ends)

    def only_source(self, kind: type[S]) -> S:
        """Return the source of the only cell, if it is of a kind, or refuse."""
        source = self.cells[0].source if len(self.cells) == 1 else None
        if not isinstance(source, kind):
            raise RefusedError(Reason.NO_RULE)
        return source

    @classmethod
    def of(cls, mosaic: Mosaic) -> Region:
        """Return a whole tensor as a region."""
        return cls(mosaic.cells, tuple(term(0) for _ in mosaic.shape), mosaic.shape)


class MultiplyAdds(NamedTuple):
    """The multiply-adds of a function of chosen rows that is computed for all rows."""

    each: Term  # for each chosen row
    total: Term  # for all rows
    times: float  # how many times as many as for the chosen rows, on the average


@dataclass(frozen=True)
class Plan:
    """A way to write a value. The nodes that ``write`` writes have its cost and its inputs."""

    write: Callable[[], ir.Value]
    work: Term | None = None  # of a dense form: elements of its largest tensor
    multiply_adds: MultiplyAdds | None = None  # of a function that is done for more rows than were
    cost: int = 0  # in nodes
    weight: float = 0.0  # plans are compared by it: nodes, or time
    rules: frozenset[Rule] = frozenset()  # that it uses
    inputs: tuple[ir.Value, ...] = ()  # values of the graph
    unique: bool | None = None  # of ScatterX: whether updates proven not to collide


def cheapest(answers: Iterable[Plan | Refusal]) -> Plan | Refusal:
    """Return the plan of the least weight, or the most telling refusal."""
    plans: list[Plan] = []
    refusals: list[Refusal] = []
    for each in answers:
        if isinstance(each, Plan):
            plans.append(each)
        elif each.reason is not Reason.NO_RULE:
            refusals.append(each)
    if plans:
        return min(plans, key=lambda p: p.weight)
    return refusals[0] if refusals else Refusal(Reason.NO_RULE)


@dataclass(frozen=True, eq=False)
class Context:
    """What a rule for scatters may read and write with, and the target that it writes for."""

    provenance: Provenance
    writer: Writer
    constants: Constants
    numbers: Numbers
    target: Target
    last_bits: bool  # of functions may depend on the place of an element

    @property
    def graph(self) -> ir.Graph:
        """The graph of the scatter: a value that is made elsewhere is not followed."""
        return self.provenance.graph

    @property
    def facts(self) -> Facts:
        """What is known of sizes. That of a scatter also knows the extents of its coordinates."""
        return self.provenance.facts

    def known(self, value: ir.Value) -> TensorValue:
        """Return what is known of a value: its type, shape and elements."""
        return self.provenance.abstract(value)

    def access(self, node: ir.Node) -> Scatter | Gather | None:
        """Return another scatter or gather of the graph; None if a node is none, or is refused."""
        return self.provenance.access(node)

    def charge(self) -> None:
        """Count a step of work: a rule that follows nodes of a model takes a bounded number."""
        budget().charge_part(1)

    def element_read(self, target: Term) -> tuple[Symbol, ir.Value] | None:
        """Return (symbol, tensor) if a target is an element of a tensor, at the symbol's parts."""
        symbol = target.symbol
        value = ElementOf.read_by(symbol)
        return None if symbol is None or value is None else (symbol, value)

    def element(self, value: ir.Value, parts: Sequence[Term]) -> Term:
        """Return the element of a placeholder at an index as a term."""
        return element(ElementOf(self, value), parts, name="i")

    def with_placeholder(
        self, name: str, dtype: ir.DataType, shape: Shape
    ) -> tuple[ir.Value, Context]:
        """Return a value that stands for a tensor to be written, and the context that knows it.

        Before a node reads it, the writer must know what it stands for (``Writer.let``).
        """
        value = ir.Value(name=name, type=ir.TensorType(dtype))
        described = self.provenance.describing(value, TensorValue(dtype, shape))
        return value, replace(self, provenance=described)

    def computes_alike(self, node: ir.Node, dtypes: Sequence[ir.DataType | None]) -> bool:
        """Return whether a node on elements of these types computes the same bits at any place."""
        return computes_alike(node, dtypes, last_bits=self.last_bits)

    def keeps_rows(self, node: ir.Node, dtype: ir.DataType) -> bool:
        """Return whether a row of an output of a type has the same bits alone and among others."""
        return self.last_bits or rows_alike(node, dtype)

    def is_unique(self, scatter: Scatter) -> bool:
        """Return whether it is proven that no two updates collide."""
        return is_unique(scatter, self.provenance)

    def collides(self, scatter: Scatter) -> bool:
        """Return whether updates are known to collide."""
        known = not any(t.leaves() for t in scatter.index_exprs)
        return known and InTheory(scatter).unique is False


class Rule(ABC):
    """A way to write the result of a scatter, without the scatter."""

    name: str
    """That of the rule's file, unless the rule gives itself another one."""
    reads_all_data: ClassVar[bool] = False
    """It reads all of the data. If the target has the scatter, it is used only if it is named."""
    writes_scatterx: ClassVar[bool] = False
    """The scatter becomes ScatterX: the report does not call it removed."""
    takes_last: ClassVar[bool] = False
    """If two updates may collide, the last one wins."""
    searches: ClassVar[bool] = False
    """Compares all positions with all updates, or with all indices of a gather.

    Other rules are asked first, also about a part of a scatter. A gather that the target has is
    not searched.
    """

    def __init_subclass__(cls) -> None:
        cls.name = cls.__dict__.get("name", cls.__module__.rpartition(".")[2])


class RegionRule(Rule):
    """Writes a region whose cells are known. The cheapest plan of all rules is taken."""

    @abstractmethod
    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        """Return a plan for a region, or why this rule cannot write it."""


class ScatterRule(Rule):
    """Writes a scatter whose cells are not known. The first rule that has a plan is taken."""

    accepts_invalid: ClassVar[bool] = False
    """Also writes a scatter that cannot run, in a branch that is never taken."""
    has_priority: ClassVar[bool] = False
    """Is asked before the region rules, also about scatters whose cells are known."""

    @abstractmethod
    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        """Return a plan for a scatter, or why this rule cannot write it."""


class GatherRule(Rule):
    """Writes a gather whose cells are not known: one that the target lacks, or in no more nodes."""

    @abstractmethod
    def plan(self, gather: Gather, context: Context) -> Plan | Refusal:
        """Return a plan for a gather, or why this rule cannot write it."""

"""One graph to rewrite, and the cheapest plan for a region of it.

The cost of a plan is counted on a dry run. Only selected plans are written, so a refusal never
leaves a part of a plan in the graph.

A scatter that no rule takes may be peeled to the box that it writes (``peel_to_box``):

    before   y = ScatterElements(x, i, u, axis=0)            x of [P, S], i, u of [K, n]
    after    z = ScatterElements(x[:, :n], i, u, axis=0),    y = Concat(z, x[:, n:])

Holds on an axis whose target is ``start + I_d``, within the axis at every size, or one position.
Most rules need every axis to be written in full, except the one that is searched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import onnx_ir as ir

from onnx_scatterx.ir.cleanup import Names
from onnx_scatterx.optimizer.analysis.domain.call import Scope
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.emit.terms import TermEmitter
from onnx_scatterx.optimizer.emit.writer import INT64_MAX, Writer
from onnx_scatterx.optimizer.lift.footprint import affine_along
from onnx_scatterx.optimizer.lift.lift_scatter import Scatter
from onnx_scatterx.optimizer.lowering.rule import Context, Plan, Region, RegionRule, Rule, cheapest
from onnx_scatterx.optimizer.lowering.runtime_patterns import GraphValues, obstacle
from onnx_scatterx.optimizer.mosaic.constants import Constants
from onnx_scatterx.optimizer.mosaic.existing_view import ExistingViews
from onnx_scatterx.optimizer.symbolic.budget import budget
from onnx_scatterx.optimizer.symbolic.limits import PRICES
from onnx_scatterx.optimizer.symbolic.prove import Facts
from onnx_scatterx.optimizer.symbolic.simplify import simplify
from onnx_scatterx.optimizer.symbolic.terms import Term, minimum, term
from onnx_scatterx.optimizer.targets.costs import Costs, Work
from onnx_scatterx.optimizer.targets.target import Target
from onnx_scatterx.text.reasons import FloatReason, Refusal, attempt, granted


@dataclass(frozen=True)
class GraphContext:
    """A graph, and all that is the same in every round of planning."""

    graph: ir.Graph
    scope: Scope
    rules: Sequence[Rule]
    names: Names
    constants: Constants
    constant_nodes: bool  # constants must be nodes, as there can be no initializers
    target: Target
    costs: Costs
    note_planned: Callable[[ir.Node], None] = lambda _: None
    """Is called with each node that is being planned, to report progress."""
    last_bits: bool = False
    """Whether the last bits of functions may depend on the place of an element."""

    kept: Mapping[ir.Node, Refusal] = field(default_factory=dict)
    """Scatters that were kept, and stay so: the target takes them as they are."""

    @property
    def known(self) -> GraphValues:
        """What is known of its values."""
        return GraphValues(self.scope, self.constants)

    def writer(self) -> Writer:
        """Return a writer of nodes into the graph."""
        arguments, nodes = (self.graph, self.scope, self.names), self.constant_nodes
        return Writer(*arguments, constant_nodes=nodes, target=self.target)

    def obstacle(self, node: ir.Node) -> FloatReason | None:
        """Return why a node must be kept if ONNX Runtime runs the model, or None."""
        return obstacle(node, self.known) if self.target.onnxruntime else None


@dataclass(frozen=True)
class SubBox:
    """A scatter into a box: ``within[axis]`` is the start and end of the box.

    ``inner`` is the scatter on the box alone. Its data is a placeholder value.
    """

    scatter: Scatter
    inner: Scatter
    within: dict[int, tuple[Term, Term]]
    context: Context  # which knows that value

    def whole(self, plan: Plan) -> Plan:
        """Return a rewriting of the inner scatter as one of the whole."""
        cuts, data = list(self.within.items()), self.scatter.data
        return Plan(lambda: self._written(cuts, data, plan.write), plan.work)

    def _written(
        self,
        cuts: list[tuple[int, tuple[Term, Term]]],
        x: ir.Value,
        write: Callable[[], ir.Value],
    ) -> ir.Value:
        """Cut a tensor axis by axis, write the box, and concatenate the rest around it."""
        w, dtype = self.context.writer, self.scatter.dtype
        if not cuts:
            w.replaced[self.inner.data] = w.resolve(x)
            return write()
        (axis, (low, high)), *others = cuts

        def cut(start: ir.Value, end: ir.Value) -> ir.Value:
            return w.slice_dynamic(x, dtype, axis, start, end, 1)

        numbers = self.context.numbers
        first, last = numbers.vector(low), numbers.vector(high)
        parts = [self._written(others, cut(first, last), write)]
        if low.constant != 0:
            parts.insert(0, cut(w.constant([0]), first))
        if not self.scatter.facts.equal(high, self.scatter.data_shape[axis]):
            parts.append(cut(last, w.constant([INT64_MAX])))
        return w.concat(parts, dtype, axis)


def peel_to_box(scatter: Scatter, context: Context) -> SubBox | None:
    """Return a scatter as one into a box, or None if it may reach all of its data."""
    within: dict[int, tuple[Term, Term]] = {}
    targets = list(scatter.index_exprs)
    for axis, target, size in scatter.by_axis():
        affine = affine_along(target)
        if affine is None or affine.step not in (0, 1) or not scatter.nonnegative[axis]:
            continue
        start, count = affine.start, term(1) if affine.dim is None else scatter.shape[affine.dim]
        # If nothing is written, the start may lie behind the axis.
        low = start if scatter.facts.is_nonnegative(size - start) else minimum(start, size)
        if scatter.facts.equal(count, size) or not scatter.facts.is_nonnegative(low):
            continue
        if scatter.facts.is_nonnegative(size - low - count):
            within[axis] = (low, low + count)
            targets[axis] = target - start
    if not within:
        return None
    shape = tuple(
        within[c][1] - within[c][0] if c in within else n for c, n in enumerate(scatter.data_shape)
    )
    data = ir.Value(name=f"{scatter.data.name}/part", type=ir.TensorType(scatter.dtype))
    inner = replace(scatter, data=data, data_shape=shape, index_exprs=tuple(targets))
    described = context.provenance.describing(data, TensorValue(scatter.dtype, shape))
    return SubBox(scatter, inner, within, replace(context, provenance=described))


@dataclass(eq=False)
class Planner:
    """Finds the cheapest plan for regions of one element type.

    If ``copies``, new constants may be as large as their sources.
    """

    rules: Sequence[RegionRule]
    writer: Writer
    numbers: TermEmitter
    facts: Facts
    constants: Constants
    existing_views: ExistingViews
    dtype: ir.DataType
    costs: Costs
    copies: bool
    _plans: dict[Region, Plan | Refusal] = field(default_factory=dict, init=False)

    def best(self, region: Region) -> Plan | Refusal:
        """Return the plan of the least weight, or the most telling refusal."""
        if region not in self._plans:
            self._plans[region] = cheapest(self._asked(region))
        return self._plans[region]

    def require(self, region: Region) -> Plan:
        """Return the best plan for a part of a region, or refuse the whole."""
        return granted(self.best(region))

    def _asked(self, region: Region) -> Iterator[Plan | Refusal]:
        """Ask the rules, until one writes nothing."""
        for rule in self.rules:
            budget().work(PRICES.region_rule)
            answer = attempt(partial(rule.plan, region, self))
            yield answer
            if isinstance(answer, Plan) and answer.cost == 0:
                return

    def plan(
        self,
        rule: RegionRule,
        write: Callable[[], ir.Value],
        *parts: Plan,
        work: Sequence[Work] = (),
    ) -> Plan | Refusal:
        """Return a plan of a rule over the plans of its parts, or why it cannot be written.

        ``work`` is that of the rule itself.
        """
        trial = self.writer.dry_run(write)
        if isinstance(trial, Refusal):
            return trial
        rules = frozenset[Rule]((rule,)).union(*(p.rules for p in parts))
        own = trial.cost - sum(p.cost for p in parts)
        weight = self.costs.weigh(own, work, self.dtype) + sum(p.weight for p in parts)
        return Plan(write, None, trial.cost, weight, rules, tuple(trial.inputs))

    def simplified(self, t: Term) -> Term:
        """Return a term with the cases decided that the facts decide."""
        return simplify(t, self.facts)

"""One graph to rewrite, and the cheapest plan for a region of it.

The cost of a plan is read off its nodes, a fragment. Only those of selected plans are committed, so
a refusal never leaves a part of a plan in the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope
from onnx_scatterx.engine.budget import PRICES, budget
from onnx_scatterx.engine.device import Costs, Traffic
from onnx_scatterx.engine.mosaic import Constants, View
from onnx_scatterx.engine.plan.rule import Plan, Region, RegionRule, Rule, cheapest
from onnx_scatterx.engine.quantizers import GraphValues, reason_to_keep
from onnx_scatterx.engine.terms import Term
from onnx_scatterx.engine.write import AvailableValues, OuterValues, Writer
from onnx_scatterx.graphs import Names
from onnx_scatterx.observer import Tally
from onnx_scatterx.targets import Target
from onnx_scatterx.text import FloatReason, Refusal, attempt, granted

if TYPE_CHECKING:
    from onnx_scatterx.engine.plan.round import RewriteRound


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
    planned: Tally = field(default_factory=Tally)
    """Is told of each node that is being planned."""
    last_bits: bool = False
    """Whether the last bits of functions may depend on the place of an element."""

    kept: Mapping[ir.Node, Refusal] = field(default_factory=dict)
    """Scatters that were kept, and stay so: the target takes them as they are."""

    outer: OuterValues | None = None
    """The values of the graphs around a body that the body can read."""

    def available(self, removed: Iterable[ir.Value]) -> AvailableValues:
        """Return the values that hold sizes and numbers; some of them may be removed."""
        return AvailableValues(self.graph, self.scope, removed, self.outer)

    @property
    def known(self) -> GraphValues:
        """What is known of its values."""
        return GraphValues(self.scope, self.constants)

    def writer(self) -> Writer:
        """Return a writer of nodes into the graph."""
        arguments, nodes = (self.graph, self.scope, self.names), self.constant_nodes
        return Writer(*arguments, constant_nodes=nodes, target=self.target)

    def reason_to_keep(self, node: ir.Node) -> FloatReason | None:
        """Return why a node must be kept if ONNX Runtime runs the model, or None."""
        return reason_to_keep(node, self.known) if self.target.onnxruntime else None


class Planner:
    """Finds the cheapest plan for regions of one element type, in a round of planning.

    If ``copies``, new constants may be as large as their sources.
    """

    def __init__(self, round_: RewriteRound, dtype: ir.DataType) -> None:
        self.dtype = dtype
        self.writer = round_.writer
        self.numbers = round_.numbers
        self.facts = round_.context.scope.facts
        self.constants = round_.context.constants
        self.costs = round_.context.costs
        self._existing_views = round_.existing_views
        self.copies = round_.copies
        self._rules = round_.region_rules
        self._plans: dict[Region, Plan | Refusal] = {}

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
        for rule in self._rules:
            budget().charge_part(PRICES.region_rule)
            answer = attempt(partial(rule.plan, region, self))
            yield answer
            if isinstance(answer, Plan) and answer.cost == 0:
                return

    def plan(
        self,
        rule: RegionRule,
        write: Callable[[], ir.Value],
        *parts: Plan,
        traffic: Sequence[Traffic] = (),
    ) -> Plan | Refusal:
        """Return a plan of a rule over the plans of its parts, or why it cannot be written.

        ``traffic`` is that of the rule itself.
        """
        nodes = self.writer.fragment_of(write)
        if isinstance(nodes, Refusal):
            return nodes
        rules = frozenset[Rule]((rule,)).union(*(p.rules for p in parts))
        own = nodes.cost - sum(p.cost for p in parts)
        weight = self.costs.weigh(own, traffic, self.dtype) + sum(p.weight for p in parts)
        inputs = tuple(nodes.inputs)
        return Plan(write, cost=nodes.cost, weight=weight, rules=rules, inputs=inputs)

    def with_other_views(
        self, plan: Callable[[View], Plan | Refusal], view: View, region: Region
    ) -> Plan | Refusal:
        """Return the cheapest plan for a view: of a value, or of its views that exist.

        A plan over an existing view keeps the nodes that exist for it alone. If these weigh as much
        as the best plan so far, it is not made: a chain of writes has as many views of one value.
        """
        best = attempt(partial(plan, view))
        for alias in self._existing_views.around(view, region.low, region.high):
            traffic = [Traffic("Transpose", alias.shape, len(alias.shape))] * alias.cost
            kept = self.costs.weigh(alias.cost, traffic, self.dtype)
            if isinstance(best, Plan) and kept >= best.weight:
                continue
            if not self.numbers.is_available(alias.value):
                continue
            seen = alias.seen(view, region.low, region.high, self.facts)
            if seen is None:
                continue
            other = attempt(partial(plan, seen))
            if isinstance(other, Plan):
                cost, weight = other.cost + alias.cost, other.weight + kept
                other = replace(other, cost=cost, weight=weight)
            best = cheapest([best, other])
        return best

    def simplified(self, t: Term) -> Term:
        """Return a term with the cases decided that the facts decide."""
        return self.facts.simplify(t)

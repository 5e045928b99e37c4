"""One round of planning for a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import onnx_ir as ir

from onnx_scatterx.engine.budget import PRICES, budget, of_scatter
from onnx_scatterx.engine.device import is_lacked
from onnx_scatterx.engine.lift import Scatter
from onnx_scatterx.engine.mosaic import Lifted, Provenance, existing_views
from onnx_scatterx.engine.plan.exclusive import ExclusiveNodes
from onnx_scatterx.engine.plan.peel import SubBox, peel_to_box
from onnx_scatterx.engine.plan.planner import GraphContext, Planner
from onnx_scatterx.engine.plan.rule import (
    Context,
    GatherRule,
    Plan,
    Region,
    RegionRule,
    Rule,
    ScatterRule,
)
from onnx_scatterx.engine.quantizers import has_quantizers, objection
from onnx_scatterx.engine.terms import Symbol, Term
from onnx_scatterx.engine.write import Fragment, Numbers, Writer
from onnx_scatterx.text import FloatReason, Reason, Refusal, attempt

T = TypeVar("T")

_WORTH = 32  # nodes that removing one scatter may cost
_NEEDED = 256  # the same, if the target lacks the scatter operator, or runs it slowly


class RewriteRound:
    """One round: the provenance of the values of a graph, and the plans to write them.

    A round is valid until another node becomes opaque (``Provenance``). Then a new round starts, in
    which the ``writer`` of the earlier one still knows the nodes that it tried.
    """

    def __init__(
        self,
        context: GraphContext,
        provenance: Provenance,
        index_nodes: ExclusiveNodes | None = None,
        *,
        writer: Writer | None = None,
        copies: bool = True,
    ) -> None:
        self.context = context
        self.graph = context.graph
        self.provenance = provenance
        self.copies = copies  # new constants may be as large as their sources
        self.region_rules = [r for r in context.rules if isinstance(r, RegionRule)]
        self.scatter_rules = [r for r in context.rules if isinstance(r, ScatterRule)]
        self.gather_rules = [r for r in context.rules if isinstance(r, GatherRule)]
        self.writer = writer or context.writer()
        opaque = provenance.opaque
        removed = [v for n in provenance.scatters for v in n.outputs if n not in opaque]
        removed += [*(index_nodes.values() if index_nodes else ()), *provenance.absorbed]
        self.numbers = Numbers(self.writer, context.scope, context.available(removed))
        own = context.constants, self.numbers, context.target, context.last_bits
        self._for_rules = Context(provenance, self.writer, *own)
        self.existing_views = existing_views(provenance)
        self.changed_by_runtime: dict[ir.Value, FloatReason] = {}
        """For a value: why ONNX Runtime would change what its last plan computes."""
        self._is_strict = False
        """Whether a plan that ONNX Runtime would change is refused, whatever the target is.

        ``rewriting`` sets it, and resets it if each plan would be changed. Until then it also holds
        for what is planned later in the round.
        """
        self._quantized = has_quantizers(context.graph)
        self._plans: dict[ir.Value, Plan | Refusal] = {}

    def plan(self, value: ir.Value) -> Plan | Refusal:
        """Return the best plan for a value that moves, written in front of its producer."""
        producer = value.producer()
        assert producer is not None
        if value not in self._plans:
            self._plans[value] = self._within(producer, lambda: self._planned(value))
        return self._plans[value]

    def _within(self, node: ir.Node, compute: Callable[[], T]) -> T | Refusal:
        """Return what is planned in front of a node, within the limit of one scatter.

        If a question about a scatter is given up, this is noted.
        """
        self.context.planned.note(node)
        before = budget().unanswered
        try:
            with self.writer.graph.at(node):
                return of_scatter(compute)
        finally:
            if budget().unanswered > before:
                self.provenance.unanswered.add(node)

    def _planned(self, value: ir.Value) -> Plan | Refusal:
        dtype = self.provenance.abstract(value).dtype or value.dtype
        mosaic = self.provenance.mosaic(value)
        assert mosaic is not None
        if dtype is None:
            return Refusal(Reason.UNKNOWN_TYPE)
        plan = self._narrowed(Planner(self, dtype).best(Region.of(mosaic)), value)
        if isinstance(plan, Plan) and (value.is_graph_output() or self._quantized):
            nodes = self._judged(plan, value)
            plan = nodes if isinstance(nodes, Refusal) else plan
        limit = self._worth(value) + 2 * len(mosaic.cells)
        if isinstance(plan, Plan) and plan.cost > limit:
            return Refusal(Reason.TOO_COSTLY, f"{plan.cost} nodes")
        return plan

    def _worth(self, value: ir.Value) -> int:
        """Return how many nodes a value may take: more if the target lacks the removed ones."""
        absorbed = self.provenance.absorbed[value]
        target = self.context.target
        return sum(_NEEDED if is_lacked(n, target) else _WORTH for n in absorbed)

    def preferred(self) -> list[ir.Node]:
        """Return the scatters with a mosaic that a rule writes first, or in fewer nodes."""
        first = [r for r in self.scatter_rules if r.has_priority]
        preferred = []
        for node, lifted in self.provenance.scatters.items():
            if lifted.scatter is None or lifted.refusal is not None:
                continue
            is_preferred = self._within(node, partial(self._is_preferred, lifted.scatter, first))
            if is_preferred is True:
                preferred.append(node)
        return preferred

    def _is_preferred(self, scatter: Scatter, first: Sequence[ScatterRule]) -> bool:
        by_rule = any(isinstance(self._asked(r, scatter), Plan) for r in first)
        return by_rule or self._is_less_alone(scatter)

    def _is_less_alone(self, scatter: Scatter) -> bool:
        """Return whether a write at computed positions takes fewer nodes alone than in its mosaic.

        If several such positions are cut out of one tensor, their order is computed too.
        """
        absorbed, (output,) = self.provenance.absorbed, scatter.node.outputs
        leaves = frozenset[Symbol]().union(*(t.leaves() for t in scatter.index_exprs))
        if scatter.data not in absorbed or not any(map(self.numbers.is_element, leaves)):
            return False
        whole, before = self.plan(output), self.plan(scatter.data)
        if isinstance(whole, Refusal) or isinstance(before, Refusal):
            return False
        asked = (self._asked(r, scatter) for r in self.scatter_rules if not r.accepts_invalid)
        alone = next((plan for plan in asked if isinstance(plan, Plan)), None)
        is_cut = not absorbed[scatter.data] <= absorbed[output]  # so the data are written anyway
        return alone is not None and alone.cost + (0 if is_cut else before.cost) < whole.cost

    def rewriting(self, node: ir.Node) -> Plan | Refusal | None:
        """Return the plan of a rule for a scatter that fills no boxes; None for any other node.

        If no rule has a plan, return the reason of the last rule that gave one, or None.
        """
        lifted = self.provenance.scatters.get(node)
        if lifted is None or lifted.scatter is None or lifted.refusal is None:
            return None
        if node in self.context.kept:
            return None
        return self._within(node, lambda: self._rewriting_for_runtime(lifted))

    def reading(self, node: ir.Node) -> Plan | Refusal:
        """Return the plan of a rule for a gather that reads no boxes."""
        return self._within(node, lambda: self._reading(node))

    def _reading(self, node: ir.Node) -> Plan | Refusal:
        has = not is_lacked(node, self.context.target)
        gather = attempt(partial(self.provenance.gather, node))
        if isinstance(gather, Refusal):
            return gather
        plan: Plan | Refusal = Refusal(Reason.NO_RULE)
        for rule in (r for r in self.gather_rules if not (has and r.searches)):
            plan = self._tried(rule, node, partial(rule.plan, gather, self._for_rules))
            if isinstance(plan, Plan):
                break
        return plan

    def _rewriting_for_runtime(self, lifted: Lifted) -> Plan | Refusal | None:
        """Return a plan that ONNX Runtime does not change; if there is none, any plan."""
        self._is_strict = True
        plan = self._rewriting(lifted)
        if isinstance(plan, Refusal) and lifted.node.outputs[0] in self.changed_by_runtime:
            self._is_strict = False
            plan = self._rewriting(lifted)
        return plan

    def _rewriting(self, lifted: Lifted) -> Plan | Refusal | None:
        assert lifted.scatter is not None
        assert lifted.refusal is not None
        invalid = lifted.refusal.reason in (Reason.INVALID, Reason.QUANTIZER)
        why: Refusal | None = None
        last = [r for r in self.scatter_rules if r.accepts_invalid]  # they write any scatter
        others = [r for r in self.scatter_rules if not r.accepts_invalid]
        stages = [
            (scatter, [r for r in others if r.searches is searches])
            for scatter in (() if invalid else lifted.interpretations)
            for searches in (False, True)
        ]
        for scatter, rules in [*stages, (lifted.scatter, last)]:
            for rule in rules:
                plan = self._asked(rule, scatter)
                if isinstance(plan, Plan):
                    return plan
                if plan.reason is not Reason.NO_RULE:
                    why = plan
            in_part = None if rules is last else self._in_part(scatter, rules)
            if in_part is not None:
                return in_part
        return why

    def _in_part(self, scatter: Scatter, rules: list[ScatterRule]) -> Plan | None:
        """Return the plan of a rule for a scatter on a box of its data, or None."""
        part = peel_to_box(scatter, self._for_rules)
        if part is None:
            return None
        asked = (self._asked(rule, part.inner, part) for rule in rules if not rule.has_priority)
        return next((plan for plan in asked if isinstance(plan, Plan)), None)

    def _asked(
        self, rule: ScatterRule, scatter: Scatter, part: SubBox | None = None
    ) -> Plan | Refusal:
        """Ask a rule about a scatter, which may be one on a ``part`` of its data."""
        context = self._for_rules if part is None else part.context

        def planned() -> Plan | Refusal:
            plan = rule.plan(scatter, context)
            return part.whole(plan) if part is not None and isinstance(plan, Plan) else plan

        return self._tried(rule, scatter.node, planned)

    def _tried(
        self, rule: Rule, node: ir.Node, planned: Callable[[], Plan | Refusal]
    ) -> Plan | Refusal:
        """Return the plan of a rule for a node, with what its nodes cost and read."""
        budget().charge_part(PRICES.rule)
        (output,) = node.outputs
        plan = attempt(lambda: self._narrowed(planned(), output))
        if isinstance(plan, Refusal):
            return plan
        nodes = self._judged(plan, output)
        if isinstance(nodes, Refusal):
            return nodes
        inputs = tuple(nodes.inputs)
        return replace(plan, cost=nodes.cost, inputs=inputs, rules=frozenset({rule}))

    def _narrowed(self, plan: Plan | Refusal, value: ir.Value) -> Plan | Refusal:
        """Return a plan for a value that writes its own element type, also if in a wider one."""
        if isinstance(plan, Refusal):
            return plan
        dtype, as_output = self.provenance.abstract(value).dtype, value.is_graph_output()
        write = self.writer.narrowed(plan.write, dtype or value.dtype, as_output=as_output)
        return replace(plan, write=write)

    def _judged(self, plan: Plan, value: ir.Value) -> Fragment | Refusal:
        """Return the nodes of a plan for a value, or why the plan is not written."""
        nodes = self.writer.fragment_of(plan.write, as_output=value.is_graph_output())
        if isinstance(nodes, Refusal):
            return nodes
        reason = objection(value, nodes, self.context.known) if self._quantized else None
        if reason is None:
            self.changed_by_runtime.pop(value, None)
            return nodes
        self.changed_by_runtime[value] = reason
        required = self.context.target.onnxruntime or self._is_strict
        return Refusal(Reason.QUANTIZER, reason) if required else nodes

    def shape_part(self, node: ir.Node) -> Sequence[Term] | None:
        """Return the elements of a Shape of a removable value, if one node writes them without it.

        They are read from another tensor, or are known numbers.
        """
        value, output = node.inputs[0], node.outputs[0]
        shape = None if value is None else self.provenance.abstract(value).shape
        if value not in self.provenance.absorbed or shape is None:
            return None
        part = self.provenance.abstract(output).vector()
        if output.is_graph_output() or part is None:
            return None
        write = partial(self.numbers.shape, part)
        nodes = self._within(node, lambda: self.writer.fragment_of(write))
        return part if not isinstance(nodes, Refusal) and nodes.cost <= 1 else None

"""Which values of a graph are written by new nodes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Self

import onnx_ir as ir

from onnx_scatterx.engine.device import Traffic
from onnx_scatterx.engine.lift import is_gather, is_scatter
from onnx_scatterx.engine.plan.exclusive import ExclusiveNodes, read_only_by
from onnx_scatterx.engine.plan.round import RewriteRound
from onnx_scatterx.engine.plan.rule import Plan
from onnx_scatterx.engine.terms import Term
from onnx_scatterx.graphs import is_operator, read_by
from onnx_scatterx.text import Reason, Refusal


class Selection(ABC):
    """What is written: values by plans, scatters by rules, and shapes that are read elsewhere.

    Nodes are visited from the last to the first, so all that demand a value are known when its
    producer is met. A value that is written demands its sources, any other value the inputs of its
    producer. ``refused`` are the scatters or gathers whose value has no plan.
    """

    def __init__(self, round_: RewriteRound) -> None:
        self.round = round_
        self.values: dict[ir.Value, Plan] = {}
        self.rewritings: dict[ir.Node, Plan] = {}
        self.shapes: dict[ir.Node, Sequence[Term]] = {}
        self.refused: dict[ir.Node, Refusal] = {}
        self.demanded = {v for v in round_.graph.outputs if v is not None}

    def made(self) -> Self:
        """Visit the nodes of the graph, and return the selection."""
        for node in reversed(list(self.round.graph)):
            wanted = [v for v in node.outputs if v in self.demanded]
            if wanted:
                self._visit(node, wanted)
        return self

    def _visit(self, node: ir.Node, wanted: Sequence[ir.Value]) -> None:
        """Decide on a node if some of its outputs are demanded."""
        shape = self.round.shape_part(node) if is_operator(node, ("Shape",)) else None
        if shape is not None:
            self.shapes[node] = shape
            return
        if self._is_rewritten(node):
            return
        absorbed = self.round.provenance.absorbed
        written = [v in absorbed and self._writes(v, self.round.plan(v), node) for v in wanted]
        if not all(written):
            self.demanded.update(read_by(node))

    def _is_rewritten(self, node: ir.Node) -> bool:
        """Return whether a rule writes the node as a whole."""
        return False

    @abstractmethod
    def _writes(self, value: ir.Value, plan: Plan | Refusal, node: ir.Node) -> bool:
        """Return whether a value that only moves elements is written by new nodes."""

    def _take(self, value: ir.Value, plan: Plan) -> bool:
        self.values[value] = plan
        mosaic = self.round.provenance.mosaic(value)
        assert mosaic is not None
        self.demanded.update(v for c in mosaic.cells for v in c.source.values())
        self.demanded.update(plan.inputs)
        return True

    def _cost_of_inputs(self, node: ir.Node, cost: Callable[[ir.Value], float]) -> float:
        """Return the cost of the inputs of a node that would be written for it alone."""
        absorbed = self.round.provenance.absorbed
        return sum(cost(v) for v in node.inputs if v in absorbed and v not in self.demanded)


class ScatterSelection(Selection):
    """Every scatter is to be removed. Moves of their results are replaced if that is cheaper.

    Those in ``split_before`` cannot be planned together with the earlier writes to their data (1),
    or to their updates either (2). If these or ``refused`` get a new node, the graph is planned
    again.
    """

    def __init__(self, round_: RewriteRound) -> None:
        super().__init__(round_)
        self.split_before: dict[ir.Node, int] = {}
        self.must_replan = False

    def _is_rewritten(self, node: ir.Node) -> bool:
        plan = self.round.rewriting(node)
        if isinstance(plan, Refusal):
            self.refused[node] = plan
        elif plan is not None:
            self.rewritings[node] = plan
            self.demanded.update(plan.inputs)
            return True
        return False

    def _writes(self, value: ir.Value, plan: Plan | Refusal, node: ir.Node) -> bool:
        if not isinstance(plan, Refusal):
            worth = is_scatter(node) or plan.weight <= self._cost_of_keeping(node)
            return worth and self._take(value, plan)
        if is_scatter(node):
            self.must_replan = True
            provenance = self.round.provenance
            if provenance.is_chained(node):
                self.split_before[node] = provenance.split_before.get(node, 0) + 1
            else:
                self.refused[node] = plan
        return False

    def _cost_of_keeping(self, node: ir.Node) -> float:
        """Return the cost of keeping a node that moves elements, and of writing its inputs."""
        round_, output = self.round, node.outputs[0]
        plan, mosaic = round_.plan(output), round_.provenance.mosaic(output)
        few = isinstance(plan, Plan) and mosaic is not None and plan.cost <= len(mosaic.cells) + 1
        if few and not is_gather(node):
            return math.inf  # a slice for each piece and a Concat: nothing is saved
        known = round_.provenance.abstract(output)
        shape = known.shape or ()
        dtype = known.dtype or ir.DataType.FLOAT

        def weight(value: ir.Value) -> float:
            plan = round_.plan(value)
            return plan.weight if isinstance(plan, Plan) else math.inf

        own = round_.context.costs.weigh(1, [Traffic.of(node.op_type, shape, len(shape))], dtype)
        return own + self._cost_of_inputs(node, weight)


class GatherSelection(Selection):
    """A gather is removed if that takes no more nodes; a move of its result, if it takes fewer.

    A gather that the target lacks is removed if there is any plan. Of the others, ``readable`` may
    be written by rules. ``unread`` says why no rule writes a gather.
    """

    def __init__(
        self,
        round_: RewriteRound,
        gathers: set[ir.Node],
        exclusive: ExclusiveNodes,
        lacking: Collection[ir.Node],
        readable: Collection[ir.Node],
    ) -> None:
        super().__init__(round_)
        self.gathers = gathers
        self.exclusive = exclusive
        self.unread: dict[ir.Node, Refusal] = {}
        self._lacking = lacking
        self._readable = readable

    def _is_rewritten(self, node: ir.Node) -> bool:
        if node not in self._readable:
            return False
        (value,) = node.outputs
        if value in self.round.provenance.absorbed and isinstance(self.round.plan(value), Plan):
            return False
        plan = self.round.reading(node)
        if isinstance(plan, Refusal):
            if node in self._lacking:
                self.unread[node] = plan
            return False
        gone = read_only_by(
            node.inputs[1:], {node}, self.round.graph, lambda v: v not in plan.inputs
        )
        saved = 1 + sum(n.op_type != "Constant" for n in gone)
        if node not in self._lacking and plan.cost > saved:
            self.unread[node] = _no_gain(plan)
            return False
        self.rewritings[node] = plan
        self.demanded.update(plan.inputs)
        return True

    def _writes(self, value: ir.Value, plan: Plan | Refusal, node: ir.Node) -> bool:
        is_gather = node in self.gathers
        most = self._cost_of_keeping(node, plan.inputs if isinstance(plan, Plan) else ())
        if node in self._lacking:
            most = math.inf
        if isinstance(plan, Plan) and (plan.cost <= most if is_gather else plan.cost < most):
            return self._take(value, plan)
        if is_gather:
            self.refused[node] = plan if isinstance(plan, Refusal) else _no_gain(plan)
        return False

    def _cost_of_keeping(self, node: ir.Node, inputs: Collection[ir.Value] = ()) -> float:
        """Return how many nodes it takes to keep a node, with those that only it needs.

        ``inputs`` are kept in any case.
        """
        cost = 1.0 + self._cost_of_inputs(node, self._cost_of_having)
        return cost + self.exclusive.saved(node, inputs) if node in self.gathers else cost

    def _cost_of_having(self, value: ir.Value) -> float:
        """Return how many nodes it takes to provide an input of a node that is kept."""
        producer, plan = value.producer(), self.round.plan(value)
        assert producer is not None
        kept = self._cost_of_keeping(producer)
        return min(plan.cost, kept) if isinstance(plan, Plan) else kept


def _no_gain(plan: Plan) -> Refusal:
    return Refusal(Reason.NO_GAIN, f"{plan.cost} nodes" if plan.cost > 1 else "")

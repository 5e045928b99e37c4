"""Which values of a graph are written anew.

Nodes are visited from the last to the first, so all that need a value are known when its producer
is met: a value that is written needs its sources, any other its inputs.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from onnx_scatterx.ir.cleanup import read_by
from onnx_scatterx.lift.gathers import is_gather
from onnx_scatterx.lift.scatters import is_scatter
from onnx_scatterx.lowering.attempt import RewriteRound
from onnx_scatterx.lowering.rule import Plan
from onnx_scatterx.symbolic.terms import Term
from onnx_scatterx.targets.cost_model.costs import Work
from onnx_scatterx.targets.cost_model.machine import KINDS
from onnx_scatterx.text.reasons import Reason, Refusal


class Selection:
    """What is written: values by plans, scatters by rules, and shapes that are read elsewhere.

    ``refused`` are the scatters for which rules or plans had a reason, ``staying`` the gathers that
    stay. Those ``apart`` cannot be written together with what was written to their data before. If
    ``is_open``, a scatter was found that must be kept or taken apart: all is to be planned again.
    """

    def __init__(self, attempt: RewriteRound) -> None:
        self.attempt = attempt
        self.values: dict[ir.Value, Plan] = {}
        self.rewritings: dict[ir.Node, Plan] = {}
        self.shapes: dict[ir.Node, Sequence[Term]] = {}
        self.refused: dict[ir.Node, Refusal] = {}
        self.apart: dict[ir.Node, None] = {}
        self.staying: dict[ir.Node, Refusal] = {}
        self._needed = {v for v in attempt.graph.outputs if v is not None}
        visited = [self._visit(n) for n in reversed(list(attempt.graph))]
        self.is_open = not all(visited)

    def _visit(self, node: ir.Node) -> bool:
        """Decide on the outputs of a node that are needed; False where that opens the choice."""
        wanted = [v for v in node.outputs if v in self._needed]
        if not wanted:
            return True
        part = self.attempt.shape_part(node) if node.op_type in ("Shape", "Size") else None
        if part is not None:
            self.shapes[node] = part
            return True
        found = self.attempt.rewriting(node)
        if isinstance(found, Refusal):
            self.refused[node] = found
        elif found is not None:
            self.rewritings[node] = found
            self._needed.update(found.reads)
            return True
        left = False
        for value in wanted:
            if value not in self.attempt.provenance.absorbed:
                left = True
                continue
            plan = self.attempt.plan(value)
            if is_scatter(node) and isinstance(plan, Refusal):
                if self.attempt.provenance.is_chained(node):
                    self.apart[node] = None
                else:
                    self.refused[node] = plan
                self._needed.update(read_by(node))
                return False
            left |= not self._takes(value, plan, node)
        if left:
            self._needed.update(read_by(node))
        return True

    def _takes(self, value: ir.Value, plan: Plan | Refusal, node: ir.Node) -> bool:
        """Write a value of a node that moves, if that is worth it."""
        if isinstance(plan, Refusal) or not self._is_worth(plan, node):
            if node in self.attempt.reads:
                self.staying[node] = _why_not(plan)
            return False
        self.values[value] = plan
        mosaic = self.attempt.provenance.mosaic(value)
        assert mosaic is not None
        self._needed.update(v for c in mosaic.cells for v in c.source.values())
        self._needed.update(plan.reads)
        return True

    def _is_worth(self, plan: Plan, node: ir.Node) -> bool:
        """Return whether an output of a node that moves is to be written by a plan.

        A scatter goes in any case. A gather goes where the plan is no more nodes than it is itself,
        what is only behind one where it is fewer.
        """
        if is_scatter(node):
            return True
        if self.attempt.is_reading(node.outputs[0]):
            most = self._cost_of_reading(node)
            return plan.cost <= most if node in self.attempt.reads else plan.cost < most
        return plan.weight <= self._cost_of_keeping(node)

    def _cost_of_reading(self, node: ir.Node) -> float:
        """Return how many nodes it is to leave one that reads, with what goes only if it goes."""
        passed = self.attempt.provenance.absorbed
        cost = 1.0 + sum(self._cost_of_having(v) for v in node.inputs if v in passed)
        if node in self.attempt.reads:
            cost += self.attempt.companions.saved(node)
        return cost

    def _cost_of_having(self, value: ir.Value) -> float:
        """Return how many nodes it takes to have an input of a node that reads, if that is left."""
        producer = value.producer()
        if value in self._needed or producer is None:
            return 0.0
        plan = self.attempt.plan(value)
        cost = plan.cost if isinstance(plan, Plan) else float("inf")
        if self.attempt.is_reading(value):
            cost = min(cost, self._cost_of_reading(producer))
        return cost

    def _cost_of_keeping(self, node: ir.Node) -> float:
        """Return what it costs to leave a node that moves, and write its inputs instead."""
        attempt, output = self.attempt, node.outputs[0]
        plan, mosaic = attempt.plan(output), attempt.provenance.mosaic(output)
        few = isinstance(plan, Plan) and mosaic is not None and plan.cost <= len(mosaic.cells) + 1
        if few and not is_gather(node):
            return float("inf")  # a slice for each piece and a Concat: nothing is saved
        known = attempt.provenance.abstract(output)
        shape = known.shape or ()
        kind = node.op_type if node.op_type in KINDS else "Elementwise"
        dtype = known.dtype or ir.DataType.FLOAT
        cost = attempt.task.costs.weigh(1, [Work(kind, shape, len(shape))], dtype)
        for value in node.inputs:
            if value is None or value not in attempt.provenance.absorbed or value in self._needed:
                continue
            plan = attempt.plan(value)
            cost += plan.weight if isinstance(plan, Plan) else float("inf")
        return cost


def _why_not(plan: Plan | Refusal) -> Refusal:
    """Return why a gather stays, given the plan that was not taken."""
    if isinstance(plan, Refusal):
        return plan
    return Refusal(Reason.NO_GAIN, f"{plan.cost} nodes" if plan.cost > 1 else "")

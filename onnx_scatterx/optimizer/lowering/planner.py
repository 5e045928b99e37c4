"""The cheapest plan for a region: every rule that can write the region is asked.

The cost of a plan is counted on a dry run. Only selected plans are written, so a refusal never
leaves a part of a plan in the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import onnx_ir as ir

from onnx_scatterx.optimizer.emit.terms import TermEmitter
from onnx_scatterx.optimizer.emit.writer import Writer
from onnx_scatterx.optimizer.lowering.region import Region
from onnx_scatterx.optimizer.lowering.rule import Plan, RegionRule, Rule
from onnx_scatterx.optimizer.mosaic.constants import Constants
from onnx_scatterx.optimizer.mosaic.existing_view import ExistingViews
from onnx_scatterx.optimizer.symbolic.budget import budget
from onnx_scatterx.optimizer.symbolic.prices import PRICES
from onnx_scatterx.optimizer.symbolic.prove import Facts
from onnx_scatterx.optimizer.symbolic.simplify import simplify
from onnx_scatterx.optimizer.symbolic.terms import Term
from onnx_scatterx.optimizer.targets.cost_model.costs import Costs, Work
from onnx_scatterx.text.reasons import Reason, Refusal, attempt, granted


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
            self._plans[region] = self._best(region)
        return self._plans[region]

    def require(self, region: Region) -> Plan:
        """Return the best plan for a part of a region, or refuse the whole."""
        return granted(self.best(region))

    def _best(self, region: Region) -> Plan | Refusal:
        plans: list[Plan] = []
        refusals: list[Refusal] = []
        for rule in self.rules:
            budget().work(PRICES.region_rule)
            found = attempt(partial(rule.plan, region, self))
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

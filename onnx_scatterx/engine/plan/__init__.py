"""Plans for one graph: rounds of plans, the selection among them, and the change of the graph.

Come here for the interface of a rule, for the cheapest plan of a region or a scatter, and for what
became of each scatter; not for the rules (these are in ``rewrites``, and what they import is
``engine.rules``), nor for the order of the passes (in ``pipeline``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.engine.plan.commit import REPLACES as REPLACES
    from onnx_scatterx.engine.plan.commit import NodeOutcome as NodeOutcome
    from onnx_scatterx.engine.plan.commit import Outcome as Outcome
    from onnx_scatterx.engine.plan.commit import work_text as work_text
    from onnx_scatterx.engine.plan.commit import written_nodes as written_nodes
    from onnx_scatterx.engine.plan.exclusive import ExclusiveNodes as ExclusiveNodes
    from onnx_scatterx.engine.plan.exclusive import read_only_by as read_only_by
    from onnx_scatterx.engine.plan.planner import GraphContext as GraphContext
    from onnx_scatterx.engine.plan.planner import Planner as Planner
    from onnx_scatterx.engine.plan.round import RewriteRound as RewriteRound
    from onnx_scatterx.engine.plan.rule import Context as Context
    from onnx_scatterx.engine.plan.rule import GatherRule as GatherRule
    from onnx_scatterx.engine.plan.rule import MultiplyAdds as MultiplyAdds
    from onnx_scatterx.engine.plan.rule import Plan as Plan
    from onnx_scatterx.engine.plan.rule import Region as Region
    from onnx_scatterx.engine.plan.rule import RegionRule as RegionRule
    from onnx_scatterx.engine.plan.rule import Rule as Rule
    from onnx_scatterx.engine.plan.rule import ScatterRule as ScatterRule
    from onnx_scatterx.engine.plan.rule import cheapest as cheapest
    from onnx_scatterx.engine.plan.selection import GatherSelection as GatherSelection
    from onnx_scatterx.engine.plan.selection import ScatterSelection as ScatterSelection
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "commit": "NodeOutcome Outcome REPLACES work_text written_nodes",
            "exclusive": "ExclusiveNodes read_only_by",
            "planner": "GraphContext Planner",
            "round": "RewriteRound",
            "rule": "Context GatherRule MultiplyAdds Plan Region RegionRule Rule ScatterRule "
            "cheapest",
            "selection": "GatherSelection ScatterSelection",
        },
    )

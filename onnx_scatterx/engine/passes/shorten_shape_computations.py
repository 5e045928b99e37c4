"""Shapes that were computed along with indices are computed from sizes, after index removal.

Exporters compute the shape of updates from the index tensor, so that its nodes outlive the scatter.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.shortened_shapes import shorten_shapes
from onnx_scatterx.engine.passes.step import Pass
from onnx_scatterx.engine.plan import GraphContext


def shorten_shape_computations(job: Job) -> bool:
    """Compute shapes from sizes that were computed along with the indices of removed scatters.

    If the user did not choose ``LowerScatters``, every computed shape is examined. A size that a
    promise tells is written in any graph.
    """
    alone = not job.is_chosen("LowerScatters")
    nodes_of = {outcome.graph: outcome.index_nodes for outcome in job.outcomes}
    if job.obstacle_to("ShortenShapeComputations", folds=True) is not None:
        return False
    counts = any(clause.is_count for clause in job.assumed)
    modified = False
    for context in list(job.contexts()):
        indices = set(context.graph) if alone else nodes_of.get(context.graph)
        if indices is not None or counts:
            modified |= _in_graph(job, context, indices or set())
    return modified


ShortenShapeComputations = Pass(shorten_shape_computations)


def _in_graph(job: Job, context: GraphContext, indices: set[ir.Node]) -> bool:
    def is_wanted(node: ir.Node) -> bool:
        return node in indices or _counts(node, context)

    return shorten_shapes(job, context, is_wanted)


def _counts(node: ir.Node, task: GraphContext) -> bool:
    """Return whether a node counts elements of which a promise tells the number."""
    is_known = node.op_type in ("NonZero", "ReduceSum") and node.domain == ""
    return is_known and task.scope.of(node.inputs[0]).chosen is not None

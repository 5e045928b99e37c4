"""Nodes beside quantizers that must keep two readers: past a sole reader, quantizers move.

    before   t = Add(a, b); y = QuantizeLinear(t); i = Range(0, Shape(t)[0]); z = ScatterND(x, i, u)
    after    t = Add(a, b); y = QuantizeLinear(t)               t is computed in integers, as y is

The scatter may be anywhere: a node loses a reader if that only computed indices or sizes.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.ir.graphs import all_graphs
from onnx_scatterx.optimizer.lowering.graph_context import GraphContext
from onnx_scatterx.optimizer.lowering.quantizer_paths import has_quantizers
from onnx_scatterx.optimizer.lowering.runtime_patterns import exposed
from onnx_scatterx.optimizer.symbolic.budget import LimitError, budget
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.optimizer.transforms.job import NUMBER, Job
from onnx_scatterx.text.reasons import FloatReason, Reason, Refusal


class SoleReaders:
    """The nodes of a model that have several readers, and quantizers in their graph."""

    def __init__(self, job: Job) -> None:
        graphs = all_graphs(job.model) if job.settings.target.onnxruntime else []
        self._shared = {
            node
            for graph in graphs
            if has_quantizers(graph)
            for node in graph
            if len(node.outputs) == 1 and len(node.outputs[0].uses()) > 1
        }

    @property
    def is_idle(self) -> bool:
        """Whether there are no such nodes."""
        return not self._shared

    def exposed(self, job: Job) -> dict[int, Refusal]:
        """Return the numbers of those that have one reader now, and what would be changed."""
        found = {}
        for context in job.contexts() if self._shared else ():
            for node in context.graph:
                if node in self._shared and len(node.outputs[0].uses()) == 1:
                    why = _exposed(node, context)
                    if why is not None:
                        found[node.meta[NUMBER]] = Refusal(Reason.QUANTIZER, why)
        return found


def _exposed(node: ir.Node, context: GraphContext) -> FloatReason | None:
    try:
        with budget().of_part(LIMITS.scatter_steps):
            return exposed(node, context.known)
    except LimitError:
        return FloatReason.LIMIT

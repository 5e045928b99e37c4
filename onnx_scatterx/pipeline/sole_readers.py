"""Nodes beside quantizers must not lose their other readers.

ONNX Runtime moves quantizers up past nodes with one reader. Some models load only because another
node reads the floats, too: a Shape, which is a constant if sizes are fixed, or a scatter, which is
now done on integers.

    before   t = Add(a, b); y = QuantizeLinear(t); i = Range(0, Shape(t)[0]); z = ScatterND(x, i, u)
    after    t = Add(a, b); y = QuantizeLinear(t)               t is computed in integers, as y is

The scatter may be anywhere: a node loses a reader if that only computed indices or sizes.
"""

from __future__ import annotations

from functools import partial

from onnx_scatterx.engine.budget import within_limits
from onnx_scatterx.engine.passes import NUMBER, Job
from onnx_scatterx.engine.quantizers import QUANTIZERS, exposed, has_quantizers
from onnx_scatterx.text import FloatReason, Reason, Refusal


class SoleReaders:
    """The nodes of a model that have several readers, and quantizers in their graph."""

    def __init__(self, job: Job) -> None:
        graphs = job.held.graphs.items() if job.settings.target.onnxruntime else ()
        self._shared = {
            node
            for graph, nodes in graphs
            if job.held.has(*QUANTIZERS) and has_quantizers(graph)
            for node in nodes
            if len(node.outputs) == 1 and len(node.outputs[0].uses()) > 1
        }

    def __bool__(self) -> bool:
        return bool(self._shared)

    def exposed(self, job: Job) -> dict[int, Refusal]:
        """Return the numbers of those that have one reader now, and what would be changed."""
        refused = {}
        for context in job.contexts() if self._shared else ():
            for node in context.graph:
                if node in self._shared and len(node.outputs[0].uses()) == 1:
                    asked = partial(exposed, node, context.known)
                    why = within_limits(asked, FloatReason.LIMIT)
                    if why is not None:
                        refused[node.meta[NUMBER]] = Refusal(Reason.QUANTIZER, why)
        return refused

"""Nodes beside quantizers: they keep two readers, or go above a DequantizeLinear.

    before   y = Transpose(DequantizeLinear(x, s, z))
    after    y = DequantizeLinear(Transpose(x), s, z)

Some such models load only because another node reads the floats, too: a Shape, which is a constant
if sizes are fixed, or a scatter, which is now done on integers.

    before   t = Add(a, b); y = QuantizeLinear(t); i = Range(0, Shape(t)[0]); z = ScatterND(x, i, u)
    after    t = Add(a, b); y = QuantizeLinear(t)               t is computed in integers, as y is

The scatter may be anywhere: a node loses a reader if that only computed indices or sizes.
"""

from __future__ import annotations

from functools import partial

import onnx_ir as ir

from onnx_scatterx.engine.budget.spending import within_limits
from onnx_scatterx.engine.lift.quantization import is_quantizer
from onnx_scatterx.engine.passes.integer_nodes import IntegerNodes
from onnx_scatterx.engine.passes.job import NUMBER, Job
from onnx_scatterx.engine.plan.neighbours import MOVED_PAST, has_quantizers
from onnx_scatterx.engine.plan.planner import GraphContext
from onnx_scatterx.engine.plan.runtime_patterns import exposed, is_rejected
from onnx_scatterx.graphs.cleanup import remove_dead
from onnx_scatterx.graphs.traversal import all_graphs
from onnx_scatterx.text.reasons import FloatReason, Reason, Refusal


def move_above_quantizers(job: Job) -> bool:
    """Move nodes above a DequantizeLinear of one scale.

    >>> model = ir.from_onnx_text('''<ir_version: 10, opset_import: ["" : 21]>
    ...     g (int8[2, 3] x) => (float[3, 2] y) <float s = {0.5}, int8 z = {3}> {
    ...         a = DequantizeLinear (x, s, z)
    ...         y = Transpose (a) }''')
    >>> move_above_quantizers(Job(model))
    True
    >>> [node.op_type for node in model.graph]
    ['Transpose', 'DequantizeLinear']
    """
    folded = job.settings.given["fix"] or job.settings.target.is_device
    wanted = folded or not job.looked_for_scatters
    if not wanted and not any(outcome.has_rules for outcome in job.outcomes):
        return False
    if not any(map(has_quantizers, all_graphs(job.model))) or job.obstacle is not None:
        return False
    made = [n for c in job.contexts() if has_quantizers(c.graph) for n in _in_graph(c)]
    job.analyses.note(made)
    return bool(made)


def _in_graph(context: GraphContext) -> list[ir.Node]:
    made: list[ir.Node] = []
    for node in list(context.graph):
        is_move = node.op_type in MOVED_PAST and node.domain == "" and len(node.outputs) == 1
        above = node.inputs[0].producer() if is_move and node.inputs[0] is not None else None
        if above is None or not is_quantizer(above, "DequantizeLinear"):
            continue
        output, integers = node.outputs[0], above.inputs[0]
        if integers is None or len(output.uses()) + output.is_graph_output() > 1:
            continue  # ONNX Runtime moves no quantizer past it
        if above.graph is context.graph and is_rejected(above, context.known):
            moved = IntegerNodes(context, context.scope.of(integers).dtype or ir.DataType.INT8)
            moved.move(node)
            moved.dequantize(output, above)
            remove_dead([node])
            made += moved.nodes
    return made


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

    def __bool__(self) -> bool:
        return bool(self._shared)

    def exposed(self, job: Job) -> dict[int, Refusal]:
        """Return the numbers of those that have one reader now, and what would be changed."""
        refused = {}
        for context in job.contexts() if self._shared else ():
            for node in context.graph:
                if node in self._shared and len(node.outputs[0].uses()) == 1:
                    given = partial(exposed, node, context.known)
                    why = within_limits(given, FloatReason.LIMIT)
                    if why is not None:
                        refused[node.meta[NUMBER]] = Refusal(Reason.QUANTIZER, why)
        return refused

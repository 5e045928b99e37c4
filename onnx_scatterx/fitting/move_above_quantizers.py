"""Nodes go above a DequantizeLinear that ONNX Runtime does not load before them.

before   y = Transpose(DequantizeLinear(x, s, z))
after    y = DequantizeLinear(Transpose(x), s, z)
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.passes import IntegerNodes, Job, Kind, Pass
from onnx_scatterx.engine.plan import GraphContext
from onnx_scatterx.engine.quantizers import MOVED_PAST, has_quantizers, is_quantizer, is_rejected
from onnx_scatterx.graphs import remove_dead


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
    folded = job.settings.options["fix"] or job.settings.target.is_device
    wanted = folded or not job.looked_for_scatters
    if not wanted and not any(outcome.has_rules for outcome in job.outcomes):
        return False
    if not any(map(has_quantizers, job.held.graphs)) or job.obstacle is not None:
        return False
    made = [n for c in job.contexts() if has_quantizers(c.graph) for n in _in_graph(c)]
    job.analyses.note(made)
    return bool(made)


MoveAboveQuantizers = Pass(
    move_above_quantizers, Kind.GUARD, lambda s: s.target.onnxruntime, ("DequantizeLinear",)
)


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

"""A write between DequantizeLinear and QuantizeLinear of one scale is done on the integers.

    before   d = ScatterND(DequantizeLinear(x, s, z), i, DequantizeLinear(u, s, z))
             y = QuantizeLinear(d, s, z)
    after    y = ScatterND(x, i, u)

If scales differ, every QuantizeLinear and DequantizeLinear is kept. A scatter of floats is then a
scatter of integers, which ``LowerScatters`` removes. A write is kept on the floats if its scatter
can be removed only there, because ONNX Runtime or the target lacks an operator for integers.
"""

from __future__ import annotations

from onnx_scatterx.ir.graphs import all_graphs
from onnx_scatterx.optimizer.lift.lift_scatter import is_scatter
from onnx_scatterx.optimizer.lift.quantization import QUANTIZED, QUANTIZERS, is_quantizer
from onnx_scatterx.optimizer.lowering.graph_context import GraphContext
from onnx_scatterx.optimizer.lowering.runtime_patterns import obstacle
from onnx_scatterx.optimizer.symbolic.budget import LimitError, budget
from onnx_scatterx.optimizer.transforms.base import Pass
from onnx_scatterx.optimizer.transforms.integer_nodes import IntegerNodes
from onnx_scatterx.optimizer.transforms.job import Job
from onnx_scatterx.optimizer.transforms.lower_scatters import kept_scatters
from onnx_scatterx.optimizer.transforms.quantized_writes import QuantizedWrite, quantized_writes
from onnx_scatterx.text.reasons import FloatReason


class WriteOnIntegers(Pass):
    """Moves writes between DequantizeLinear and QuantizeLinear to the integers.

    >>> import onnx_ir as ir
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (uint8[4, 2] x, uint8[1, 2] u) => (uint8[4, 2] y)
    ...     <float s = {0.5}, uint8 z = {3}, int64[1, 1] i = {1}> {
    ...         a = DequantizeLinear (x, s, z)
    ...         b = DequantizeLinear (u, s, z)
    ...         c = ScatterND (a, i, b)
    ...         y = QuantizeLinear (c, s, z) }''')
    >>> WriteOnIntegers()(model).modified
    True
    >>> [(node.op_type, [v.name for v in node.inputs]) for node in model.graph]
    [('ScatterND', ['x', 'i', 'u'])]
    """

    def run(self, job: Job) -> bool:
        nodes = [n for g in all_graphs(job.model) for n in g]
        quantized = any(is_quantizer(n, *QUANTIZERS) for n in nodes)
        if not quantized or not any(map(is_scatter, nodes)) or job.obstacle is not None:
            return False
        job.analysis.catch_up()
        modified = False
        for context in list(job.contexts()):
            if any(map(is_scatter, context.graph)):
                modified |= _in_graph(job, context)
        return modified


def _in_graph(job: Job, context: GraphContext) -> bool:
    """Do the writes of one graph on integers, if there are any."""
    writes, why = quantized_writes(context)
    try:
        better = _better_on_floats(job, context, writes)
    except (LimitError, RecursionError):
        writes, better = [], []  # they are kept on floats
    for node, reason in why.items():
        node.meta[QUANTIZED] = reason
    integers = {n for write in writes if write not in better for n in write.scatters}
    for node in context.graph:
        if is_scatter(node) and node not in integers:
            stays = obstacle(node, context.known)
            if stays is not None:
                node.meta[QUANTIZED] = stays
    done = False
    for write in writes:
        for node in write.scatters:
            on_floats = node.meta.get(QUANTIZED, FloatReason.PLAN)
            node.meta[QUANTIZED] = on_floats if write in better else write.dtype
        if write not in better:
            made = IntegerNodes(context, write)
            job.note_new(made.nodes)
            made.keep()
            done = True
    return done


def _better_on_floats(
    job: Job, context: GraphContext, writes: list[QuantizedWrite]
) -> list[QuantizedWrite]:
    """Return the writes whose scatter is removed on floats but not on integers."""
    if not writes:
        return []
    with budget().share(1 / 4):
        tried = []
        try:
            for write in writes:
                tried.append(IntegerNodes(context, write))
                job.note_new(tried[-1].nodes)
            job.analysis.catch_up()
            kept = kept_scatters(context)
        finally:
            for one in reversed(tried):
                one.undo()
        doubtful = [one for one in tried if not kept.isdisjoint(one.scatters.values())]
        of_floats = kept_scatters(context) if doubtful else set()
    return [
        one.write
        for one in doubtful
        if any(new in kept and old not in of_floats for old, new in one.scatters.items())
    ]

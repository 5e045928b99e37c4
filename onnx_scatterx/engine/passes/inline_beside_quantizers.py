"""Functions and known Ifs beside quantizers are inlined, whichever passes are chosen.

before   y = write(DequantizeLinear(x, s), u)             write(f, u) = ScatterND(f, i, u)
after    y = ScatterND(DequantizeLinear(x, s), i, u)
"""

from __future__ import annotations

from onnx_scatterx.engine.passes.function_calls import inline_functions
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.known_branches import take_known_branches
from onnx_scatterx.engine.passes.step import Kind, Pass
from onnx_scatterx.engine.quantizers import QUANTIZERS, has_quantizers


def inline_beside_quantizers(job: Job) -> bool:
    """Inline the functions and the known Ifs of a model with quantizers and scatters.

    ONNX Runtime inlines them, too. Then it moves quantizers past nodes that were in another graph.
    Whether that is right is known of the nodes of one graph alone.

    >>> import onnx_ir as ir
    >>> model = ir.from_onnx_text('''<ir_version: 10, opset_import: ["" : 18, "local" : 1]>
    ...     g (int8[4] x, float[2] u, float s) => (float[4] y) {
    ...         f = DequantizeLinear (x, s)
    ...         y = local.write (f, u) }
    ...     <domain: "local", opset_import: ["" : 18]> write (f, u) => (y) {
    ...         i = Constant <value = int64[2, 1] {0, 1}> ()
    ...         y = ScatterND (f, i, u) }''')
    >>> inline_beside_quantizers(Job(model))
    True
    >>> [node.op_type for node in model.graph]
    ['DequantizeLinear', 'Constant', 'ScatterND']
    """
    graphs = job.held.graphs
    if len(graphs) < 2 or not any(map(has_quantizers, graphs)) or not job.has_scatters:
        return False
    modified = inline_functions(job, lambda _: True)
    modified |= take_known_branches(job)
    if modified:
        job.analyses.forget()
    return modified


InlineBesideQuantizers = Pass(
    inline_beside_quantizers, Kind.GUARD, lambda s: s.target.onnxruntime, QUANTIZERS
)

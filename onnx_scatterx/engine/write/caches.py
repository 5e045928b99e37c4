"""Which inputs of a graph are caches: scatters update them, and the last update is an output.

keys_out = TensorScatter(keys, row, at)      {"keys": "keys_out"}
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.lift import is_scatter
from onnx_scatterx.engine.write.native.nodes import is_native


def caches_of(graph: ir.Graph) -> dict[str, str]:
    """Return the names of the inputs that scatters update, each with that of the last update.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     step (float[8, 2] cache, int64[1, 1] i, float[1, 2] y) => (float[8, 2] next)
    ...     { next = ScatterND(cache, i, y) }''')
    >>> caches_of(model.graph)
    {'cache': 'next'}
    """
    pairs: dict[str, str] = {}
    for value in graph.outputs:
        source = value
        while (node := source.producer()) is not None:
            if not (is_scatter(node) or is_native(node)):
                break
            (first, *_) = node.inputs
            if first is None:
                break
            source = first
        is_input = source.is_graph_input() and source.name not in graph.initializers
        if source is not value and is_input and source.name and value.name:
            pairs.setdefault(source.name, value.name)
    return pairs

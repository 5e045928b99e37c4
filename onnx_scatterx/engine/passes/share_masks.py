"""A mask that is computed twice is computed once.

    before   p = NonZero(Less(x, 0))    q = NonZero(Less(x, 0))
             y = ScatterND(x, Transpose(q), Mul(GatherND(x, Transpose(p)), c))
    after    the reader of q reads p

Exporters compute ``x < 0`` twice in ``x[x < 0] = c * x[x < 0]``, and count its true elements twice.
Only the nodes from which a NonZero is computed are compared.
"""

from __future__ import annotations

from collections.abc import Collection

import onnx_ir as ir

from onnx_scatterx.engine.lift import is_scatter
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.step import Pass
from onnx_scatterx.graphs import (
    all_graphs,
    constant,
    graphs_of,
    makers,
    overridable,
    reached,
    remove_dead,
    replace_uses,
)
from onnx_scatterx.operators import RANDOM

_SMALL = 64  # bytes of a constant that is compared


def share_masks(job: Job) -> bool:
    """Let the readers of a NonZero read an earlier one of the same mask.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[4] x) => (float[4] y) <float zero = {0}> {
    ...         a = Less (x, zero)  p = NonZero (a)  i = Transpose (p)  r = GatherND (x, i)
    ...         b = Less (x, zero)  q = NonZero (b)  j = Transpose (q)  u = Neg (r)
    ...         y = ScatterND (x, j, u) }''')
    >>> share_masks(Job(model))
    True
    >>> [node.op_type for node in model.graph]
    ['Less', 'NonZero', 'Transpose', 'GatherND', 'Transpose', 'Neg', 'ScatterND']
    """
    fixed = overridable(job.model)
    modified = False
    for graph in all_graphs(job.model):
        counted = [n for n in graph if n.op_type == "NonZero" and n.domain == ""]
        if len(counted) > 1 and any(map(is_scatter, graph)):
            modified |= _in_graph(graph, counted, fixed)
    if modified:
        job.analyses.forget()
    return modified


ShareMasks = Pass(share_masks, looks_for=("NonZero",))


def _in_graph(graph: ir.Graph, counted: list[ir.Node], fixed: Collection[ir.Value]) -> bool:
    """Merge equal nodes among those from which masks are counted, in linear time."""
    wanted = set(reached(counted, lambda n: [m for m in makers(n.inputs) if m.graph is graph]))
    first: dict[object, ir.Node] = {}
    gone = []
    for node in [n for n in graph if n in wanted]:
        key = _key(node, fixed)
        same = node if key is None else first.setdefault(key, node)
        if same is node or any(v.is_graph_output() for v in node.outputs):
            continue
        for value, twin in zip(node.outputs, same.outputs, strict=True):
            replace_uses(value, twin)
        gone.append(node)
    remove_dead(gone)
    return bool(gone)


def _key(node: ir.Node, fixed: Collection[ir.Value]) -> object:
    """Return what equal nodes have in common; None if a node is equal to no other."""
    if node.domain != "" or node.op_type in RANDOM | {"Constant"} or graphs_of(node):
        return None
    if any(a.is_ref() or a.type == ir.AttributeType.TENSOR for a in node.attributes.values()):
        return None
    attributes = frozenset((name, str(a.value)) for name, a in node.attributes.items())
    inputs = tuple(v if v is None else _content(v, fixed) for v in node.inputs)
    return node.op_type, attributes, inputs, len(node.outputs)


def _content(value: ir.Value, fixed: Collection[ir.Value]) -> object:
    """Return a value, or the content of a small constant."""
    tensor = constant(value, fixed)
    if tensor is None or tensor.dtype.is_string() or tensor.nbytes > _SMALL:
        return value
    return tensor.dtype, tuple(tensor.shape), tensor.tobytes()

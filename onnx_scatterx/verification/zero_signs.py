"""The outputs in which the sign of a zero may differ: those that a new Where of floats reaches.

ONNX Runtime's Where does not keep the sign of a zero that it selects. So if a masked write became a
Where, the model may return 0.0 instead of -0.0.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from onnx_scatterx.ir.data import ir_graphs


def outputs_of_new_where(before: ir.Model, after: ir.Model) -> frozenset[str]:
    """Return the outputs of ``after`` that a Where of floats reaches which ``before`` lacks.

    A Where is the same in both if its output has the same name. One of unknown type counts.
    """
    known = {v.name for g in ir_graphs(before) for n in g for v in n.outputs if _is_where(n)}
    new = {
        f.identifier() for f in after.functions.values() if any(_is_where(n) for n in f.all_nodes())
    }
    reached: set[ir.Value | None] = set()
    for node in after.graph:
        inner = list(_nodes(node))
        found = any(
            (_is_where(n) and n.outputs[0].name not in known) or n.op_identifier() in new
            for n in inner
        )
        if found or any(v in reached for n in inner for v in n.inputs):
            reached.update(node.outputs)
    return frozenset(v.name or "" for v in after.graph.outputs if v in reached)


def _is_where(node: ir.Node) -> bool:
    if node.op_type != "Where" or node.domain:
        return False
    dtype = node.outputs[0].dtype
    return dtype is None or dtype.is_floating_point()


def _nodes(node: ir.Node) -> Iterator[ir.Node]:
    """Yield a node and all that are in its subgraphs."""
    yield node
    for attribute in node.attributes.values():
        if attribute.type == ir.AttributeType.GRAPH:
            yield from attribute.as_graph().all_nodes()
        elif attribute.type == ir.AttributeType.GRAPHS:
            for graph in attribute.as_graphs():
                yield from graph.all_nodes()

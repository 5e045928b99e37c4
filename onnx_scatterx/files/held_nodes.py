"""The nodes of a message, and what they hold: attributes, tensors and subgraphs.

Lists of a message are copied by `[:]` in front of a loop: protobuf ends a loop over its own list by
an error, and the text of it takes longer than the loop.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import onnx

HEAVY = frozenset(
    {
        onnx.AttributeProto.UNDEFINED,
        onnx.AttributeProto.TENSOR,
        onnx.AttributeProto.TENSORS,
        onnx.AttributeProto.GRAPH,
        onnx.AttributeProto.GRAPHS,
    }
)
"""Types of attributes that may hold a tensor or a graph.

An attribute of another type holds none: `onnx.checker` refuses content that is not of the type.
"""

HEAVY_GRAPHS = frozenset({onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS})
"""Types of attributes that hold graphs."""


class HeldNode(NamedTuple):
    """A node of a graph, function or subgraph, which is its holder; and what the node holds."""

    node: onnx.NodeProto
    holder: onnx.GraphProto | onnx.FunctionProto
    in_function: bool
    attributes: Sequence[onnx.AttributeProto]
    bodies: Sequence[onnx.GraphProto]


def held_nodes(proto: onnx.ModelProto) -> list[HeldNode]:
    """Return the nodes of the graph, of the functions, and of all their subgraphs."""
    held: list[HeldNode] = []
    waiting: list[tuple[Any, bool]] = [(proto.graph, False), *((f, True) for f in proto.functions)]
    while waiting:
        holder, in_function = waiting.pop()
        for node in holder.node[:]:
            attributes = node.attribute[:]
            inner = bodies(node, attributes)
            held.append(HeldNode(node, holder, in_function, attributes, inner))
            waiting += [(body, in_function) for body in inner]
    return held


def bodies(
    node: onnx.NodeProto, attributes: Sequence[onnx.AttributeProto] | None = None
) -> Sequence[onnx.GraphProto]:
    """Return the subgraphs of a node, whose `attributes` may be at hand.

    For a standard operator without subgraphs, none are looked for: `onnx.checker` refuses them.
    """
    if node.domain == "" and not may_have_bodies(node.op_type):
        return ()
    found: list[onnx.GraphProto] = []
    for attribute in node.attribute[:] if attributes is None else attributes:
        if attribute.type in HEAVY:
            if attribute.HasField("g"):
                found.append(attribute.g)
            found += attribute.graphs[:]
    return found


@lru_cache(maxsize=1024)
def may_have_bodies(op: str) -> bool:
    """Return whether a node of the standard domain may have subgraphs; true if it is unknown."""
    if not onnx.defs.has(op):
        return True
    kinds = onnx.defs.OpSchema.AttrType
    attributes = onnx.defs.get_schema(op).attributes.values()
    return any(a.type in (kinds.GRAPH, kinds.GRAPHS) for a in attributes)

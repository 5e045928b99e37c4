"""ScatterX nodes: how they are created, and their descriptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import onnx_ir as ir

from onnx_scatterx.ir.graphs import DOMAIN, OPERATOR, is_scatterx_domain, nodes_within
from onnx_scatterx.optimizer.native.fallback import FallbackSpec

Picks = tuple[Sequence[int], Sequence[int], Sequence[int]]

_BODY = "onnx_scatterx.body"  # in a node's `meta`: the specification of its fallback


def make_node(
    inputs: Sequence[ir.Value],
    picks: Picks,
    reduction: str,
    unique: bool,
    body: FallbackSpec,
    dtype: ir.DataType,
    name: str,
    metadata: Mapping[str, str],
) -> ir.Node:
    """Create a node without a graph and without a fallback; all attributes are written."""
    attributes = [
        *(ir.AttrInt64s(n, list(pick)) for n, pick in zip(("p1", "p2", "p"), picks, strict=True)),
        ir.AttrString("reduction", reduction),
        ir.AttrInt64("unique", int(unique)),
    ]
    output = ir.Value(name=name, type=ir.TensorType(dtype))
    node = ir.Node(
        DOMAIN,
        OPERATOR,
        inputs,
        attributes,
        outputs=[output],
        name=name,
        metadata_props=dict(metadata),
    )
    node.meta[_BODY] = body
    return node


def picks_of(node: ir.Node) -> Picks:
    """Return (p1, p2, p)."""
    p1, p2, p = (tuple(node.attributes[n].as_ints()) for n in ("p1", "p2", "p"))
    return p1, p2, p


def is_native(node: ir.Node) -> bool:
    """Return whether a node is a ScatterX."""
    return node.op_type == OPERATOR and is_scatterx_domain(node.domain)


def new_nodes(graph: ir.Graph | ir.Function) -> Iterator[tuple[ir.Node, FallbackSpec]]:
    """Yield the nodes without a fallback, also in subgraphs, with their descriptions."""
    for node in nodes_within(graph.graph if isinstance(graph, ir.Function) else graph):
        body = node.meta.get(_BODY)
        if is_native(node) and isinstance(body, FallbackSpec):
            yield node, body


def body_of(node: ir.Node) -> FallbackSpec:
    """Return the description of a new node's fallback."""
    body = node.meta[_BODY]
    assert isinstance(body, FallbackSpec)
    return body


def describe(node: ir.Node, body: FallbackSpec) -> None:
    """Set the description of a node's fallback."""
    node.meta[_BODY] = body


def set_fallback(node: ir.Node, fallback: ir.Function) -> None:
    """Give a node its fallback."""
    node.domain = fallback.domain
    del node.meta[_BODY]

"""Transposes around a ScatterX fold into its picks.

    before   y = Transpose(ScatterX(Transpose(x, perm=a), f, Transpose(u, perm=c)), perm=b)
    after    y = Transpose(ScatterX(x, f, u), perm=a[b]), without the Transpose if it is the
    identity

The transposes of data and output are exact. The transpose of the updates changes their order. It is
exact if updates that collide keep their order. Such updates agree in the dims of p2, so it is
enough that the other dims keep their order.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.write.native.fallback import inverse
from onnx_scatterx.engine.write.native.nodes import new_nodes, picks_of, put_behind
from onnx_scatterx.graphs.cleanup import remove_dead, replace_uses
from onnx_scatterx.graphs.traversal import perm_of

Perm = tuple[int, ...]


def fold_transposes(graph: ir.Graph | ir.Function) -> None:
    """Fold all possible transposes in a graph and its subgraphs."""
    for node, _ in list(new_nodes(graph)):
        for fold in (_fold_data, _fold_updates):
            if node.graph is not None:  # it goes with the last of its readers
                fold(node)


def _fold_data(node: ir.Node) -> None:
    data, (output,) = node.inputs[0], node.outputs
    transposed = _transpose(data)
    readers = [use.node for use in output.uses()]
    if transposed is None or output.is_graph_output() or not readers:
        return
    transpose, perm = transposed
    perms = [perm_of(reader, len(perm)) for reader in readers]
    after = [tuple(perm[d] for d in b) for b in perms if b is not None]
    same, (_, _, p) = tuple(range(len(perm))), picks_of(node)
    all_here = len(after) == len(readers) and all(r.graph is node.graph for r in readers)
    if not all_here or same not in after or len(p) != len(perm):  # else it cannot run
        return
    # Axis j of x is axis a^-1[j] of its transpose.
    node.attributes["p"] = ir.AttrInt64s("p", [p[d] for d in inverse(perm)])
    node.replace_input_with(0, transpose.inputs[0])
    put_behind(node, data=perm)
    output.shape = None
    for reader, whole in zip(readers, after, strict=True):
        if whole != same or not _replace(reader, output):
            reader.attributes["perm"] = ir.AttrInt64s("perm", list(whole))
    remove_dead([transpose, *readers])


def _replace(reader: ir.Node, output: ir.Value) -> bool:
    """Replace the output of a Transpose by that of a ScatterX. It takes the name of a graph output.

    Returns whether that is possible: one value cannot have two names.
    """
    (old,) = reader.outputs
    if old.is_graph_output() and output.is_graph_output():
        return False
    if old.is_graph_output():
        replace_uses(old, output, keeps_name=True)
    else:
        old.replace_all_uses_with(output)
    return True


def _fold_updates(node: ir.Node) -> None:
    transposed = _transpose(node.inputs[2])
    if transposed is None:
        return
    transpose, perm = transposed
    p1, p2, _ = picks_of(node)
    if any(d >= len(perm) for d in (*p1, *p2)):  # it cannot run
        return
    ordered = [axis for d, axis in enumerate(perm) if d not in p2]
    if ordered != sorted(ordered):
        return
    node.attributes["p1"] = ir.AttrInt64s("p1", [perm[d] for d in p1])
    node.attributes["p2"] = ir.AttrInt64s("p2", [perm[d] for d in p2])
    node.replace_input_with(2, transpose.inputs[0])
    put_behind(node, updates=perm)
    remove_dead([transpose])


def _transpose(value: ir.Value | None) -> tuple[ir.Node, Perm] | None:
    """Return the Transpose that computes a value, with its perm, which must be written."""
    node = None if value is None else value.producer()
    perm = perm_of(node)
    return None if node is None or perm is None else (node, perm)

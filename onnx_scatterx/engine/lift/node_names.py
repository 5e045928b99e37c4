"""What the surrounding graph tells about scatters and gathers, before a rewriting changes it.

That is: their names and those of their inputs, and, if a scatter is between transposes, the axes of
the statement that it comes from. An exporter writes ``x[:, 1:3] = y`` as Transpose, ScatterND of
the first axis, Transpose. The second Transpose may be merged with later ones.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from onnx_scatterx.engine.lift.lifting import is_gather, is_scatter
from onnx_scatterx.graphs import Inventory, perm_of
from onnx_scatterx.operators import READS, SCATTERS


@dataclass(frozen=True)
class NodeNames:
    """A node's name, or its output's if it has none, and the names of inputs and output."""

    name: str
    inputs: tuple[str, ...]
    output: str
    axes: tuple[int, ...] | None = None
    """For each axis of a scatter's data, its number in the statement, if it differs."""

    @classmethod
    def of(cls, held: Inventory, *, reads: Collection[str] = READS) -> dict[ir.Node, NodeNames]:
        """Return the names of scatters, gathers and their inputs, which a rewriting may change.

        >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
        ...     g (float[4, 2] x, int64[1, 1] i, float[1, 4] y) => (float[4, 2] z) {
        ...     t = Transpose <perm = [1, 0]> (x)  s = ScatterND (t, i, y)
        ...     r = Identity (s)  z = Transpose <perm = [1, 0]> (r) }''')
        >>> [names.axes for names in NodeNames.of(Inventory(model)).values()]
        [(1, 0)]
        """
        return {
            n: cls(
                n.name or n.outputs[0].name or "?",
                tuple((v.name or "?") if v is not None else "" for v in n.inputs),
                n.outputs[0].name or "?",
                axes.get(n),
            )
            for nodes in held.graphs.values()
            for axes in [_axes_of_statements([n for n in nodes if n.op_type in _AROUND])]
            for n in nodes
            if is_scatter(n) or is_gather(n, reads)
        }


_AROUND = {*SCATTERS, "Identity", "Transpose"}


def _axes_of_statements(nodes: Sequence[ir.Node]) -> dict[ir.Node, tuple[int, ...]]:
    """Return how the data of scatters were transposed, if all readers of their outputs undo it.

    Of the nodes only scatters, Identities and Transposes matter. Scatters may write one after the
    other between the two Transposes.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[4, 2] x, int64[1, 1] i, float[1, 4] y) => (float[4, 2] z) {
    ...     t = Transpose <perm = [1, 0]> (x)  r = ScatterND (t, i, y)  s = ScatterND (r, i, y)
    ...     z = Transpose <perm = [1, 0]> (s) }''')
    >>> [(node.outputs[0].name, axes) for node, axes in _axes_of_statements(model.graph).items()]
    [('r', (1, 0)), ('s', (1, 0))]
    """
    transposed: dict[ir.Value | None, tuple[int, ...]] = {}
    for node in nodes:
        first = node.inputs[0] if node.inputs else None
        order = perm_of(node, None if first is None or first.shape is None else len(first.shape))
        if order is None and _writes_on(node):
            order = transposed.get(first)
        if order is not None:
            transposed[node.outputs[0]] = order
    undone: set[ir.Value] = set()
    for node in reversed(nodes):
        if _writes_on(node) and node.outputs[0] in transposed:
            output = node.outputs[0]
            readers = list(output.uses())
            if (
                readers
                and not output.is_graph_output()
                and all(
                    use.node.op_type == "Transpose"
                    or (use.idx == 0 and _writes_on(use.node) and use.node.outputs[0] in undone)
                    for use in readers
                )
            ):
                undone.add(output)
    return {
        node: transposed[node.outputs[0]]
        for node in nodes
        if is_scatter(node) and node.outputs[0] in undone
    }


def _writes_on(node: ir.Node) -> bool:
    """Whether the axes of the output are those of the first input: of a scatter's data."""
    return bool(node.inputs) and (is_scatter(node) or node.op_type == "Identity")

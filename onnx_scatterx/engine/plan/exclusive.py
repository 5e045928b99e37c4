"""The nodes that only some nodes need: they are removed together with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

import onnx_ir as ir

from onnx_scatterx.engine.mosaic.provenance import Provenance
from onnx_scatterx.graphs.traversal import read_by


class ExclusiveNodes:
    """For each gather, the nodes that only gathers of the same set read.

    They compute its indices, or move its data into the layout that it reads. A single number among
    the indices does not count, since the replacement may read it.
    """

    def __init__(self, graph: ir.Graph, provenance: Provenance, gathers: set[ir.Node]) -> None:
        self._provenance = provenance
        self._of_indices = {
            n: read_only_by(n.inputs[1:], gathers, graph, self._computes) for n in gathers
        }
        self._of_data = {
            n: read_only_by(n.inputs[:1], gathers, graph, self._moves) for n in gathers
        }
        both = (*self._of_indices.values(), *self._of_data.values())
        self._shares = Counter(n for nodes in both for n in nodes)

    def values(self) -> Iterator[ir.Value]:
        """Yield the values that are computed for indices."""
        for nodes in self._of_indices.values():
            for node in nodes:
                yield from node.outputs

    def saved(self, gather: ir.Node, inputs: Collection[ir.Value] = ()) -> float:
        """Return how many nodes are removed with a gather; one of several counts as a share.

        Nodes are kept if they compute values that the replacement reads (``inputs``).
        """
        read = {v.producer() for v in inputs}
        data = self._of_data[gather]
        removed = [n for n in self._of_indices[gather] if n.op_type != "Constant"]
        removed += data if read.isdisjoint(data) else ()
        return sum(1 / self._shares[n] for n in removed)

    def _computes(self, value: ir.Value) -> bool:
        return self._provenance.abstract(value).static_shape not in ((), (1,))

    def _moves(self, value: ir.Value) -> bool:
        mosaic = self._provenance.mosaic(value)
        return mosaic is not None and all(
            value not in cell.source.values() for cell in mosaic.cells
        )


def read_only_by(
    values: Sequence[ir.Value | None],
    of: Collection[ir.Node],
    graph: ir.Graph,
    counts: Callable[[ir.Value], bool] = lambda _: True,
) -> set[ir.Node]:
    """Return the nodes that compute values and that only these nodes need, as far as they count.

    The time is linear in the inputs of the nodes that are visited.
    """
    nodes: set[ir.Node] = set()
    others: dict[ir.Node, set[ir.Node]] = {}  # the nodes outside that need one
    stack: list[tuple[ir.Value | None, ir.Node | None]] = [(v, None) for v in values]
    while stack:
        value, reader = stack.pop()
        producer = None if value is None else value.producer()
        if value is None or producer is None or producer.graph is not graph or producer in nodes:
            continue
        if producer not in others:
            needing = {u.node for v in producer.outputs for u in v.uses()}
            others[producer] = needing.difference(of, nodes)
        elif reader is not None:
            others[producer].discard(reader)
        output = any(v.is_graph_output() for v in producer.outputs)
        if not output and not others[producer] and counts(value):
            nodes.add(producer)
            stack += [(v, producer) for v in read_by(producer)]
    return nodes

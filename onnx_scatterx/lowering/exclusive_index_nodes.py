"""What goes with a gather: the nodes that compute indices for gathers and for nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import onnx_ir as ir

from onnx_scatterx.ir.cleanup import read_by
from onnx_scatterx.mosaic.provenance import Provenance


class ExclusiveIndexNodes:
    """The nodes that would go with each of the gathers ``reads``.

    Single numbers do not count: what is written may read them.
    """

    def __init__(self, graph: ir.Graph, provenance: Provenance, reads: set[ir.Node]) -> None:
        self._of = {n: _indices_of(n, graph, provenance, reads) for n in reads}
        self._shares = Counter(n for nodes in self._of.values() for n in nodes)

    def values(self) -> Iterator[ir.Value]:
        """Yield what they compute."""
        for nodes in self._of.values():
            for node in nodes:
                yield from node.outputs

    def saved(self, gather: ir.Node) -> float:
        """Return how many nodes go with a gather; those of several are shared alike."""
        going = (n for n in self._of[gather] if n.op_type != "Constant")
        return sum(1 / self._shares[n] for n in going)


def _indices_of(
    gather: ir.Node, graph: ir.Graph, provenance: Provenance, reads: set[ir.Node]
) -> set[ir.Node]:
    found: set[ir.Node] = set()
    stack = [v for v in gather.inputs[1:] if v is not None]
    while stack:
        value = stack.pop()
        producer = value.producer()
        if producer is None or producer.graph is not graph or producer in found:
            continue
        scalar = provenance.abstract(value).static_shape in ((), (1,))
        readers = {u.node for v in producer.outputs for u in v.uses()}
        output = any(v.is_graph_output() for v in producer.outputs)
        if not scalar and not output and readers <= reads | found:
            found.add(producer)
            stack += [v for v in read_by(producer) if v not in stack]
    return found

"""The nodes around a node: those that only gathers need, and the quantizers behind moves.

What only gathers need is removed together with them. ONNX Runtime moves quantizers past nodes that
move elements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import onnx_ir as ir

from onnx_scatterx.engine.budget.budget import budget
from onnx_scatterx.engine.lift.quantization import QUANTIZERS, is_quantizer, operands_of
from onnx_scatterx.engine.mosaic.provenance import Provenance
from onnx_scatterx.graphs.traversal import reached, read_by


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


Steps = Mapping[ir.Value, tuple[str, Sequence[ir.Value | None]]]
"""Nodes that are written on trial: the operator and the inputs, by the output."""

MOVED_PAST = {"Identity", "MaxPool", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"}
"""ONNX Runtime moves quantizers past these operators. It removes Identity."""


def has_quantizers(graph: ir.Graph) -> bool:
    """Return whether a graph itself has quantizers."""
    return any(is_quantizer(node, *QUANTIZERS) for node in graph)


def quantizers_above(node: ir.Node) -> list[ir.Node]:
    """Return the DequantizeLinear whose floats a node moves, perhaps behind others that do."""
    return dequantizers([node.inputs[i] for i in operands_of(node)], {})


def quantizers_below(
    node: ir.Node, of: Callable[[ir.Node], bool] = lambda n: is_quantizer(n, "QuantizeLinear")
) -> list[ir.Node]:
    """Return the readers of what a node gives for which ``of`` is true, also behind moves of it."""
    quantizers = []

    def movers(here: ir.Node) -> Iterator[ir.Node]:
        budget().charge_part(1)
        for other in here.successors():
            if of(other):
                quantizers.append(other)
            elif operands_of(other):
                yield other

    for _ in reached([node], movers):
        pass
    return quantizers


def dequantizers(values: Sequence[ir.Value | None], steps: Steps) -> list[ir.Node]:
    """Return the quantizers whose floats may reach values, some of which are written on trial."""
    quantizers, seen, stack = [], set(values), list(values)
    while stack:
        value = stack.pop()
        budget().charge_part(1)
        node = None if value is None else value.producer()
        if value is not None and value in steps:
            near = list(steps[value][1])
        elif node is not None and is_quantizer(node, "DequantizeLinear"):
            quantizers.append(node)
            continue
        else:
            near = [] if node is None else [node.inputs[i] for i in operands_of(node)]
        stack += [v for v in near if v not in seen]
        seen.update(near)
    return quantizers


def before_moves(value: ir.Value, steps: Steps) -> tuple[str, Sequence[ir.Value | None]]:
    """Return the operator that stands before nodes past which quantizers move, and its inputs."""
    while True:
        budget().charge_part(1)
        node = value.producer()
        known = node is not None and (node.domain == "" or is_quantizer(node, *QUANTIZERS))
        op, inputs = (node.op_type, node.inputs) if node is not None and known else ("", ())
        op, inputs = steps.get(value, (op, inputs))
        first = inputs[0] if op in MOVED_PAST and inputs else None
        if first is None:
            return op, inputs
        value = first

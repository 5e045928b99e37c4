"""The piece of graph around a scatter or gather, before and after.

The piece before has the removed nodes that are connected, as they were wired. The piece after has
the new nodes, which compute the values that the rest of the model reads. Both end at the same
values, which are boxes, too. If a node is kept, its piece has the nodes that compute its indices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import onnx_ir as ir

from onnx_scatterx.ir.graphs import Wired, Wiring
from onnx_scatterx.optimizer.lift.lift_scatter import is_scatter
from onnx_scatterx.optimizer.reports.sketch import Excerpt, Sketch

_BEHIND = 12  # nodes that compute the indices of a kept node


class Excerpts:
    """The pieces of one model that was rewritten; ``wiring`` is how it was before."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring
        self._order = {node: i for i, node in enumerate(wiring.nodes)}
        self._regions: dict[ir.Node, tuple[ir.Node, ...]] = {}
        # By the first node of a region: a region of many nodes has many that ask.
        self._scatters: dict[ir.Node, int] = {}
        self._drawn: dict[ir.Node, tuple[Excerpt, Excerpt]] = {}

    def of(self, node: ir.Node) -> tuple[Excerpt | None, Excerpt | None]:
        """Return the piece of a node before and after; if the node is kept, the second is None."""
        if node not in self._wiring.nodes:
            return None, None
        if node.graph is not None:
            region = self._behind(node)
            return self._before(region, self._wiring.nodes[node].makes), None
        region = self._region(node)
        if region[0] not in self._drawn:
            ends = self._ends(region)
            after = self._after([now for _, now in ends])
            self._drawn[region[0]] = (
                self._before(region, dict.fromkeys(old for old, _ in ends)),
                Sketch(self._wiring).excerpt(after, list(dict.fromkeys(ends))),
            )
        return self._drawn[region[0]]

    def together(self, node: ir.Node) -> int:
        """Return how many other scatters went with this one."""
        if node.graph is not None or node not in self._wiring.nodes:
            return 0
        region = self._region(node)
        if region[0] not in self._scatters:
            self._scatters[region[0]] = sum(map(is_scatter, region))
        return self._scatters[region[0]] - is_scatter(node)

    def _region(self, node: ir.Node) -> tuple[ir.Node, ...]:
        """Return the nodes that are gone and hang together with this one, in the graph's order."""
        if node not in self._regions:
            found, waiting = {node}, [node]
            while waiting:
                wired = self._wiring.nodes[waiting.pop()]
                makers = (self._wiring.makers.get(v) for v in wired.inputs if v is not None)
                readers = (r for v in wired.makes for r in self._wiring.readers.get(v, ()))
                for n in (*makers, *readers):
                    if n is not None and n.graph is None and n not in found:
                        found.add(n)
                        waiting.append(n)
            region = tuple(sorted(found, key=self._order.__getitem__))
            self._regions.update(dict.fromkeys(region, region))
        return self._regions.get(node, (node,))

    def _behind(self, node: ir.Node) -> tuple[ir.Node, ...]:
        """Return a kept node and the nearest of the nodes that compute its indices."""
        place = 2 if node.op_type == "TensorScatter" else 1
        inputs = self._wiring.nodes[node].inputs
        found, waiting = {node: None}, list(inputs[place : place + 1])
        while waiting and len(found) <= _BEHIND:
            value = waiting.pop(0)
            maker = None if value is None else self._wiring.makers.get(value)
            if maker is not None and maker not in found:
                found[maker] = None
                waiting += self._wiring.nodes[maker].inputs
        return tuple(found)

    def _ends(self, region: Sequence[ir.Node]) -> list[tuple[ir.Value, ir.Value]]:
        """Return the values of a region that other nodes read, each with its new value."""
        gone = set(region)
        made = {v for n in region for v in self._wiring.nodes[n].makes}
        found = []
        read: dict[ir.Node, dict[ir.Value, list[ir.Value]]] = {}  # each reader is looked at once
        for value in (v for n in region for v in self._wiring.nodes[n].makes):
            for reader in dict.fromkeys(self._wiring.readers.get(value, ())):
                if reader in gone or reader.graph is None:
                    continue
                if reader not in read:
                    read[reader] = {}
                    then = self._wiring.nodes[reader].inputs
                    for old, now in zip(then, reader.inputs, strict=False):
                        if old in made and now is not None:
                            read[reader].setdefault(old, []).append(now)
                found += [(value, now) for now in dict.fromkeys(read[reader].get(value, ()))]
        for graph, outputs in self._wiring.outputs.items():
            if made.intersection(outputs):
                ends = zip(outputs, graph.outputs, strict=False)
                found += [(old, now) for old, now in ends if old in made]
        return found

    def _before(self, region: Sequence[ir.Node], ends: Iterable[ir.Value]) -> Excerpt:
        nodes = [self._wiring.nodes[n] for n in region]
        return Sketch(self._wiring).excerpt(nodes, [(v, v) for v in ends])

    def _after(self, ends: Iterable[ir.Value]) -> list[Wired]:
        """Return the new nodes that make some values, those last that nothing new reads."""
        found: dict[ir.Node, None] = {}
        waiting = [v.producer() for v in ends]
        while waiting:
            node = waiting.pop(0)
            if node is not None and node not in self._wiring.nodes and node not in found:
                found[node] = None
                waiting += [v.producer() for v in node.inputs if v is not None]
        return [
            Wired(n.op_type, n.name or n.outputs[0].name or "", tuple(n.inputs), tuple(n.outputs))
            for n in reversed(found)
        ]

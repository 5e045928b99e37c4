"""The piece of graph around a scatter or gather, before and after, as boxes and arrows.

Constants are left out, unless they are data, or a scatter reads them. If there are more than 30
nodes, those that only compute indices become one box. If there are still more than 30, all nodes
become one box.

The piece before has the removed nodes that are connected, as they were wired. The piece after has
the new nodes, which compute the values that the rest of the model reads. Both end at the same
values, which are boxes, too. If a node is kept, its piece has the nodes that compute its indices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from typing import Literal, NamedTuple

import onnx_ir as ir

from onnx_scatterx.engine.lift import is_scatter
from onnx_scatterx.engine.passes import Wired, Wiring
from onnx_scatterx.graphs import makers, reached
from onnx_scatterx.grouping import grouped
from onnx_scatterx.operators import SCATTERS

MOST_NODES = 30  # that are shown one by one
_MOST_BOXES = 90  # of nodes and values
_ENDS = 8  # values on each side of a piece that is one box
_ALWAYS_SHOWN = {*SCATTERS, "ScatterX"}

Kind = Literal["node", "scatter", "value", "constant", "result", "many"]


class Box(NamedTuple):
    """A node (its operator and its name), a value at an end of the piece, or nodes as one."""

    kind: Kind
    op: str
    name: str


@dataclass(frozen=True)
class Excerpt:
    """A piece of a graph: boxes, arrows from box to box, and how many nodes of each operator."""

    boxes: tuple[Box, ...] = ()
    arrows: tuple[tuple[int, int], ...] = ()
    operators: tuple[tuple[str, int], ...] = ()

    @property
    def nodes(self) -> int:
        """How many nodes there are, constants not counted."""
        return sum(count for _, count in self.operators)


@dataclass
class Sketch:
    """Collects boxes and arrows; ``wiring`` is that before, which new values are not in."""

    wiring: Wiring
    boxes: list[Box] = field(default_factory=list)
    arrows: dict[tuple[int, int], None] = field(default_factory=dict)

    def excerpt(self, nodes: Sequence[Wired], ends: Sequence[tuple[ir.Value, ir.Value]]) -> Excerpt:
        """Return nodes with the values at their ends: pairs of a result's old and present value."""
        shown = [n for n in nodes if n.op != "Constant"]
        operators = Counter(n.op for n in shown)
        box_of: dict[ir.Value, int] = {}
        single, folded = shown, list[Wired]()
        if len(shown) > MOST_NODES:
            single, folded = _without_indices(shown, [now for _, now in ends])
        if len(single) > MOST_NODES:
            self._as_one(shown, nodes, ends)
        else:
            for n in single:
                kind: Kind = "scatter" if n.op in _ALWAYS_SHOWN else "node"
                box_of.update(dict.fromkeys(n.makes, self._box(kind, n.op, n.name)))
            if folded:
                middle = self._box("many", f"{len(folded)} nodes", "for the indices")
                box_of.update((v, middle) for n in folded for v in n.makes)
            for reader, n in [*enumerate(single), *((len(single), n) for n in folded)]:
                for i, value in enumerate(n.inputs):
                    if value is None:
                        continue
                    if value not in box_of:
                        constant = self._is_constant(value)
                        is_folded = reader == len(single)
                        if constant and (is_folded or (i > 0 and n.op not in _ALWAYS_SHOWN)):
                            continue
                        kind = "constant" if constant else "value"
                        box_of[value] = self._box(kind, "", self._name(value))
                    if box_of[value] != reader:
                        self.arrows[box_of[value], reader] = None
            for old, value in ends:
                if value not in box_of:  # it is read as it was
                    box_of[value] = self._box("value", "", self._name(value))
                result = self._box("result", "", self._name(old))
                self.arrows[box_of[value], result] = None
            # There is a cycle if an index depends on the result of another scatter.
            if len(self.boxes) > _MOST_BOXES or (folded and self._has_cycle()):
                self.boxes, self.arrows = [], {}
                self._as_one(shown, nodes, ends)
        return Excerpt(tuple(self.boxes), tuple(self.arrows), tuple(sorted(operators.items())))

    def _as_one(
        self,
        shown: Sequence[Wired],
        nodes: Sequence[Wired],
        ends: Sequence[tuple[ir.Value, ir.Value]],
    ) -> None:
        made = {v for n in nodes for v in n.makes}
        read = dict.fromkeys(v for n in shown for v in n.inputs if v is not None and v not in made)
        scatters = dict.fromkeys(n.op for n in shown if n.op in _ALWAYS_SHOWN)
        middle = self._box("many", f"{len(shown)} nodes", ", ".join(scatters))
        for label in _some([self._name(v) for v in read if not self._is_constant(v)]):
            self.arrows[self._box("value", "", label), middle] = None
        for label in _some(list(dict.fromkeys(self._name(old) for old, _ in ends))):
            self.arrows[middle, self._box("result", "", label)] = None

    def _has_cycle(self) -> bool:
        try:
            TopologicalSorter(grouped((end, start) for start, end in self.arrows)).prepare()
        except CycleError:
            return True
        return False

    def _box(self, kind: Kind, op: str, name: str) -> int:
        self.boxes.append(Box(kind, op, name))
        return len(self.boxes) - 1

    def _name(self, value: ir.Value) -> str:
        return self.wiring.names.get(value) or value.name or "?"

    def _is_constant(self, value: ir.Value) -> bool:
        maker = value.producer()
        if value in self.wiring.constants or (maker is not None and maker.op_type == "Constant"):
            return True
        is_new = value not in self.wiring.names
        return is_new and value.is_initializer() and not value.is_graph_input()


def _without_indices(
    nodes: Sequence[Wired], results: Iterable[ir.Value]
) -> tuple[list[Wired], list[Wired]]:
    """Return the nodes that make some values, and those that only make indices for them."""
    made = {v: n for n in nodes for v in n.makes}

    def before(value: ir.Value) -> list[ir.Value]:
        node = made[value]
        index_input = {"TensorScatter": 2}.get(node.op, 1) if node.op in _ALWAYS_SHOWN else None
        return [v for i, v in enumerate(node.inputs) if v in made and i != index_input]

    data = set(reached((v for v in results if v in made), before))
    parted: tuple[list[Wired], list[Wired]] = ([], [])
    for n in nodes:
        parted[data.isdisjoint(n.makes)].append(n)
    return parted


def _some(names: list[str]) -> list[str]:
    rest = len(names) - _ENDS
    return names if rest <= 0 else [*names[:_ENDS], f"and {rest} more"]


_BEHIND = 12  # nodes that compute the indices of a kept node


class _Gone(NamedTuple):
    """Nodes that are gone and hang together, before and after, and how many are scatters."""

    before: Excerpt
    after: Excerpt
    scatters: int


class Excerpts:
    """The pieces of one model that was rewritten; ``wiring`` is how it was before."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring
        self._order = {node: i for i, node in enumerate(wiring.nodes)}
        self._regions: dict[ir.Node, _Gone] = {}
        self._read: dict[ir.Node, dict[ir.Value, list[ir.Value]]] = {}

    def of(self, node: ir.Node) -> tuple[Excerpt | None, Excerpt | None, int]:
        """Return the piece of a node before and after, and how many other scatters went with it.

        If the node is kept, the second is None.
        """
        if node not in self._wiring.nodes:
            return None, None, 0
        if node.graph is not None:
            region = self._behind(node)
            return self._before(region, self._wiring.nodes[node].makes), None, 0
        gone = self._region(node)
        return gone.before, gone.after, gone.scatters - is_scatter(node)

    def _region(self, node: ir.Node) -> _Gone:
        """Return the nodes that are gone and hang together with this one, in the graph's order."""
        if node not in self._regions:  # a region of many nodes has many that ask
            nodes = sorted(reached([node], self._gone_beside), key=self._order.__getitem__)
            ends = list(dict.fromkeys(self._ends(nodes)))
            before = self._before(nodes, dict.fromkeys(old for old, _ in ends))
            after = Sketch(self._wiring).excerpt(self._after([now for _, now in ends]), ends)
            region = _Gone(before, after, sum(map(is_scatter, nodes)))
            self._regions.update(dict.fromkeys(nodes, region))
        return self._regions[node]

    def _makers(self, values: Iterable[ir.Value | None]) -> list[ir.Node]:
        """Return the nodes that made some values."""
        makers = self._wiring.makers
        return [makers[v] for v in values if v is not None and v in makers]

    def _gone_beside(self, node: ir.Node) -> list[ir.Node]:
        """Return the nodes that are gone of those that made the inputs or read the outputs."""
        wired = self._wiring.nodes[node]
        readers = (r for v in wired.makes for r in self._wiring.readers.get(v, ()))
        return [n for n in (*self._makers(wired.inputs), *readers) if n.graph is None]

    def _behind(self, node: ir.Node) -> tuple[ir.Node, ...]:
        """Return a kept node and the nearest of the nodes that compute its indices."""
        index_input = 2 if node.op_type == "TensorScatter" else 1

        def before(here: ir.Node) -> list[ir.Node]:
            inputs = self._wiring.nodes[here].inputs
            return self._makers(inputs[index_input : index_input + 1] if here is node else inputs)

        return tuple(islice(reached([node], before), _BEHIND + 1))

    def _ends(self, region: Sequence[ir.Node]) -> list[tuple[ir.Value, ir.Value]]:
        """Return the values of a region that other nodes read, each with its new value."""
        gone = set(region)
        made = {v for n in region for v in self._wiring.nodes[n].makes}
        pairs = []
        for value in (v for n in region for v in self._wiring.nodes[n].makes):
            for reader in dict.fromkeys(self._wiring.readers.get(value, ())):
                if reader not in gone and reader.graph is not None:
                    pairs += [(value, now) for now in self._read_now(reader).get(value, ())]
        for graph, outputs in self._wiring.outputs.items():
            if made.intersection(outputs):
                ends = zip(outputs, graph.outputs, strict=False)
                pairs += [(old, now) for old, now in ends if old in made]
        return pairs

    def _read_now(self, reader: ir.Node) -> dict[ir.Value, list[ir.Value]]:
        """Return what a node reads in place of each value that it read before."""
        if reader not in self._read:  # once: a Concat may read all regions
            read_now = self._read[reader] = {}
            then = self._wiring.nodes[reader].inputs
            for old, now in zip(then, reader.inputs, strict=False):
                if old is not None and now is not None and now not in read_now.get(old, ()):
                    read_now.setdefault(old, []).append(now)
        return self._read[reader]

    def _before(self, region: Sequence[ir.Node], ends: Iterable[ir.Value]) -> Excerpt:
        nodes = [self._wiring.nodes[n] for n in region]
        return Sketch(self._wiring).excerpt(nodes, [(v, v) for v in ends])

    def _after(self, ends: Iterable[ir.Value]) -> list[Wired]:
        """Return the new nodes that make some values, those last that nothing new reads."""

        def new(values: Iterable[ir.Value | None]) -> list[ir.Node]:
            return [node for node in makers(values) if node not in self._wiring.nodes]

        nodes = [*reached(new(ends), lambda node: new(node.inputs))]
        return [Wired.of(node) for node in nodes[::-1]]

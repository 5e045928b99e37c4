"""The pieces of graph around scatters and gathers, before and after.

The piece before has the removed nodes that are connected, as they were wired. The piece after has
the new nodes, which compute the values that the rest of the model reads. Both end at the same
values, which are boxes, too. If a piece is too large, it has the surroundings of the node alone,
and the other nodes are counted. If a node is kept, its piece has the nodes that compute its
indices.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

import onnx_ir as ir

from onnx_scatterx.engine.lift import is_scatter
from onnx_scatterx.engine.passes import Wired, Wiring
from onnx_scatterx.graphs import makers, reached
from onnx_scatterx.tell.sketch import Excerpt, Rest, Sketch

H = TypeVar("H", bound=Hashable)

_STEPS, _NEAR = 2, 12  # from a node to what is drawn around it, and how many nodes are drawn
_FOLLOWED = 1000  # nodes behind a scatter, of which some make values that are read now
_RESULTS = 8  # such values: the new nodes around one of them are drawn
_BEHIND = 12  # nodes that compute the indices of a kept node


class _Gone(NamedTuple):
    """Nodes that are gone and hang together, before and after, and how many are scatters.

    ``ends`` are the values that others read of them, each with its present value, and ``new`` the
    nodes that compute these now.
    """

    before: Excerpt
    after: Excerpt
    scatters: int
    ends: Sequence[tuple[ir.Value, ir.Value]]
    new: Collection[ir.Node]


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
        before, after = gone.before, gone.after
        if not before.drawn:
            before = self._around(node, gone)
        if after.nodes and not after.drawn:
            after = self._around_result(node, gone)
        return before, after, gone.scatters - is_scatter(node)

    def _region(self, node: ir.Node) -> _Gone:
        """Return the nodes that are gone and hang together with this one, in the graph's order."""
        if node not in self._regions:  # a region of many nodes has many that ask
            nodes = sorted(reached([node], self._gone_beside), key=self._order.__getitem__)
            ends = list(dict.fromkeys(self._ends(nodes)))
            before = self._before(nodes, dict.fromkeys(old for old, _ in ends))
            new = self._new([now for _, now in ends])
            after = Sketch(self._wiring).excerpt([Wired.of(n) for n in new], ends)
            count = sum(map(is_scatter, nodes))
            region = _Gone(before, after, count, ends, dict.fromkeys(new))
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

    def _new(self, ends: Iterable[ir.Value]) -> list[ir.Node]:
        """Return the new nodes that make some values, those last that nothing new reads."""

        def new(values: Iterable[ir.Value | None]) -> list[ir.Node]:
            return [node for node in makers(values) if node not in self._wiring.nodes]

        return [*reached(new(ends), lambda node: new(node.inputs))][::-1]

    def _around(self, node: ir.Node, gone: _Gone) -> Excerpt:
        """Return the surroundings of a node among those that are gone with it."""
        wired = self._wiring.nodes

        def beside(here: ir.Node) -> list[ir.Node]:
            return [n for n in self._gone_beside(here) if wired[n].op != "Constant"]

        near = sorted(nearest(node, beside), key=self._order.__getitem__)
        made, read = dict[ir.Value, str](), dict[ir.Value, list[str]]()
        for n in near:
            for value in filter(None, wired[n].inputs):
                maker = self._wiring.makers.get(value)
                if maker is not None and maker.graph is None and maker not in near:
                    made[value] = wired[maker].op
            for value in wired[n].makes:
                others = [r for r in self._wiring.readers.get(value, ()) if r.graph is None]
                if left := [wired[r].op for r in dict.fromkeys(others) if r not in near]:
                    read[value] = left
        return self._part([wired[n] for n in near], gone.before, gone, made, read, is_old=True)

    def _around_result(self, node: ir.Node, gone: _Gone) -> Excerpt:
        """Return the surroundings of a new node that makes what is read of a node's result."""
        now = dict(reversed(gone.ends))
        readers = islice(reached([node], self._gone_readers), _FOLLOWED)
        made_here = (v for n in readers for v in self._wiring.nodes[n].makes)
        ends = islice((now[v].producer() for v in made_here if v in now), _RESULTS)
        starts = [start for start in dict.fromkeys(ends) if start is not None and start in gone.new]
        if not starts:
            return gone.after

        def beside(n: ir.Node) -> list[ir.Node]:
            uses = (use.node for value in n.outputs for use in value.uses())
            others = (n for n in (*makers(n.inputs), *uses) if n in gone.new)
            return [n for n in others if n.op_type != "Constant"]

        around = max((nearest(start, beside) for start in starts), key=len)
        near = [n for n in gone.new if n in around]
        made = {
            v: m.op_type
            for v in (v for n in near for v in n.inputs if v is not None)
            if (m := v.producer()) in gone.new and m is not None and m not in near
        }
        read: dict[ir.Value, list[str]] = {}
        for value in (v for n in near for v in n.outputs):
            users = dict.fromkeys(use.node for use in value.uses())
            if left := [u.op_type for u in users if u in gone.new and u not in near]:
                read[value] = left
        return self._part([Wired.of(n) for n in near], gone.after, gone, made, read, is_old=False)

    def _gone_readers(self, node: ir.Node) -> list[ir.Node]:
        makes = self._wiring.nodes[node].makes
        return [r for v in makes for r in self._wiring.readers.get(v, ()) if r.graph is None]

    def _part(
        self,
        near: Sequence[Wired],
        whole: Excerpt,
        gone: _Gone,
        made: Mapping[ir.Value, str],
        read: Mapping[ir.Value, Sequence[str]],
        *,
        is_old: bool,
    ) -> Excerpt:
        """Return a part of a piece; if it cannot be drawn, the ``whole`` as one box."""
        here = {v for n in near for v in n.makes}
        pairs = [(old, old if is_old else now) for old, now in gone.ends]
        ends = [*dict.fromkeys((old, value) for old, value in pairs if value in here)]
        made = {value: op for value, op in made.items() if op != "Constant"}
        rest = Rest(dict(whole.operators), made, read)
        part = Sketch(self._wiring).excerpt(near, ends, rest)
        return part if part.drawn else whole


def nearest(start: H, beside: Callable[[H], Iterable[H]]) -> list[H]:
    """Return what is at most two steps from a start, the nearest first, and not more than 12.

    >>> nearest(5, lambda n: [n - 1, n + 1])
    [5, 4, 6, 3, 7]
    """
    found, last = {start: None}, [start]
    for _ in range(_STEPS):
        last = [n for here in last for n in dict.fromkeys(beside(here)) if n not in found]
        found.update(dict.fromkeys(last))
    return list(found)[:_NEAR]

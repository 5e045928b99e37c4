"""A piece of a graph as boxes and arrows.

Constants are left out, unless they are data, or a scatter reads them. If there are more than 20
nodes, those that only compute indices become one box. If there are still more than 20, all nodes
become one box, unless only a part of them is to be drawn. Then the part has a dashed box for each
node beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Literal, NamedTuple

import onnx_ir as ir

from onnx_scatterx.engine.passes import Wired, Wiring
from onnx_scatterx.graphs import reached
from onnx_scatterx.grouping import grouped
from onnx_scatterx.operators import SCATTERS

MOST_NODES = 20  # that are shown one by one
_MOST_BOXES = 90  # of nodes and values
_ENDS = 8  # values on each side of a piece that is one box, and of a node
_ALWAYS_SHOWN = {*SCATTERS, "ScatterX"}

Kind = Literal["node", "scatter", "value", "constant", "result", "many"]


class Box(NamedTuple):
    """A node (its operator and its name), a value at an end of the piece, or nodes as one."""

    kind: Kind
    op: str
    name: str


@dataclass(frozen=True)
class Excerpt:
    """A piece of a graph: boxes, arrows from box to box, and how many nodes of each operator.

    ``drawn`` is how many of the nodes have a box of their own, or are in one with others that
    compute indices.
    """

    boxes: tuple[Box, ...] = ()
    arrows: tuple[tuple[int, int], ...] = ()
    operators: tuple[tuple[str, int], ...] = ()
    drawn: int = 0

    @property
    def nodes(self) -> int:
        """How many nodes there are, constants not counted."""
        return sum(count for _, count in self.operators)


class Rest(NamedTuple):
    """The nodes of a piece that are not drawn: ``operators`` counts all nodes of the piece.

    ``made`` has the operators of undrawn nodes by the values that they make for drawn ones, and
    ``read`` those of the nodes that read values of drawn ones.
    """

    operators: Mapping[str, int]
    made: Mapping[ir.Value, str]
    read: Mapping[ir.Value, Sequence[str]]


@dataclass
class Sketch:
    """Collects boxes and arrows; ``wiring`` is that before, which new values are not in."""

    wiring: Wiring
    boxes: list[Box] = field(default_factory=list)
    arrows: dict[tuple[int, int], None] = field(default_factory=dict)

    def excerpt(
        self,
        nodes: Sequence[Wired],
        ends: Sequence[tuple[ir.Value, ir.Value]],
        rest: Rest | None = None,
    ) -> Excerpt:
        """Return nodes with the values at their ends: pairs of a result's old and present value.

        With a ``rest``, the nodes are a part of the piece.
        """
        shown = [n for n in nodes if n.op != "Constant"]
        operators = Counter(n.op for n in shown) if rest is None else rest.operators
        single, folded = shown, list[Wired]()
        if len(shown) > MOST_NODES:
            single, folded = _without_indices(shown, [now for _, now in ends])
        drawn = len(shown)
        if len(single) > MOST_NODES or not self._draw(single, folded, ends, rest):
            drawn = 0
            self.boxes, self.arrows = [], {}
            self._as_one(shown, nodes, ends)
        counts = tuple(sorted(operators.items()))
        return Excerpt(tuple(self.boxes), tuple(self.arrows), counts, drawn)

    def _draw(
        self,
        single: Sequence[Wired],
        folded: Sequence[Wired],
        ends: Sequence[tuple[ir.Value, ir.Value]],
        rest: Rest | None,
    ) -> bool:
        """Draw nodes, those that are folded as one box; return whether this is possible."""
        box_of: dict[ir.Value, int] = {}
        for n in single:
            kind: Kind = "scatter" if n.op in _ALWAYS_SHOWN else "node"
            box_of.update(dict.fromkeys(n.makes, self._box(kind, n.op, n.name)))
        if folded:
            middle = self._box("many", f"{len(folded)} nodes", "for the indices")
            box_of.update((v, middle) for n in folded for v in n.makes)
        for reader, n in [*enumerate(single), *((len(single), n) for n in folded)]:
            is_index = reader == len(single)
            new, left = 0, 0  # boxes of inputs
            for i, value in enumerate(n.inputs):
                if value is None:
                    continue
                if value not in box_of:
                    is_parameter = i > 0 and n.op not in _ALWAYS_SHOWN
                    if (is_index or is_parameter) and self._is_constant(value):
                        continue
                    new += 1
                    if new > _ENDS:
                        left += 1
                        continue
                    box_of[value] = self._input(value, rest)
                if box_of[value] != reader:
                    self.arrows[box_of[value], reader] = None
            if left:
                self.arrows[self._box("many", "", f"and {left} more"), reader] = None
        for old, value in ends:
            if value not in box_of:  # it is read as it was
                box_of[value] = self._box("value", "", self._name(value))
            self.arrows[box_of[value], self._box("result", "", self._name(old))] = None
        for value, readers in rest.read.items() if rest is not None else ():
            word = readers[0] if len(readers) == 1 else f"{len(readers)} nodes"
            self.arrows[box_of[value], self._box("many", word, "")] = None
        # There is a cycle if an index depends on the result of another scatter.
        return len(self.boxes) <= _MOST_BOXES and not (folded and self._has_cycle())

    def _input(self, value: ir.Value, rest: Rest | None) -> int:
        if rest is not None and value in rest.made:
            return self._box("many", rest.made[value], "")
        kind: Kind = "constant" if self._is_constant(value) else "value"
        return self._box(kind, "", self._name(value))

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

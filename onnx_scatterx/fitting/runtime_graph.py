"""A graph as ONNX Runtime's optimizer sees it: what is constant, and which nodes are one node.

Before level 2, equal nodes become one, which has the readers of all. A node in a body does not
match one outside, unless the body is that of an If with a constant condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import onnx_ir as ir

from onnx_scatterx.graphs import INT64_MAX, constant, graphs_of, is_operator
from onnx_scatterx.operators import RANDOM, described

_T = ir.DataType
_NUMBERS = {
    *(ir.AttributeType.INT, ir.AttributeType.INTS, ir.AttributeType.FLOAT),
    *(ir.AttributeType.FLOATS, ir.AttributeType.STRING),
}
"""The types of attributes of nodes that are compared."""
_SMALL = 1 << 6  # elements: constants up to this size are compared


def _has_declared_sizes(node: ir.Node) -> bool:
    """Return whether a node is a Shape or a Size of a tensor whose dims are declared."""
    value = node.inputs[0] if is_operator(node, ("Shape", "Size")) else None
    shape = None if value is None else value.shape
    return shape is not None and all(isinstance(dim, int) for dim in shape)


@dataclass
class RuntimeGraph:
    """A graph with its subgraphs, outer graphs first.

    ``parameters`` are inputs that a caller may give constants to. ``folded`` says of values whether
    they follow from constants, also from these. Equal nodes have one number in ``numbers``. Both
    have what was asked for.
    """

    graphs: list[ir.Graph]
    overridable: frozenset[ir.Value]
    parameters: frozenset[ir.Value] = frozenset()
    folded: dict[ir.Value, bool] = field(default_factory=dict)
    numbers: dict[ir.Node, int] = field(default_factory=dict)
    keys: dict[object, int] = field(default_factory=dict)
    ranges: dict[ir.Graph, dict[int, list[ir.Value]]] = field(default_factory=dict)

    @cached_property
    def _holders(self) -> dict[ir.Graph, ir.Node]:
        """The node that has each subgraph."""
        nodes = (node for graph in self.graphs for node in graph)
        return {body: node for node in nodes for body in graphs_of(node)}

    def alike(self, node: ir.Node, graph: ir.Graph) -> list[ir.Value]:
        """Return the output of a node, and the outputs of the Ranges that are equal to it."""
        if node.op_type != "Range":
            return [node.outputs[0]]
        if graph not in self.ranges:
            alike: dict[int, list[ir.Value]] = {}
            for other in graph:
                if is_operator(other, ("Range",)):
                    alike.setdefault(self._number(other), []).append(other.outputs[0])
            self.ranges[graph] = alike
        return self.ranges[graph].get(self._number(node), [])

    def joins(self, node: ir.Node, graph: ir.Graph) -> bool:
        """Return whether a node is in a graph after each If that is decided has been inlined."""
        here = node.graph
        while here is not graph:
            holder = self._holders.get(here) if isinstance(here, ir.Graph) else None
            if holder is None or not is_operator(holder, ("If",)):
                return False
            if holder.inputs[0] is None or not self.is_constant(holder.inputs[0]):
                return False
            here = holder.graph
        return True

    def array(self, value: ir.Value | None) -> np.ndarray | None:
        """Return the elements of a small constant."""
        tensor = constant(value, self.overridable)
        if tensor is None or tensor.size > _SMALL or tensor.dtype == _T.STRING:
            return None
        return np.asarray(tensor.numpy())

    def is_constant(self, value: ir.Value) -> bool:
        """Return whether a value follows from constants; without recursion."""
        waiting = [value]
        while waiting:
            here = waiting[-1]
            node = here.producer()
            new: list[ir.Value] = []
            if here in self.parameters or constant(here, self.overridable) is not None:
                self.folded[here] = True
            elif node is None or node.op_type in RANDOM or graphs_of(node):
                self.folded[here] = False
            elif _has_declared_sizes(node):
                self.folded[here] = True
            else:
                read = [v for v in node.inputs if v is not None]
                new = [v for v in read if v not in self.folded]
                if not new:
                    self.folded[here] = all(self.folded[v] for v in read)
            if new:
                waiting += new
            else:
                waiting.pop()
        return self.folded[value]

    def is_same(self, one: ir.Node, other: ir.Node) -> bool:
        """Return whether two nodes are one node for ONNX Runtime."""
        if one is other or one.op_type != other.op_type:
            return one is other
        return self._number(one) == self._number(other)

    def _number(self, node: ir.Node) -> int:
        """Return the number of a node, which is that of each equal node."""
        waiting = [] if node in self.numbers else [node]
        while waiting:
            makers = (None if v is None else v.producer() for v in waiting[-1].inputs)
            new = [maker for maker in makers if maker is not None and maker not in self.numbers]
            if new:
                waiting += new
            else:
                made = waiting.pop()
                self.numbers[made] = self.keys.setdefault(self._key(made), len(self.keys))
        return self.numbers[node]

    def _key(self, node: ir.Node) -> object:
        """Return what equal nodes have in common; the producers of its inputs have numbers."""
        settings = [(name, a.type, a.value) for name, a in sorted(node.attributes.items())]
        if node.op_type in RANDOM or not all(kind in _NUMBERS for _, kind, _ in settings):
            return node
        inputs = tuple(None if v is None else self._key_of(v) for v in node.inputs)
        return node.domain, node.op_type, inputs, repr(settings)

    def _key_of(self, value: ir.Value) -> object:
        array = self.array(value)
        if array is not None:
            return array.dtype.name, array.shape, array.tobytes()
        maker = value.producer()
        return value if maker is None else (self.numbers[maker], value.index())

    def reader_of(self, value: ir.Value, alike: Sequence[ir.Value]) -> tuple[ir.Node, int] | None:
        """Return the node that alone reads a value and those ``alike``, and at which input.

        Equal nodes count as one. Nodes that ONNX Runtime removes are skipped.
        """
        while True:
            uses = [use for v in alike for use in v.uses()]
            if not uses or any(v.is_graph_output() for v in alike):
                return None
            one = uses[0]
            if not all(u.idx == one.idx and self.is_same(u.node, one.node) for u in uses):
                return None
            node, place = next(iter(value.uses()), (None, 0))
            if node is None or not self.does_nothing(node, value):
                return None if node is None else (node, place)
            value = node.outputs[0]
            alike = [value]

    def does_nothing(self, node: ir.Node, value: ir.Value) -> bool:
        if is_operator(node, ("Identity",)):
            return True
        if is_operator(node, ("Cast",)):
            to = node.attributes.get("to")
            return to is not None and not to.is_ref() and value.dtype in (None, _T(to.as_int()))
        if is_operator(node, ("Slice",)) and len(node.inputs) > 2:
            starts, ends = self.array(node.inputs[1]), self.array(node.inputs[2])
            if starts is None or ends is None:
                return False
            return bool((starts == 0).all() and (ends == INT64_MAX).all())
        neutral = described(node).neutral
        if neutral is not None:
            others = [self.array(v) for v in node.inputs if v is not value]
            return any(a is not None and a.size <= 1 and (a == neutral).all() for a in others)
        return False

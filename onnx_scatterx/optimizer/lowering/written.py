"""Which operators elements pass through on their way to a value that was written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import onnx_ir as ir


@dataclass(frozen=True, eq=False)
class Written:
    """What was written for a scatter: the nodes that elements pass through, the last first."""

    nodes: tuple[ir.Node, ...] = ()
    is_constant: bool = False

    def __add__(self, other: Written) -> Written:
        return Written((*self.nodes, *other.nodes), self.is_constant or other.is_constant)

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators of those that are still there, for people."""
        there = (n.op_type for n in self.nodes if n.graph is not None and n.op_type != "Identity")
        found = tuple(dict.fromkeys(there))
        return ("a constant",) if self.is_constant and not found else found


NOTHING = Written()

_ELEMENTS = {
    "Expand": (0,),
    "Gather": (0,),
    "GatherElements": (0,),
    "GatherND": (0,),
    "Pad": (0,),
    "ReduceMax": (0,),
    "Reshape": (0,),
    "Slice": (0,),
    "Split": (0,),
    "Squeeze": (0,),
    "TensorScatter": (0, 1),
    "TopK": (0,),
    "Transpose": (0,),
    "Unsqueeze": (0,),
    "Where": (1, 2),
}
"""The inputs whose elements are in the outputs; for any other operator, all inputs.

The other inputs say where elements are moved: sizes, positions, masks.
"""


def element_path(value: ir.Value, is_new: Callable[[ir.Node], bool]) -> list[ir.Node]:
    """Return the new nodes that elements pass through to a value, the last first.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[4] x, float[4] y, bool[4] m) => (float[4] z) {
    ...     n = Not(m) z = Where(n, x, y) }''')
    >>> [node.op_type for node in element_path(model.graph.outputs[0], lambda _: True)]
    ['Where']
    """
    found: dict[ir.Node, None] = {}
    waiting = [value]
    while waiting:
        node = waiting.pop(0).producer()
        if node is None or node in found or not is_new(node):
            continue
        found[node] = None
        places = _ELEMENTS.get(node.op_type, range(len(node.inputs)))
        inputs = (node.inputs[place] for place in places if place < len(node.inputs))
        waiting += [v for v in inputs if v is not None]
    return list(found)

"""Small changes of a model: copies, names for new values, inputs, uses, and dead nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import onnx_ir as ir

from onnx_scatterx.errors import ModelError
from onnx_scatterx.graphs.traversal import graphs_of, nodes_by_graph, read_by

_MANY = 16


def set_inputs(node: ir.Node, inputs: Sequence[ir.Value | None]) -> None:
    """Give a node other inputs, in linear time: onnx_ir copies all inputs for each change."""
    if len(node.inputs) <= _MANY or node.device_configurations:
        node.resize_inputs(len(inputs))
        for index, value in enumerate(inputs):
            if node.inputs[index] is not value:
                node.replace_input_with(index, value)
        return
    # There is no public function for it.
    for index, value in enumerate(node.inputs):
        if value is not None:
            value._remove_usage(node, index)
    node._inputs = tuple(inputs)
    for index, value in enumerate(inputs):
        if value is not None:
            value._add_usage(node, index)


def replace_uses(
    value: ir.Value, new: ir.Value, *, keeps_name: bool = False, unused: str | None = None
) -> None:
    """Let all readers of a value, and the outputs of its graph, use another value instead.

    If ``keeps_name``, the new value first gets the type, the shape and the name of the old value.
    The old value then gets the name ``unused``, or by default the name of the new value.
    """
    if keeps_name:
        new.type, new.shape = value.type, value.shape
        new.metadata_props.update(value.metadata_props)
        new.name, value.name = value.name, unused or new.name
    for node, count in Counter(use.node for use in value.uses()).items():
        if count > _MANY:
            set_inputs(node, [new if v is value else v for v in node.inputs])
    value.replace_all_uses_with(new, replace_graph_outputs=True)


def remove_dead(nodes: Sequence[ir.Node]) -> None:
    """Remove the nodes whose outputs are not read, and then all nodes that only they need."""
    stack = list(nodes)
    gone: dict[ir.Node, ir.Graph] = {}
    uses: dict[ir.Value | None, int] = {}  # counted once: a value may have many readers

    def has_uses(value: ir.Value) -> bool:
        if value not in uses:
            uses[value] = len(value.uses())
        return uses[value] > 0 or value.is_graph_output()

    while stack:
        node = stack.pop()
        graph = node.graph
        if graph is None or node in gone or any(map(has_uses, node.outputs)):
            continue
        read = read_by(node)
        for body in graphs_of(node):
            _dismantle(body)
        for value in read[len(node.inputs) - node.inputs.count(None) :]:
            uses.pop(value, None)
        for operand in node.inputs:
            if operand in uses:
                uses[operand] -= 1
        set_inputs(node, ())
        gone[node] = graph
        for value in dict.fromkeys(read):
            producer = value.producer()
            if producer is not None:
                stack.append(producer)
            elif value.is_initializer() and not (has_uses(value) or value.is_graph_input()):
                assert value.graph is not None
                value.graph.initializers.pop(value.name or "", None)
    for graph in dict.fromkeys(gone.values()):
        # A dismantled graph has no nodes left.
        graph.remove([n for n, own in gone.items() if own is graph and n.graph is graph])


def _dismantle(graph: ir.Graph) -> None:
    """Remove all nodes of a graph, so that they read no values."""
    graph.outputs.clear()
    for node in reversed(list(graph)):
        for body in graphs_of(node):
            _dismantle(body)
        set_inputs(node, ())
    graph.remove(list(graph))


def cloned(model: ir.Model) -> ir.Model:
    """Return a copy of a model.

    Raises ModelError if a function or a graph reads an undefined value, even if the function never
    runs.
    """
    try:
        return model.clone()
    except RuntimeError as error:
        first: BaseException = error
        while isinstance(first.__cause__, Exception):
            first = first.__cause__
        raise ModelError(f"the model cannot be copied: {first}") from first


class Names:
    """Gives names that no value or node of a model has."""

    def __init__(self, model: ir.Model) -> None:
        self._taken: set[str] = set()
        for graph, nodes in nodes_by_graph(model).items():
            self._taken.update(graph.initializers)
            self._taken.update(v.name for v in graph.inputs if v.name)
            for node in nodes:
                self._taken.add(node.name or "")
                self._taken.update(v.name for v in node.outputs if v.name)
        self._next: dict[str, int] = {}

    def new(self, stem: str) -> str:
        """Return a free name with this stem, which is then taken."""
        while True:
            number = self._next.get(stem, 0)
            self._next[stem] = number + 1
            name = f"{stem}_{number}" if number else stem
            if name not in self._taken:
                self._taken.add(name)
                return name

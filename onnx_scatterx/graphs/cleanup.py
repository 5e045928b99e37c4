"""Helpers that change models: copies, names for new values, inputs, uses, and dead nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import onnx_ir as ir

from onnx_scatterx.errors import ModelError
from onnx_scatterx.graphs.traversal import all_graphs, graphs_of, is_operator, read_by

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


def replace_uses(value: ir.Value, new: ir.Value) -> None:
    """Let all readers of a value, and the outputs of its graph, use another value instead."""
    for node, count in Counter(use.node for use in value.uses()).items():
        if count > _MANY:
            set_inputs(node, [new if v is value else v for v in node.inputs])
    value.replace_all_uses_with(new, replace_graph_outputs=True)


def stand_for(new: ir.Value, old: ir.Value, unused: str | None = None) -> None:
    """Give a new value the type, the shape and the name of an old value.

    The old value gets the name ``unused``, or by default the name of the new value.
    """
    new.type, new.shape = old.type, old.shape
    new.metadata_props.update(old.metadata_props)
    new.name, old.name = old.name, unused or new.name


def is_read(value: ir.Value) -> bool:
    """Return whether a node reads a value, or a graph returns it."""
    return value.is_graph_output() or bool(value.uses())


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


def unread_constants(model: ir.Model) -> list[ir.Value]:
    """Return the initializers and the outputs of Constant nodes that nothing reads."""
    graphs = all_graphs(model)
    stored = [v for g in graphs for v in g.initializers.values() if not v.is_graph_input()]
    made = [v for g in graphs for n in g if is_operator(n, ("Constant",)) for v in n.outputs]
    return [value for value in (*stored, *made) if not is_read(value)]


def drop_unread(model: ir.Model, kept: AbstractSet[str | None]) -> None:
    """Remove the constants that nothing reads, but those of some names.

    ONNX Runtime warns of each when it loads a model.
    """
    for value in unread_constants(model):
        node = value.producer()
        if value.name in kept:
            continue
        if node is not None:
            remove_dead([node])
        elif value.graph is not None:
            del value.graph.initializers[value.name or ""]


def become(model: ir.Model, other: ir.Model) -> None:
    """Give a model the graph and the functions of another model, which must not be used further.

    The IR version is that of the other model, too: it follows the operator sets and the functions.
    """
    model.graph = other.graph
    model.ir_version = other.ir_version
    model.functions.clear()
    model.functions.update(other.functions)


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
        for graph in all_graphs(model):
            self._taken.update(graph.initializers)
            self._taken.update(v.name for v in graph.inputs if v.name)
            for node in graph:
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

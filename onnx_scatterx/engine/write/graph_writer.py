"""Adds fragments to a graph, before an insertion point, under names of its own.

At the commit the graph is asked: whether a value was replaced since, whether it still has a
constant, and whether an equal node stands before the insertion point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.write.abstract_values import attribute, frozen
from onnx_scatterx.engine.write.fragment import Constants, Fragment, Step
from onnx_scatterx.graphs import Names


class _Insertion(NamedTuple):
    """Where nodes are added, and their names."""

    node: ir.Node | None  # the new nodes are added before it
    prefix: str  # of their names
    metadata: Mapping[str, str]  # of each: the node that it replaces


class Committed(NamedTuple):
    """What became of a fragment in the graph."""

    result: ir.Value
    output: ir.Value  # the result, or an Identity of it
    nodes: list[ir.Node]  # that were added

    @property
    def is_new(self) -> bool:
        """Whether a node that was added makes the output."""
        return self.output.producer() in self.nodes


class GraphWriter:
    """Commits fragments to a graph before an insertion point.

    If ``constant_nodes``, constants are nodes: functions have no initializers, and before IR
    version 4 an initializer is an input too. An insertion point has ``metadata``, which is added to
    every new node: it names what the node replaces. ``resolve`` gives the replacement of a value,
    or the value itself.
    """

    def __init__(
        self,
        graph: ir.Graph,
        names: Names,
        *,
        constant_nodes: bool,
        resolve: Callable[[ir.Value], ir.Value] = lambda value: value,
    ) -> None:
        self.constants = Constants()
        self.constant_nodes = constant_nodes
        self._graph = graph
        self._names = names
        self._resolve = resolve
        self._insertion = _Insertion(None, "scatterx", {})
        self.made: list[ir.Node] = []  # the nodes that were added, each after those that it reads
        self._points: dict[ir.Node, ir.Node] = {}  # where each of them was inserted
        self._order: dict[ir.Node, float] = {}  # of nodes: adding and removing others keeps it

    @contextmanager
    def at(
        self, node: ir.Node, prefix: str | None = None, metadata: Mapping[str, str] | None = None
    ) -> Iterator[None]:
        """Add nodes before ``node``, under names that begin with ``prefix``, in this context."""
        outer = self._insertion
        self._insertion = _Insertion(node, prefix or "scatterx", metadata or {})
        try:
            yield
        finally:
            self._insertion = outer

    @property
    def point(self) -> ir.Node | None:
        """The node before which nodes are added, or None outside of ``at``."""
        return self._insertion.node

    @property
    def insertion_point(self) -> ir.Node:
        """The node before which nodes are added."""
        assert self._insertion.node is not None, "nodes are added within `at`"
        return self._insertion.node

    def new_name(self, what: str) -> str:
        """Return a name for a new value."""
        return self._names.new(f"{self._insertion.prefix}/{what}")

    def free_name(self, stem: str) -> str:
        """Return a name with this stem that nothing in the model has."""
        return self._names.new(stem)

    def commit(self, fragment: Fragment) -> Committed:
        """Add the nodes of a fragment to the graph.

        A node is not added if an equal one stands before the insertion point. A fragment is
        committed once, where it belongs.
        """
        assert fragment.at is self.insertion_point, "a fragment for another insertion point"
        before = len(self.made)
        placed: dict[ir.Value, ir.Value] = {}

        def current(value: ir.Value) -> ir.Value:
            if value in placed:
                return placed[value]
            return value if fragment.made(value) else self._resolve(value)

        for item in fragment.items:
            if not isinstance(item, Step):
                placed[item] = self._constant(item)
                continue
            inputs = [v if v is None else current(v) for v in item.inputs]
            equal = None if item.own or item.node is not None else self._equal(item, inputs)
            if equal is not None:
                placed[item.outputs[0]] = equal
            else:
                self._insert(self._node(item, inputs))
        if fragment.known is not None:
            known = fragment.new_values.items()
            fragment.known.update({v: k for v, k in known if v not in placed})
            own = [v for v in fragment.noted if v in fragment.by_output and v not in placed]
            fragment.known.keep_ranges(own)
        assert fragment.result is not None
        result = current(fragment.result)
        output = result if fragment.output is None else current(fragment.output)
        return Committed(result, output, self.made[before:])

    def add(self, node: ir.Node) -> ir.Value:
        """Add a node as it is, whatever the target takes; return its first output."""
        fragment = Fragment(0, self.constants, self.insertion_point, result=node.outputs[0])
        fragment.insert(node)
        return self.commit(fragment).result

    def add_constant(self, array: np.ndarray, dtype: ir.DataType) -> ir.Value:
        """Add a constant as it is, whatever the target takes."""
        fragment = Fragment(0, self.constants, self.insertion_point)
        fragment.result = fragment.constant(array, dtype)
        return self.commit(fragment).result

    def _insert(self, node: ir.Node) -> None:
        self._graph.insert_before(self.insertion_point, node)
        self._points[node] = self.insertion_point
        self.made.append(node)

    def _node(self, step: Step, inputs: list[ir.Value | None]) -> ir.Node:
        """Return a node of a fragment with its names; one that was made elsewhere keeps them."""
        is_named = bool(step.outputs[0].name)
        for value in step.outputs:
            value.name = value.name or self.new_name(step.op)
        if step.node is not None:
            for i, read in enumerate(inputs):
                step.node.replace_input_with(i, read)
            if not is_named:
                step.node.name = step.node.name or step.outputs[0].name
            step.node.metadata_props.update(self._insertion.metadata)
            return step.node
        return ir.Node(
            "",
            step.op,
            inputs,
            [attribute(k, v) for k, v in step.attributes.items()],
            outputs=step.outputs,
            name=step.outputs[0].name,
            metadata_props=dict(self._insertion.metadata),
        )

    def _equal(self, step: Step, inputs: list[ir.Value | None]) -> ir.Value | None:
        """Return the output of an added node that equals one, and stands before it."""
        uses = min((v.uses() for v in inputs if v is not None), key=len, default=())
        for node in dict.fromkeys(use.node for use in uses):
            if (
                node.op_type == step.op
                and node in self._points
                and len(node.outputs) == 1
                and list(node.inputs) == inputs
                and _attributes(node) == frozen(step.attributes)
                and node.domain == ""
                and self._stands_before(node)
            ):
                return node.outputs[0]
        return None

    def _constant(self, value: ir.Value) -> ir.Value:
        """Return a constant in the graph, before the insertion point."""
        value = self.constants.shared(value)
        node = value.producer()
        if value.is_initializer() and value.graph is self._graph:
            return value
        if node is not None and node.graph is self._graph and self._stands_before(node):
            return value
        tensor = value.const_value
        assert tensor is not None
        if node is not None or value.is_initializer():  # it stands elsewhere
            tensor = ir.Tensor(tensor.raw, dtype=tensor.dtype)
            value = ir.Value(type=value.type, shape=value.shape, const_value=tensor)
        value.name = self.new_name("constant")
        if self.constant_nodes:
            attributes = [ir.AttrTensor("value", tensor)]
            self._insert(ir.Node("", "Constant", [], attributes, outputs=[value], name=value.name))
        else:
            self._graph.register_initializer(value)
        return value

    def _stands_before(self, node: ir.Node) -> bool:
        """Return whether an added node stands before the insertion point."""
        here = self.insertion_point
        if node.graph is not self._graph:
            return False
        if self._points.get(node) is here:
            return True
        point = self._order.get(self._points[node])
        if point is not None and point.is_integer():
            self._order.setdefault(node, point - 0.5)
        if not {node, here} <= self._order.keys():
            self._order = {n: float(i) for i, n in enumerate(self._graph)}
        return self._order[node] < self._order[here]

    def take_name(
        self, value: ir.Value, committed: Committed, dtype: ir.DataType | None
    ) -> ir.Value:
        """Give a result the name of the value that it replaces, so that readers do not change.

        An output of the graph keeps its name through an Identity if the result has one of its own.
        """
        result = committed.output
        own = committed.is_new and not result.uses() and not result.is_graph_output()
        if not own and not value.is_graph_output():
            return result
        if not own:
            output = ir.Value(type=None if dtype is None else ir.TensorType(dtype))
            fragment = Fragment(0, self.constants, self.insertion_point, result=output)
            fragment.append(Step("Identity", [result], {}, [output], own=True))
            result = self.commit(fragment).output
        if value.is_graph_output():
            result.type, result.shape = value.type, value.shape
            result.metadata_props.update(value.metadata_props)
        result.name, value.name = value.name, self._names.new(f"{value.name}/replaced")
        return result


def _attributes(node: ir.Node) -> tuple[object, ...]:
    """Return the attributes of a node as a key, as ``frozen`` does."""
    pairs = ((name, attribute.value) for name, attribute in node.attributes.items())
    return tuple((k, tuple(v) if isinstance(v, (list, tuple)) else v) for k, v in pairs)

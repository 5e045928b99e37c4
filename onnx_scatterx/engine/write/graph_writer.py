"""Adds nodes and constants to a graph, before an insertion point, under names of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.write.dry_run import Attributes, MadeValues
from onnx_scatterx.graphs import Names


class _Insertion(NamedTuple):
    """Where nodes are added, and their names."""

    node: ir.Node | None  # the new nodes are added before it
    prefix: str  # of their names
    metadata: Mapping[str, str]  # of each: the node that it replaces


class _Written(dict[object, ir.Value]):
    """Values by the keys of their nodes or constants, as long as a graph has them.

    A pass removes nodes between those that it writes. If nothing else reads a written node or
    constant, this is removed, too, and must not be read again.
    """

    def get(self, key: object, default: Any = None) -> Any:
        value = super().get(key)
        if value is None:
            return default
        node = value.producer()
        if node is not None:
            return default if node.graph is None else value
        return value if value.is_initializer() or value.is_graph_input() else default


class GraphWriter:
    """Adds nodes to a graph before an insertion point; equal constants are made once.

    If ``constant_nodes``, constants are nodes: functions have no initializers, and before IR
    version 4 an initializer is an input too. If there is ``known``, what is known of new values is
    noted there. An insertion point has ``metadata``, which is added to every new node: it names
    what the node replaces.
    """

    def __init__(
        self,
        graph: ir.Graph,
        names: Names,
        *,
        constant_nodes: bool,
        known: MadeValues | None = None,
    ) -> None:
        self.known = known
        self.made: list[ir.Node] = []
        self.written = _Written()
        self._graph = graph
        self._names = names
        self._constant_nodes = constant_nodes
        self._insertion = _Insertion(None, "scatterx", {})

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
    def insertion_point(self) -> ir.Node:
        """The node before which nodes are added."""
        assert self._insertion.node is not None, "nodes are added within `at`"
        return self._insertion.node

    @property
    def metadata(self) -> Mapping[str, str]:
        """The metadata of every new node."""
        return self._insertion.metadata

    def new_name(self, what: str) -> str:
        """Return a name for a new value."""
        return self._names.new(f"{self._insertion.prefix}/{what}")

    def insert(self, node: ir.Node) -> None:
        """Add a node that was created elsewhere."""
        if self.known is not None:
            self.known.add_outputs(node)
        self._graph.insert_before(self.insertion_point, node)
        self.made.append(node)

    def node(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        dtype: ir.DataType | None,
        attributes: Attributes,
    ) -> ir.Value:
        """Add a node with one output of an element type."""
        node = self._node(op, inputs, dtype, attributes)
        self.insert(node)
        return node.outputs[0]

    def _node(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        dtype: ir.DataType | None,
        attributes: Attributes,
    ) -> ir.Node:
        settings = [ir.convenience.convert_attribute(k, v) for k, v in attributes.items()]
        kind, name = None if dtype is None else ir.TensorType(dtype), self.new_name(op)
        outputs, metadata = [ir.Value(name=name, type=kind)], dict(self.metadata)
        return ir.Node(
            "", op, inputs, settings, outputs=outputs, name=name, metadata_props=metadata
        )

    def constant(
        self, array: np.ndarray | Sequence[int], dtype: ir.DataType | None = None
    ) -> ir.Value:
        """Return a constant: an initializer, or a Constant node if there can be no initializer."""
        array = np.asarray(array, None if dtype else np.int64, order="C")
        dtype = dtype or ir.DataType.INT64
        key = (dtype.name, array.shape, array.tobytes())
        keep = array.dtype != object
        present: ir.Value | None = self.written.get(key) if keep else None
        if present is not None:
            return present
        name = self.new_name("constant")
        tensor = ir.Tensor(array, dtype=dtype, name=name)
        value = ir.Value(
            name=name, type=ir.TensorType(dtype), shape=ir.Shape(array.shape), const_value=tensor
        )
        if self._constant_nodes:
            node = ir.Node(
                "", "Constant", [], [ir.AttrTensor("value", tensor)], outputs=[value], name=name
            )
            self.insert(node)
        else:
            self._graph.register_initializer(value)
        if keep:
            self.written[key] = value
        return value

    def take_name(
        self, value: ir.Value, result: ir.Value, dtype: ir.DataType | None, *, is_new: bool
    ) -> ir.Value:
        """Give a result the name of the value that it replaces, so that readers do not change.

        An output of the graph keeps its name through an Identity if the result has one of its own.
        """
        own = is_new and not result.uses() and not result.is_graph_output()
        if not own and not value.is_graph_output():
            return result
        if not own:
            identity = self._node("Identity", [result], dtype, {})
            self._graph.insert_before(self.insertion_point, identity)
            (result,) = identity.outputs
        if value.is_graph_output():
            result.type, result.shape = value.type, value.shape
            result.metadata_props.update(value.metadata_props)
        result.name, value.name = value.name, self._names.new(f"{value.name}/replaced")
        return result

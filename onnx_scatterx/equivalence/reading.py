"""A model as a list of nodes, its local functions put in their places."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import inliner, numpy_helper

from onnx_scatterx.equivalence.tensor import UnsupportedError

_STANDARD = ("", "ai.onnx")


@dataclass(frozen=True)
class Node:
    """One node: what it does, on which values, by their names ("" where there is none)."""

    op: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any] = field(hash=False)
    version: int
    proto: onnx.NodeProto = field(hash=False, repr=False)

    @property
    def standard(self) -> bool:
        """Whether it is one of ONNX's own operators."""
        return self.domain in _STANDARD

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute."""
        return self.attributes.get(name, default)

    @property
    def kind(self) -> tuple[Any, ...]:
        """What it does, apart from its inputs: equal for nodes that do the same."""
        attributes = sorted(
            (a.name, a.SerializeToString(deterministic=True)) for a in self.proto.attribute
        )
        return (self.op, self.domain, self.version, tuple(attributes), len(self.outputs))

    @property
    def captured(self) -> tuple[str, ...]:
        """The names of outer values that its subgraphs may use."""
        found: dict[str, None] = {}
        graphs = _subgraphs(self.proto)
        while graphs:
            graph = graphs.pop()
            for node in graph.node:
                found.update(dict.fromkeys(node.input))
                graphs += _subgraphs(node)
            found.update(dict.fromkeys(o.name for o in graph.output))
        return tuple(sorted(n for n in found if n))


@dataclass(frozen=True)
class Input:
    """A declared input: its type, and its dims as sizes, names or None (no dims: None)."""

    name: str
    dtype: str
    dims: tuple[int | str | None, ...] | None


@dataclass(frozen=True)
class Graph:
    """A model: its inputs, constants, nodes in order, and the names of its outputs."""

    inputs: tuple[Input, ...]
    constants: dict[str, tuple[np.ndarray, str]]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]


_STANDARD = ("", "ai.onnx")
_RUNTIMES = ("ai.onnx", "com.microsoft", "com.ms", "org.pytorch")


def dtype_name(element: int) -> str:
    """Return the name of an element type."""
    if element == onnx.TensorProto.STRING:
        return "string"
    return str(onnx.helper.tensor_dtype_to_np_dtype(element).name)


def read(model: onnx.ModelProto) -> Graph:
    """Return a model as the judge reads it; UnsupportedError if it does not."""
    graph = _flat(model).graph
    if graph.sparse_initializer:
        raise UnsupportedError("sparse initializers")
    versions = {o.domain: o.version for o in model.opset_import}
    inputs = tuple(_input(i) for i in graph.input)
    given = {i.name for i in inputs}
    constants = {
        i.name: (_array(i), dtype_name(i.data_type))
        for i in graph.initializer
        if i.name not in given
    }
    nodes = tuple(node_of(n, versions) for n in graph.node)
    return Graph(inputs, constants, nodes, tuple(o.name for o in graph.output))


def _flat(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model without functions; UnsupportedError if a call may be of an operator.

    A node of the default domain is always the operator, whatever the functions are named. In
    another domain that a runtime has operators in, it may be either.
    """
    flat = onnx.ModelProto()
    flat.CopyFrom(model)
    del flat.functions[:]
    flat.functions.extend(f for f in model.functions if f.domain not in _STANDARD)
    for function in flat.functions:
        if any(f"{function.domain}.".startswith(f"{own}.") for own in _RUNTIMES):
            raise UnsupportedError(
                f"the function {function.domain}.{function.name}, which a runtime may take for an "
                "operator of its own"
            )
    if not flat.functions:
        return flat
    try:
        return inliner.inline_local_functions(flat)
    except RuntimeError as error:
        raise UnsupportedError("functions that cannot be inlined") from error


def _array(proto: onnx.TensorProto) -> np.ndarray:
    return np.asarray(numpy_helper.to_array(proto))


def node_of(proto: onnx.NodeProto, versions: dict[str, int]) -> Node:
    """Return a node, given the version of each operator set."""
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in proto.attribute}
    version = versions.get(proto.domain, versions.get("", 0) if proto.domain == "" else 0)
    version = version or versions.get("ai.onnx", 0)
    return Node(
        proto.op_type,
        proto.domain,
        tuple(proto.input),
        tuple(proto.output),
        attributes,
        version,
        proto,
    )


def _input(value: onnx.ValueInfoProto) -> Input:
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        return Input(value.name, str(kind), None)
    tensor = value.type.tensor_type
    dims: tuple[int | str | None, ...] | None = None
    if tensor.HasField("shape"):
        dims = tuple(_dim(d) for d in tensor.shape.dim)
    return Input(value.name, dtype_name(tensor.elem_type), dims)


def _dim(dim: onnx.TensorShapeProto.Dimension) -> int | str | None:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return int(dim.dim_value)
    return dim.dim_param or None


def _subgraphs(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    graphs: list[onnx.GraphProto] = []
    for attribute in node.attribute:
        if attribute.HasField("g"):
            graphs.append(attribute.g)
        graphs += attribute.graphs
    return graphs


def constant_of(node: Node) -> tuple[np.ndarray, str] | None:
    """Return what a Constant node gives."""
    if node.op != "Constant" or not node.standard:
        return None
    if "value" in node.attributes:
        value = node.attributes["value"]
        return _array(value), dtype_name(value.data_type)
    for name, dtype in (("value_int", "int64"), ("value_ints", "int64")):
        if name in node.attributes:
            return np.array(node.attributes[name], np.int64), dtype
    for name in ("value_float", "value_floats"):
        if name in node.attributes:
            return np.array(node.attributes[name], np.float32), "float32"
    return None

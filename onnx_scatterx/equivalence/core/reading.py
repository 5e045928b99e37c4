"""A model as a list of nodes, with its local functions inlined."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import inliner, numpy_helper

from onnx_scatterx.equivalence.core.terms import UnsupportedError

_STANDARD = ("", "ai.onnx")
_RUNTIMES = ("ai.onnx", "com.microsoft", "com.ms", "org.pytorch")
_DEFAULTS_SINCE = 4  # the version of the format in which an initializer may also be an input
_RANDOM = {"Bernoulli", "Multinomial"}
_RANDOM |= {f"Random{kind}{like}" for kind in ("Normal", "Uniform") for like in ("", "Like")}


@dataclass(frozen=True)
class Node:
    """One node: its operation, and its values by their names ("" for an absent one)."""

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
        """Its operation, apart from its inputs: equal for nodes that compute the same function."""
        attributes = sorted(
            (a.name, a.SerializeToString(deterministic=True)) for a in self.proto.attribute
        )
        return (self.op, self.domain, self.version, tuple(attributes), len(self.outputs))

    @property
    def captured(self) -> tuple[str, ...]:
        """The names of outer values that its subgraphs may use."""
        found: dict[str, None] = {}
        for graph in _subgraphs(self.proto):
            for node in graph.node:
                found.update(dict.fromkeys(node.input))
            found.update(dict.fromkeys(o.name for o in graph.output))
        return tuple(sorted(n for n in found if n))

    @property
    def draws(self) -> bool:
        """Whether it, or a node of its subgraphs, may draw at random."""
        inner = (node for graph in _subgraphs(self.proto) for node in graph.node)
        return any(map(_draws, (self.proto, *inner)))


@dataclass(frozen=True)
class Input:
    """A declared input: its type, and its dims as sizes, names or None (no dims: None)."""

    name: str
    dtype: str
    dims: tuple[int | str | None, ...] | None


@dataclass(frozen=True)
class Graph:
    """A model: its inputs, constants, nodes in order, and the names of its outputs.

    ``defaults`` are values of the inputs that a caller may omit.
    """

    inputs: tuple[Input, ...]
    defaults: dict[str, tuple[np.ndarray, str]]
    constants: dict[str, tuple[np.ndarray, str]]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]


def dtype_name(element: int) -> str:
    """Return the name of an element type."""
    if element == onnx.TensorProto.STRING:
        return "string"
    return str(onnx.helper.tensor_dtype_to_np_dtype(element).name)


def read(model: onnx.ModelProto) -> Graph:
    """Return a model as the judge reads it; UnsupportedError if that is impossible."""
    graph = _flat(model).graph
    if graph.sparse_initializer:
        raise UnsupportedError("sparse initializers")
    versions = {o.domain: o.version for o in model.opset_import}
    data = {i.name: (_array(i), dtype_name(i.data_type)) for i in graph.initializer}
    fixed = set(data) if model.ir_version < _DEFAULTS_SINCE else set()
    inputs = tuple(_input(i) for i in graph.input if i.name not in fixed)
    given = {i.name for i in inputs}
    return Graph(
        inputs,
        {name: d for name, d in data.items() if name in given},
        {name: d for name, d in data.items() if name not in given},
        tuple(node_of(n, versions) for n in graph.node),
        tuple(o.name for o in graph.output),
    )


def _flat(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model without functions; UnsupportedError if a call may mean an operator.

    A node of the default domain always means the operator, even if a function has its name. In
    another domain in which a runtime has operators, it may mean either.
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
    """Return the graphs within a node, and those within their nodes."""
    own = [a.g for a in node.attribute if a.HasField("g")]
    own += [graph for a in node.attribute for graph in a.graphs]
    return own + [deeper for graph in own for n in graph.node for deeper in _subgraphs(n)]


def _draws(node: onnx.NodeProto) -> bool:
    trains = node.op_type == "Dropout" and len(node.input) > 2 and node.input[2] != ""
    return node.domain in _STANDARD and (trains or node.op_type in _RANDOM)


def constant_of(node: Node) -> tuple[np.ndarray, str] | None:
    """Return the value of a Constant node."""
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

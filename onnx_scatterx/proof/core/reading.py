"""Reads a model as a list of nodes, with its local functions inlined, by the package onnx alone.

If ONNX and ONNX Runtime may read a model in different ways, the model is refused with the reason.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx

from onnx_scatterx.proof.core.functions import (
    STANDARD,
    is_scatterx,
    nameless,
    replaced,
    subgraphs,
    subgraphs_of,
    without_functions,
)
from onnx_scatterx.proof.core.lookups import Contents, contents
from onnx_scatterx.proof.core.terms import UnsupportedError
from onnx_scatterx.proof.core.types import dtype_name


@dataclass(frozen=True)
class Placed:
    """A ModelProto, and the directory of its external data (None: not known)."""

    message: onnx.ModelProto
    directory: Path | None


Source: TypeAlias = "str | os.PathLike[str] | onnx.ModelProto | Placed"

_SMALL = 4096  # elements of constants from which sizes may be computed
_DEFAULTS_SINCE = 4  # the version of the format in which an initializer may also be an input
_FLAGS = {"allowzero", "exclusive", "fmod", "keepdims", "noop_with_empty_axes", "reverse"}
_RANDOM = {"Bernoulli", "Multinomial"}
_RANDOM |= {f"Random{kind}{like}" for kind in ("Normal", "Uniform") for like in ("", "Like")}
_RANDOM_IN_RUNTIME = {"BiasDropout", "BitmaskBiasDropout", "BitmaskDropout", "Sampling"}


@dataclass(frozen=True)
class Node:
    """One node: its operation, and the names of its values ("" for an absent value).

    ``kind`` is the operation without names. Nodes of one kind compute the same function of their
    inputs and of the values that their subgraphs ``captured``. ``flavour`` are the attributes.
    """

    op: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any] = field(hash=False)
    version: int
    versions: Mapping[str, int] = field(default_factory=dict, hash=False)
    kind: tuple[Any, ...] = ()
    flavour: tuple[Any, ...] = ()
    captured: tuple[str, ...] = ()
    draws: bool = False
    proto: onnx.NodeProto = field(default_factory=onnx.NodeProto, hash=False, repr=False)

    @property
    def standard(self) -> bool:
        """Whether the node is of an operator of ONNX."""
        return self.domain == ""

    @property
    def scatterx(self) -> bool:
        """Whether the node is a ScatterX."""
        return self.op == "ScatterX" and is_scatterx(self.domain)

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute."""
        return self.attributes.get(name, default)


@dataclass(frozen=True)
class Declared:
    """The type and dims that a model states of a value; ``dims`` is None if no shape is stated."""

    name: str
    dtype: str
    dims: tuple[int | str | None, ...] | None


@dataclass(frozen=True)
class Graph:
    """A model: its inputs, constants, nodes in order, and the names of its outputs.

    ``defaults`` are values of the inputs that a caller may omit. ``declared`` are the types that
    the model states of its inner values and outputs. ``replaced`` says whether the model has
    fallbacks of ScatterX. ``skeleton`` is the model as a message, with inputs instead of large
    constants.
    """

    inputs: tuple[Declared, ...]
    defaults: dict[str, Contents]
    constants: dict[str, Contents]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    declared: tuple[Declared, ...]
    replaced: bool
    skeleton: onnx.ModelProto = field(repr=False)


def read(source: Source, fallback: bool = False) -> Graph:
    """Return a model as a `Graph`; UnsupportedError if the judge cannot read it.

    With ``fallback``, a ScatterX that has a fallback means the fallback; otherwise the kernel.
    """
    beside = None
    if isinstance(source, Placed):
        source, beside = source.message, source.directory
    elif not isinstance(source, onnx.ModelProto):
        beside = Path(source).parent
        try:
            source = onnx.load(source, load_external_data=False)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise UnsupportedError(f"{source} cannot be read as ONNX") from error
    versions = _versions(source.opset_import)
    for function in source.functions:
        _versions(function.opset_import)
    model = without_functions(source, fallback)
    graph = model.graph
    _check_names(graph, frozenset())
    data = {i.name: contents(i, beside) for i in graph.initializer}
    fixed = set(data) if model.ir_version < _DEFAULTS_SINCE else set()
    inputs = tuple(declared(i) for i in graph.input if i.name not in fixed)
    names = {i.name for i in inputs}
    return Graph(
        inputs,
        {name: d for name, d in data.items() if name in names},
        {name: d for name, d in data.items() if name not in names},
        tuple(node_of(n, versions) for n in graph.node),
        tuple(o.name for o in graph.output),
        tuple(declared(v) for v in (*graph.value_info, *graph.output)),
        any(map(replaced, source.functions)) and not fallback,
        _skeleton(model, data, [] if fallback else [f for f in source.functions if replaced(f)]),
    )


def _skeleton(
    model: onnx.ModelProto,
    data: Mapping[str, Contents],
    functions: Iterable[onnx.FunctionProto],
) -> onnx.ModelProto:
    """Change a model to its skeleton with these functions, and return it."""
    stored = list(model.graph.initializer)
    del model.graph.initializer[:]
    inputs = {i.name for i in model.graph.input}
    for tensor in stored:
        array = data[tensor.name].array
        if array is None or array.size > _SMALL:
            kind = onnx.helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
            if tensor.name not in inputs:
                model.graph.input.add(name=tensor.name, type=kind)
        elif tensor.data_location == onnx.TensorProto.EXTERNAL:
            model.graph.initializer.append(onnx.numpy_helper.from_array(array, tensor.name))
        else:
            model.graph.initializer.append(tensor)
    model.functions.extend(functions)
    return model


def _check_names(graph: onnx.GraphProto, outside: frozenset[str]) -> None:
    """Raise UnsupportedError if a name means two values, in a graph or in the graphs around it.

    ONNX Runtime may read a constant from outside instead of a subgraph's value of the same name.
    """
    stored = [i.name for i in graph.initializer]
    made = [name for node in graph.node for name in node.output if name]
    inputs = {i.name for i in graph.input}
    own = frozenset([*stored, *made, *inputs])
    if len({*stored, *made}) < len(stored) + len(made) or inputs & set(made):
        raise UnsupportedError("two values of one name")
    if len(inputs) < len(graph.input):
        raise UnsupportedError("two inputs of one name")
    if own & outside:
        raise UnsupportedError("a value within a subgraph that has the name of one around it")
    if graph.sparse_initializer:
        raise UnsupportedError("sparse initializers")
    for inner in (inner for node in graph.node for inner in subgraphs_of(node)):
        _check_names(inner, own | outside)


def _versions(imports: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """Return the version of each operator set; UnsupportedError if a set is named twice."""
    versions: dict[str, int] = {}
    for one in imports:
        domain = "" if one.domain in STANDARD else one.domain
        if domain in versions:
            what = f"the operator set {domain or 'ai.onnx'!r} twice"
            raise UnsupportedError(f"the model names {what}")
        versions[domain] = one.version
    return versions


def node_of(proto: onnx.NodeProto, versions: Mapping[str, int]) -> Node:
    """Return a node, given the version of each operator set."""
    domain = "" if proto.domain in STANDARD else proto.domain
    version = versions.get(domain, 0)
    if domain == "" and not version:
        raise UnsupportedError("no version of ONNX's operators is named")
    attributes = {
        a.name: onnx.helper.get_attribute_value(a) for a in proto.attribute if not a.ref_attr_name
    }
    captured: dict[str, str] = {}
    ordered = sorted(proto.attribute, key=lambda a: a.name)
    flavour = tuple([(a.name, nameless(a, captured)) for a in ordered])
    inner = [node for graph in subgraphs(proto) for node in graph.node]
    since = tuple([_since(n, versions) for n in (proto, *inner)])
    for n in (proto, *inner):
        if any(a.name in _FLAGS and a.i not in (0, 1) for a in n.attribute):
            raise UnsupportedError(f"{n.op_type} with a flag that is neither 0 nor 1")
    if any(t.data_location == onnx.TensorProto.EXTERNAL for t in _tensors(proto)):
        raise UnsupportedError("external data of an attribute, or within a subgraph")
    if any(a.ref_attr_name for n in (proto, *inner) for a in n.attribute):
        raise UnsupportedError(f"{proto.op_type} with the attribute of a function, outside of it")
    if any(is_scatterx(node.domain) for node in inner):
        raise UnsupportedError("ScatterX within a subgraph")
    return Node(
        proto.op_type,
        domain,
        tuple(proto.input),
        tuple(proto.output),
        attributes,
        version,
        versions,
        (proto.op_type, domain, since, flavour, tuple(map(bool, proto.output))),
        flavour,
        tuple(captured),
        any(map(_draws, (proto, *inner))),
        proto,
    )


def _since(proto: onnx.NodeProto, versions: Mapping[str, int]) -> int:
    """Return the first version of the operator set with the present meaning of an operator."""
    domain = "" if proto.domain in STANDARD else proto.domain
    version = versions.get(domain, 0)
    try:
        return int(onnx.defs.get_schema(proto.op_type, version, domain).since_version)
    except onnx.defs.SchemaError:
        return version


def declared(value: onnx.ValueInfoProto) -> Declared:
    """Return the stated type and dims of a value."""
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        return Declared(value.name, str(kind), None)
    tensor = value.type.tensor_type
    dims: tuple[int | str | None, ...] | None = None
    if tensor.HasField("shape"):
        dims = tuple(_dim(d) for d in tensor.shape.dim)
    if not tensor.elem_type:
        return Declared(value.name, "", dims)
    return Declared(value.name, dtype_name(tensor.elem_type), dims)


def _dim(dim: onnx.TensorShapeProto.Dimension) -> int | str | None:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return int(dim.dim_value)
    return dim.dim_param or None


def _tensors(node: onnx.NodeProto) -> Iterable[onnx.TensorProto]:
    """Yield the tensors within a node, also those in its subgraphs."""
    graphs = subgraphs(node)
    for one in (node, *(n for graph in graphs for n in graph.node)):
        for attribute in one.attribute:
            yield from (attribute.t, *attribute.tensors)
    for graph in graphs:
        yield from graph.initializer


def _draws(node: onnx.NodeProto) -> bool:
    trains = node.op_type == "Dropout" and len(node.input) > 2 and node.input[2] != ""
    if node.domain == "com.microsoft":
        return node.op_type in _RANDOM_IN_RUNTIME
    return node.domain in STANDARD and (trains or node.op_type in _RANDOM)


_LITERALS = {
    **dict.fromkeys(("value_int", "value_ints"), "int64"),
    **dict.fromkeys(("value_float", "value_floats"), "float32"),
}


def constant_of(node: Node) -> Contents | None:
    """Return the value of a Constant node; None for other nodes."""
    if node.op != "Constant" or not node.standard:
        return None
    if "value" in node.attributes:
        return contents(node.attributes["value"])
    for name, dtype in _LITERALS.items():
        if name in node.attributes:
            return Contents.of(np.array(node.attributes[name], dtype), dtype)
    return None

"""A model as a list of nodes, with its local functions inlined. The file is read by onnx alone.

What ONNX and ONNX Runtime may read in two ways is refused, with the reason.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx
from onnx import inliner

from onnx_scatterx.judges.equivalence.core.lookups import Contents, contents, dtype_name
from onnx_scatterx.judges.equivalence.core.terms import UnsupportedError

Source: TypeAlias = "str | os.PathLike[str] | onnx.ModelProto"

SCATTERX = "onnx_scatterx"
"""The domain of ScatterX; the second to the eighth are followed by their number."""

_STANDARD = ("", "ai.onnx")
_RUNTIMES = ("ai.onnx", "com.microsoft", "com.ms", "org.pytorch")
_DEFAULTS_SINCE = 4  # the version of the format in which an initializer may also be an input
_FLAGS = {"allowzero", "exclusive", "fmod", "keepdims", "noop_with_empty_axes", "reverse"}
_RANDOM = {"Bernoulli", "Multinomial"}
_RANDOM |= {f"Random{kind}{like}" for kind in ("Normal", "Uniform") for like in ("", "Like")}


@dataclass(frozen=True)
class Node:
    """One node: its operation, and its values by their names ("" for an absent one).

    ``kind`` is its operation without its names: equal for nodes that compute the same function of
    their inputs and of the values that their subgraphs ``captured``. ``flavour`` is its attributes.
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
        """Whether it is one of ONNX's own operators."""
        return self.domain == ""

    @property
    def scatterx(self) -> bool:
        """Whether it is a ScatterX."""
        return self.op == "ScatterX" and is_scatterx(self.domain)

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute."""
        return self.attributes.get(name, default)


@dataclass(frozen=True)
class Declared:
    """A type that a model states: its dims as sizes, names or None (no dims: None)."""

    name: str
    dtype: str
    dims: tuple[int | str | None, ...] | None


@dataclass(frozen=True)
class Graph:
    """A model: its inputs, constants, nodes in order, and the names of its outputs.

    ``defaults`` are values of the inputs that a caller may omit. ``declared`` are the types that
    the model states of its inner values and outputs. ``bodies`` are the functions that run in the
    place of ScatterX if the library is not there: the names of inputs and outputs, and the nodes.
    """

    inputs: tuple[Declared, ...]
    defaults: dict[str, Contents]
    constants: dict[str, Contents]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    declared: tuple[Declared, ...]
    bodies: dict[str, Body]


@dataclass(frozen=True)
class Body:
    """A function: the names of its inputs and of its output, and its nodes."""

    inputs: tuple[str, ...]
    output: str
    nodes: tuple[Node, ...]


def is_scatterx(domain: str) -> bool:
    """Return whether a domain is one of ScatterX's."""
    return domain in (SCATTERX, *(f"{SCATTERX}.{number}" for number in range(2, 9)))


def read(source: Source, beside: Path | None = None) -> Graph:
    """Return a model as the judge reads it; UnsupportedError if that is impossible.

    External data of a message are looked for in the directory ``beside``.
    """
    if not isinstance(source, onnx.ModelProto):
        beside = Path(source).parent
        try:
            source = onnx.load(source, load_external_data=False)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise UnsupportedError(f"{source} cannot be read as ONNX") from error
    return _graph(source, beside)


def _graph(model: onnx.ModelProto, beside: Path | None) -> Graph:
    versions = _versions(model.opset_import, "the model")
    bodies = {f.domain: _body(f) for f in model.functions if _replaced(f)}
    model = _flat(model)
    graph = model.graph
    for one in (graph, *(inner for node in graph.node for inner in _subgraphs(node))):
        named = [i.name for i in one.initializer]
        named += [name for node in one.node for name in node.output if name]
        if len(set(named)) < len(named):
            raise UnsupportedError("two values of one name")
    if graph.sparse_initializer:
        raise UnsupportedError("sparse initializers")
    data = {i.name: contents(i, beside) for i in graph.initializer}
    fixed = set(data) if model.ir_version < _DEFAULTS_SINCE else set()
    inputs = tuple(declared(i) for i in graph.input if i.name not in fixed)
    given = {i.name for i in inputs}
    return Graph(
        inputs,
        {name: d for name, d in data.items() if name in given},
        {name: d for name, d in data.items() if name not in given},
        tuple(node_of(n, versions) for n in graph.node),
        tuple(o.name for o in graph.output),
        tuple(declared(v) for v in (*graph.value_info, *graph.output)),
        bodies,
    )


def _versions(imports: Iterable[onnx.OperatorSetIdProto], what: str) -> dict[str, int]:
    """Return the version of each operator set; UnsupportedError if one is named twice."""
    found: dict[str, int] = {}
    for one in imports:
        domain = "" if one.domain in _STANDARD else one.domain
        if domain in found:
            raise UnsupportedError(f"{what} names the operator set {domain or 'ai.onnx'!r} twice")
        found[domain] = one.version
    return found


def _replaced(function: onnx.FunctionProto) -> bool:
    """Return whether the kernel of ScatterX runs in the place of a function."""
    return function.name == "ScatterX" and is_scatterx(function.domain)


def _body(function: onnx.FunctionProto) -> Body:
    versions = _versions(function.opset_import, "a function")
    if (
        len(function.output) != 1
        or function.overload
        or any(a.ref_attr_name for n in function.node for a in n.attribute)
    ):
        raise UnsupportedError("a ScatterX function that reads attributes")
    if any(is_scatterx(n.domain) for n in function.node):
        raise UnsupportedError("a ScatterX function that calls another")
    nodes = tuple(node_of(n, versions) for n in function.node)
    return Body(tuple(function.input), function.output[0], nodes)


def _flat(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model without functions; UnsupportedError if a call may mean several things.

    A node of the default domain always means the operator, even if a function has its name. In
    another domain in which a runtime has operators, it may mean either. Defaults of attributes are
    lost when functions are inlined. The functions of ScatterX are left out, not inlined.
    """
    flat = onnx.ModelProto()
    flat.CopyFrom(model)
    del flat.functions[:]
    flat.functions.extend(
        f for f in model.functions if f.domain not in _STANDARD and not _replaced(f)
    )
    for function in flat.functions:
        name = f"the function {function.domain}.{function.name}"
        if any(f"{function.domain}.".startswith(f"{own}.") for own in _RUNTIMES):
            raise UnsupportedError(f"{name}, which a runtime may take for an operator of its own")
        if function.attribute_proto:
            raise UnsupportedError(f"{name} has defaults of attributes")
    if not flat.functions:
        return flat
    called = {(f.domain, f.name) for f in flat.functions}
    try:
        flat = inliner.inline_local_functions(flat)
    except (RuntimeError, onnx.checker.ValidationError) as error:
        raise UnsupportedError("functions that cannot be inlined") from error
    inner = (n for node in flat.graph.node for graph in _subgraphs(node) for n in graph.node)
    for node in (*flat.graph.node, *inner):
        if (node.domain, node.op_type) in called:
            what = f"the function {node.domain}.{node.op_type}"
            raise UnsupportedError(f"{what}, which cannot be inlined")
    return flat


def node_of(proto: onnx.NodeProto, versions: Mapping[str, int]) -> Node:
    """Return a node, given the version of each operator set."""
    domain = "" if proto.domain in _STANDARD else proto.domain
    version = versions.get(domain, 0)
    if domain == "" and not version:
        raise UnsupportedError("no version of ONNX's operators is named")
    attributes = {
        a.name: onnx.helper.get_attribute_value(a) for a in proto.attribute if not a.ref_attr_name
    }
    captured: dict[str, str] = {}
    ordered = sorted(proto.attribute, key=lambda a: a.name)
    flavour = tuple([(a.name, _nameless(a, captured)) for a in ordered])
    inner = [node for graph in _subgraphs(proto) for node in graph.node]
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
        (proto.op_type, domain, since, flavour, len(proto.output)),
        flavour,
        tuple(captured),
        any(map(_draws, (proto, *inner))),
        proto,
    )


def _since(proto: onnx.NodeProto, versions: Mapping[str, int]) -> int:
    """Return the version of the operator set in which an operator became what it is."""
    domain = "" if proto.domain in _STANDARD else proto.domain
    version = versions.get(domain, 0)
    try:
        return int(onnx.defs.get_schema(proto.op_type, version, domain).since_version)
    except onnx.defs.SchemaError:
        return version


def _nameless(attribute: onnx.AttributeProto, captured: dict[str, str]) -> bytes:
    """Return an attribute as bytes, in which the values of subgraphs have numbers for names.

    The values that the subgraphs read from outside are added to ``captured``.
    """
    plain = onnx.AttributeProto()
    plain.CopyFrom(attribute)
    plain.doc_string = ""
    for graph in _bodies(plain):
        _rename(graph, {}, captured)
    return bytes(plain.SerializeToString(deterministic=True))


def _rename(graph: onnx.GraphProto, outer: dict[str, str], captured: dict[str, str]) -> None:
    names = dict(outer)

    def new(name: str) -> str:
        return names.setdefault(name, f"inner {len(names)}") if name else ""

    def old(name: str) -> str:
        if not name or name in names:
            return names.get(name, "")
        return captured.setdefault(name, f"outer {len(captured)}")

    graph.name = graph.doc_string = ""
    for value in (*graph.input, *graph.initializer):
        value.name = new(value.name)
    for node in graph.node:
        node.name = node.doc_string = ""
        del node.metadata_props[:]
        node.input[:] = [old(n) for n in node.input]
        for attribute in node.attribute:
            for inner in _bodies(attribute):
                _rename(inner, names, captured)
        node.output[:] = [new(n) for n in node.output]
    for value in (*graph.output, *graph.value_info):
        value.name = old(value.name)
    ordered = sorted(graph.value_info, key=lambda v: v.name)
    del graph.value_info[:]
    graph.value_info.extend(ordered)


def declared(value: onnx.ValueInfoProto) -> Declared:
    """Return a stated type."""
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


def _bodies(attribute: onnx.AttributeProto) -> list[onnx.GraphProto]:
    return [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]


def _subgraphs(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """Return the graphs within a node, and those within their nodes."""
    own = [graph for a in node.attribute for graph in _bodies(a)]
    return own + [deeper for graph in own for n in graph.node for deeper in _subgraphs(n)]


def _tensors(node: onnx.NodeProto) -> Iterable[onnx.TensorProto]:
    """Yield the tensors within a node, those of its subgraphs included."""
    graphs = _subgraphs(node)
    for one in (node, *(n for graph in graphs for n in graph.node)):
        for attribute in one.attribute:
            yield from (attribute.t, *attribute.tensors)
    for graph in graphs:
        yield from graph.initializer


def _draws(node: onnx.NodeProto) -> bool:
    trains = node.op_type == "Dropout" and len(node.input) > 2 and node.input[2] != ""
    return node.domain in _STANDARD and (trains or node.op_type in _RANDOM)


def constant_of(node: Node) -> Contents | None:
    """Return the value of a Constant node."""
    if node.op != "Constant" or not node.standard:
        return None
    if "value" in node.attributes:
        return contents(node.attributes["value"])
    for name in ("value_int", "value_ints"):
        if name in node.attributes:
            return Contents.of(np.array(node.attributes[name], np.int64), "int64")
    for name in ("value_float", "value_floats"):
        if name in node.attributes:
            return Contents.of(np.array(node.attributes[name], np.float32), "float32")
    return None

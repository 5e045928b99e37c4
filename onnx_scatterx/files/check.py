"""Checks whether a model is valid ONNX, in linear time and without copying its weights.

`onnx.checker` checks nodes, attributes and names, on a copy of the model in which large tensors are
empty. Some faults are mended in the copy first, because runtimes accept them and the checker does
not: an unnamed graph, an output without a declared shape or type, an initializer that is not an
input in IR version 3, functions of another opset, functions that are never called, operators of
ONNX Runtime in the standard domain, and its own domain without an import.

Other faults stay errors although ONNX Runtime accepts them, because what they mean is not certain:
two initializers of one name, two inputs of one name in a function, a tensor with its numbers in two
fields, an initializer without a name or of negative dims, and a node of `ai.onnx.ml` without an
import, which has the newest version that a runtime knows.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import onnx

from onnx_scatterx.errors import ModelError, ScatterXError, one_line
from onnx_scatterx.files.held_nodes import HEAVY, HEAVY_GRAPHS, HeldNode, bodies, may_have_bodies

OLDEST_OPSET = 9

BEYOND_ONNX = {
    "GroupNormalization": range(18, 21),  # of one scale for a group; ONNX calls it deprecated
    "LayerNormalization": range(17),
    "SimplifiedLayerNormalization": range(sys.maxsize),
}
"""Operators that ONNX Runtime has in the standard domain, in sets in which ONNX has none of them.

Its own optimizer writes the last two.
"""

_MICROSOFT = "com.microsoft"  # a domain of one version

_RUNTIME = "onnx_scatterx.runtime.session"  # a domain for operators that the checker must not know
_OWN = onnx.OperatorSetIdProto(domain=_RUNTIME, version=1)


def check_valid(proto: onnx.ModelProto, what: str) -> None:
    """Raise `ModelError` if the model is not valid ONNX, or of an opset that is not supported.

    Nodes must be in topological order; `free_names` says whether they are. Messages begin with
    `what`.
    """
    try:
        onnx.checker.check_model(skeleton(proto), skip_opset_compatibility_check=True)
    except (onnx.checker.ValidationError, ValueError) as error:
        raise ModelError(f"{what}: the graph is invalid: {one_line(error)}") from error


def check_versions(proto: onnx.ModelProto, what: str) -> None:
    """Raise `ModelError` if the message is not a model, or its IR version or opset is not known."""
    if not proto.HasField("graph") or proto.ir_version == 0:
        missing = "graph" if proto.ir_version else "IR version"
        raise ModelError(f"{what}: not an ONNX model, or a truncated one: it has no {missing}")
    if proto.ir_version > onnx.IR_VERSION:
        raise ModelError(
            f"{what}: IR version {proto.ir_version} is newer than {onnx.IR_VERSION}, the newest "
            f"that onnx {onnx.__version__} knows; update onnx"
        )
    newest = onnx.defs.onnx_opset_version()
    for opset in proto.opset_import:
        if opset.domain not in ("", "ai.onnx"):
            continue
        if opset.version < OLDEST_OPSET:
            raise ModelError(
                f"{what}: opset {opset.version} is not supported, Scatter begins with opset "
                f"{OLDEST_OPSET}; raise it with onnx.version_converter"
            )
        if opset.version > newest:
            raise ModelError(
                f"{what}: opset {opset.version} is newer than {newest}, the newest that "
                f"onnx {onnx.__version__} knows; update onnx"
            )


def check_opset(version: int) -> None:
    """Raise ScatterXError for an operator set that onnx does not know, or that is not supported."""
    newest = onnx.defs.onnx_opset_version()
    if not OLDEST_OPSET <= version <= newest:
        raise ScatterXError(f"operator set {version}: onnx knows {OLDEST_OPSET} to {newest}")


def free_names(graph: onnx.GraphProto | onnx.FunctionProto, unsorted: list[str]) -> set[str]:
    """Return the names that a graph and its subgraphs read but do not define.

    If a node reads a name before another node defines it, the name is appended to `unsorted`.
    """
    if isinstance(graph, onnx.FunctionProto):
        defined = set(graph.input)
        results = list(graph.output)
    else:
        defined = {value.name for value in graph.input}
        defined.update(tensor.name for tensor in graph.initializer)
        defined.update(sparse.values.name for sparse in graph.sparse_initializer)
        results = [value.name for value in graph.output]
    nodes = [(node, node.output[:]) for node in graph.node[:]]
    anywhere = defined.union(*(outputs for _, outputs in nodes))
    defined.add("")  # the name of an absent input
    free: set[str] = set()
    for node, outputs in nodes:
        reads = set(node.input[:])
        for body in bodies(node):
            reads |= free_names(body, unsorted)
        missing = reads - defined
        unsorted.extend(missing & anywhere)
        free |= missing - anywhere
        defined.update(outputs)
    return free | (set(results) - anywhere)


def check_bodies(nodes: Iterable[HeldNode], what: str) -> None:
    """Raise `ModelError` if a subgraph does not fit its node, or if a reference is wrong.

    A node outside of a function must not refer to an attribute of a function. A Split must not be
    of far more outputs than it has: ONNX's shape inference makes a list of all. `onnx.checker`
    checks none of the three.
    """
    for node, _, in_function, attributes, inner in nodes:
        if node.op_type == "Split" and _parts(attributes) > max(_MOST_PARTS, len(node.output)):
            has = f"has {len(node.output)} outputs, and num_outputs = {_parts(attributes)}"
            raise ModelError(f"{what}: the graph is invalid: {_name(node)} {has}")
        if in_function and node.domain == "" and not may_have_bodies(node.op_type):
            continue
        for attribute in attributes:
            named = attribute.ref_attr_name
            if named and (not in_function or attribute.type in HEAVY_GRAPHS):
                why = f"{_name(node)} refers to the attribute {named!r} of a function"
                raise ModelError(f"{what}: the graph is invalid: {why}")
        for body in inner:
            if node.domain == "" and not _fits(node, body):
                has = f"{len(body.input)} inputs and {len(body.output)} outputs"
                why = f"a subgraph of {_name(node)} has {has}"
                raise ModelError(f"{what}: the graph is invalid: {why}")


def _name(node: onnx.NodeProto) -> str:
    return node.name or node.op_type


_MOST_PARTS = 1 << 16


def _parts(attributes: Iterable[onnx.AttributeProto]) -> int:
    """Return how many outputs a Split says that it has."""
    return max((a.i for a in attributes if a.name == "num_outputs"), default=0)


def _fits(node: onnx.NodeProto, body: onnx.GraphProto) -> bool:
    """Return whether the numbers of a subgraph's inputs and outputs fit its node."""
    read, results = len(node.input), len(node.output)
    if node.op_type == "If":
        return not body.input and len(body.output) == results
    if node.op_type == "Loop":  # iterations, condition, states
        states = max(read, 2) - 2
        return len(body.input) == states + 2 and len(body.output) > max(results, states)
    if node.op_type == "Scan":
        return len(body.input) == read and len(body.output) >= results
    return True


_ABSENT = "onnx_scatterx.absent"
_AT_ONCE = 256  # nodes that are copied in one step
_LARGE = 1 << 14  # a tensor with more elements is not copied


def skeleton(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy without weights, in which faults that runtimes accept are mended."""
    copy = onnx.ModelProto(
        ir_version=max(proto.ir_version, 4),  # since 4 an initializer need not be an input
        opset_import=[*proto.opset_import, _OWN],
    )
    if all(opset.domain != _MICROSOFT for opset in proto.opset_import):
        copy.opset_import.add(domain=_MICROSOFT, version=1)
    graph = copy.graph
    graph.name = proto.graph.name
    graph.input.extend(proto.graph.input)
    graph.output.extend(proto.graph.output)
    graph.sparse_initializer.extend(proto.graph.sparse_initializer)
    for tensor in proto.graph.initializer:
        graph.initializer.add(name=tensor.name, data_type=tensor.data_type, dims=[0])
    version = _standard(proto.opset_import)
    _copy_nodes(proto.graph.node, graph.node, version)
    _complete(graph)
    for value in (*copy.graph.input, *copy.graph.output):
        if value.type.HasField("tensor_type") and not value.type.tensor_type.HasField("shape"):
            value.type.tensor_type.shape.SetInParent()
    for value in copy.graph.output:
        if value.type.WhichOneof("value") is None:
            value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
            value.type.tensor_type.shape.SetInParent()
    for function in _called(proto):
        version = _standard(function.opset_import)
        made = copy.functions.add(
            name=function.name,
            domain=function.domain,
            overload=function.overload,
            input=function.input,
            output=function.output,
            attribute=function.attribute,
            attribute_proto=function.attribute_proto,
            opset_import=[*function.opset_import, _OWN],
        )
        for attribute in made.attribute_proto:
            _empty(attribute, version)
        _copy_nodes(function.node, made.node, version)
    return copy


def _complete(graph: onnx.GraphProto) -> None:
    """Name a copied graph, and add the input that stands for absent inputs."""
    graph.name = graph.name or "graph"
    absent = graph.input.add(name=_ABSENT)
    absent.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    absent.type.tensor_type.shape.SetInParent()


def _standard(imports: Iterable[onnx.OperatorSetIdProto]) -> int:
    """Return the version of the standard operator set; 0 if none is imported."""
    return max((o.version for o in imports if o.domain in ("", "ai.onnx")), default=0)


def _called(proto: onnx.ModelProto) -> list[onnx.FunctionProto]:
    """Return the functions that the graph calls, also in functions and subgraphs.

    An overload is one function more with the name.
    """
    named: dict[tuple[str, str], list[int]] = {}
    for i, function in enumerate(proto.functions):
        named.setdefault((function.domain, function.name), []).append(i)
    found: set[int] = set()
    waiting = [proto.graph.node] if named else []
    while waiting:
        for node in waiting.pop():
            called = [i for i in named.get((node.domain, node.op_type), ()) if i not in found]
            found.update(called)
            waiting += [proto.functions[i].node for i in called]
            waiting += [body.node for body in bodies(node)]
    return [proto.functions[i] for i in sorted(found)]


def _copy_nodes(nodes: Sequence[onnx.NodeProto], copies: Any, version: int) -> None:
    """Copy nodes, a few at a time: small tensors are copied, too, and emptied in the copy."""
    for start in range(0, len(nodes), _AT_ONCE):
        some = nodes[start : start + _AT_ONCE]
        if not any(map(holds_large, some)):
            copies.extend(some)
        else:
            for node in some:
                _copy(node, copies.add())
        for copy in copies[start:]:
            _prepare_node(copy, version)


def is_large(elements: int) -> bool:
    """Return whether a tensor of so many elements is so large that it should not be copied."""
    return elements > _LARGE


def holds_large(node: onnx.NodeProto) -> bool:
    """Return whether an attribute of a node has a large tensor."""
    return any(
        is_large(math.prod(tensor.dims[:]))
        for attribute in node.attribute[:]
        if attribute.type in HEAVY
        for tensor in (attribute.t, *attribute.tensors[:])
    )


def _copy(message: Any, copy: Any) -> None:
    """Copy a node or attribute without the numbers of its tensors."""
    for field, value in message.ListFields():
        kind = field.message_type
        several = value if hasattr(value, "extend") else [value]
        if kind is None and several is not value:
            setattr(copy, field.name, value)
        elif kind is None or kind.name not in ("AttributeProto", "TensorProto"):
            getattr(copy, field.name).MergeFrom(value)
        else:
            there = getattr(copy, field.name)
            for one in several:
                other = there.add() if several is value else there
                if kind.name == "TensorProto":
                    other.name, other.data_type = one.name, one.data_type
                else:
                    _copy(one, other)


def _prepare_node(copy: onnx.NodeProto, version: int) -> None:
    """Empty the tensors of a copied node, and mend faults that runtimes accept."""
    if copy.domain == "":
        if "" in copy.input[:]:
            _name_absent_inputs(copy)
        if version in BEYOND_ONNX.get(copy.op_type, ()):
            copy.domain = _RUNTIME
    elif copy.domain == "ai.onnx":  # runtimes also know this name of the standard domain
        copy.domain = ""
    for attribute in copy.attribute[:]:
        if attribute.type in HEAVY:
            _empty(attribute, version)


def _name_absent_inputs(node: onnx.NodeProto) -> None:
    """Name the absent inputs that an operator requires, in the copy.

    Failed exports leave such inputs empty. The runtime reports this.
    """
    if not onnx.defs.has(node.op_type, node.domain):
        return
    formal = onnx.defs.get_schema(node.op_type, domain=node.domain).inputs
    for i, (name, parameter) in enumerate(zip(node.input, formal, strict=False)):
        if not name and parameter.option == onnx.defs.OpSchema.FormalParameterOption.Single:
            node.input[i] = _ABSENT


def _empty(attribute: onnx.AttributeProto, version: int) -> None:
    """Empty the tensors of a copied attribute, and prepare its graphs."""
    graphs = [attribute.g] if attribute.HasField("g") else []
    tensors = [attribute.t] if attribute.HasField("t") else []
    tensors += attribute.tensors[:]
    for graph in (*graphs, *attribute.graphs[:]):
        _complete(graph)
        tensors += graph.initializer[:]
        for node in graph.node[:]:
            _prepare_node(node, version)
    for tensor in tensors:
        name, kind = tensor.name, tensor.data_type
        tensor.Clear()
        tensor.name, tensor.data_type = name, kind
        tensor.dims.append(0)

"""Whether a model is a valid ONNX model, checked in linear time and without its weights.

`onnx.checker` checks nodes, attributes and names. It checks a copy of the model in which every
tensor is empty, so that large models cost nothing. The copy also lacks what the checker rejects and
runtimes accept: an unnamed graph, an output without a declared shape or type, unsorted nodes, an
initializer that is not an input in IR version 3, functions of another opset.
"""

from collections.abc import Iterator

import onnx

from onnx_scatterx.errors import ModelError, one_line

OLDEST_OPSET = 9

HEAVY = frozenset(
    {
        onnx.AttributeProto.UNDEFINED,
        onnx.AttributeProto.TENSOR,
        onnx.AttributeProto.TENSORS,
        onnx.AttributeProto.GRAPH,
        onnx.AttributeProto.GRAPHS,
    }
)
"""Types of attributes that may hold a tensor or a graph; an attribute of another type has none.

`onnx.checker` refuses an attribute whose content differs from its type.
"""


FUSED = frozenset({"SimplifiedLayerNormalization"})
"""Operators that ONNX Runtime's own optimizer writes into the standard domain."""

_RUNTIME = "onnx_scatterx.runtime.session"  # an operator that only a runtime knows: not checked


def check(proto: onnx.ModelProto, what: str) -> None:
    """Raise `ModelError` if the model is not valid ONNX of an opset that can be handled.

    Nodes must be in topological order here (`free_names` finds out); messages begin with `what`.
    """
    try:
        onnx.checker.check_model(skeleton(proto), skip_opset_compatibility_check=True)
    except (onnx.checker.ValidationError, ValueError) as error:
        raise ModelError(f"{what}: the graph is invalid: {one_line(error)}") from error


def check_versions(proto: onnx.ModelProto, what: str) -> None:
    """Raise `ModelError` if the message is not a model, or has an unknown IR version or opset."""
    if not proto.HasField("graph") or proto.ir_version == 0:
        raise ModelError(f"{what}: not an ONNX model, or a truncated one")
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


def free_names(graph: onnx.GraphProto | onnx.FunctionProto, unsorted: list[str]) -> set[str]:
    """Return the names that a graph and its subgraphs read and do not define.

    Names that a node reads before the node that defines them are appended to `unsorted`.
    """
    if isinstance(graph, onnx.FunctionProto):
        defined = set(graph.input)
        results = list(graph.output)
    else:
        defined = {value.name for value in graph.input}
        defined.update(tensor.name for tensor in graph.initializer)
        defined.update(sparse.values.name for sparse in graph.sparse_initializer)
        results = [value.name for value in graph.output]
    anywhere = defined.union(*(node.output for node in graph.node))
    defined.add("")  # an input that is absent
    free: set[str] = set()
    for node in graph.node:
        reads = set(node.input)
        for body in bodies(node):
            reads |= free_names(body, unsorted)
        missing = reads - defined
        unsorted.extend(missing & anywhere)
        free |= missing - anywhere
        defined.update(node.output)
    return free | (set(results) - anywhere)


_ABSENT = "onnx_scatterx.absent"


def skeleton(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy without weights, with what runtimes do not need filled in for the checker."""
    copy = onnx.ModelProto(
        ir_version=max(proto.ir_version, 4),  # since 4 an initializer need not be an input
        opset_import=[*proto.opset_import, onnx.OperatorSetIdProto(domain=_RUNTIME, version=1)],
        graph=_graph_skeleton(proto.graph),
    )
    for value in (*copy.graph.input, *copy.graph.output):
        if value.type.HasField("tensor_type") and not value.type.tensor_type.HasField("shape"):
            value.type.tensor_type.shape.SetInParent()
    for value in copy.graph.output:
        if value.type.WhichOneof("value") is None:
            value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
            value.type.tensor_type.shape.SetInParent()
    for function in proto.functions:
        copy.functions.append(
            onnx.FunctionProto(
                name=function.name,
                domain=function.domain,
                overload=function.overload,
                input=function.input,
                output=function.output,
                attribute=function.attribute,
                attribute_proto=map(_attribute_skeleton, function.attribute_proto),
                opset_import=function.opset_import,
                node=map(_node_skeleton, function.node),
            )
        )
    return copy


def _graph_skeleton(graph: onnx.GraphProto) -> onnx.GraphProto:
    absent = onnx.ValueInfoProto(name=_ABSENT)
    absent.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    absent.type.tensor_type.shape.SetInParent()
    return onnx.GraphProto(
        name=graph.name or "graph",
        input=[*graph.input, absent],
        output=graph.output,
        initializer=map(_tensor_skeleton, graph.initializer),
        sparse_initializer=graph.sparse_initializer,
        node=map(_node_skeleton, graph.node),
    )


def _node_skeleton(node: onnx.NodeProto) -> onnx.NodeProto:
    if "" in node.input and node.domain == "":
        node = _with_absent_inputs(node)
    fused = node.op_type in FUSED and node.domain == ""
    if not fused and node.domain != "ai.onnx" and not any(a.type in HEAVY for a in node.attribute):
        return node
    return onnx.NodeProto(
        name=node.name,
        op_type=node.op_type,
        # Runtimes know both names of the standard domain.
        domain=_RUNTIME if fused else "" if node.domain == "ai.onnx" else node.domain,
        overload=node.overload,
        input=node.input,
        output=node.output,
        attribute=map(_attribute_skeleton, node.attribute),
    )


def _with_absent_inputs(node: onnx.NodeProto) -> onnx.NodeProto:
    """Name the absent inputs that an operator requires.

    Failed exports leave them empty. The runtime reports it, and the node is not changed.
    """
    if not onnx.defs.has(node.op_type, node.domain):
        return node
    formal = onnx.defs.get_schema(node.op_type, domain=node.domain).inputs
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    for i, (name, parameter) in enumerate(zip(node.input, formal, strict=False)):
        if not name and parameter.option == onnx.defs.OpSchema.FormalParameterOption.Single:
            copy.input[i] = _ABSENT
    return copy


def _attribute_skeleton(attribute: onnx.AttributeProto) -> onnx.AttributeProto:
    copy = onnx.AttributeProto(name=attribute.name, type=attribute.type)
    if attribute.HasField("t"):
        copy.t.CopyFrom(_tensor_skeleton(attribute.t))
    elif attribute.HasField("g"):
        copy.g.CopyFrom(_graph_skeleton(attribute.g))
    elif attribute.tensors:
        copy.tensors.extend(map(_tensor_skeleton, attribute.tensors))
    elif attribute.graphs:
        copy.graphs.extend(map(_graph_skeleton, attribute.graphs))
    else:
        return attribute
    return copy


def _tensor_skeleton(tensor: onnx.TensorProto) -> onnx.TensorProto:
    return onnx.TensorProto(name=tensor.name, data_type=tensor.data_type, dims=[0])


def bodies(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """Yield the subgraphs of a node."""
    for attribute in node.attribute:
        if attribute.type in HEAVY:
            if attribute.HasField("g"):
                yield attribute.g
            yield from attribute.graphs

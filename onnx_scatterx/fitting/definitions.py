"""Writes nodes that an older operator set lacks as ONNX defines them: by other nodes.

Gelu (x)                   20    Mul (Mul (0.5, x), Add (1, Erf (Div (x, 1.4142135))))
RMSNormalization (x, s)    23    Mul (Div (x, Sqrt (Add (ReduceMean (Mul (x, x)), 1e-5))), s)

A runtime's kernel for such a node may compute in another order, so the last bits may differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import onnx
import onnx.defs
import onnx_ir as ir

from onnx_scatterx.engine.spelling import respelled
from onnx_scatterx.fitting.known_values import KnownValues

_DOMAIN = "onnx_scatterx.definitions"  # a temporary domain, until the definitions are inlined
_LARGEST = 1 << 12  # the most elements of a constant that is folded


def write_definitions(
    model: ir.Model, nodes: Iterable[tuple[ir.Node, int]], known: KnownValues
) -> bool:
    """Write nodes as ONNX defines them, in place; return whether all of them have a definition.

    Each node comes with the version of the operator set of its graph. If the result is false, some
    of the other nodes may be written.
    """
    bodies = [(node, _body(node, version, known)) for node, version in nodes]
    made: set[ir.OperatorIdentifier] = set()
    for node, body in bodies:
        if body is None:
            return False
        body.domain, body.name = _DOMAIN, f"{node.op_type}_{len(made)}"
        function = ir.serde.deserialize_function(body)
        node.domain, node.op_type = body.domain, body.name
        model.functions[function.identifier()] = function
        made.add(function.identifier())
    from onnx_ir.passes.common import InlinePass

    try:
        InlinePass(lambda function: function.identifier() in made)(model)
    except (ir.passes.PassError, ValueError):
        return False
    model.opset_imports.pop(_DOMAIN, None)
    return True


def _body(node: ir.Node, version: int, known: KnownValues) -> onnx.FunctionProto | None:
    """Return the definition of a node in an operator set; None if there is none.

    The definition has the attributes of the node. Its parts that depend only on attributes, types
    and ranks are constants.
    """
    schema: Any = onnx.defs.get_schema(node.op_type, version, "")
    types = [_type(value, known) for value in node.inputs]
    plain = schema.function_opset_versions
    all_versions = (*plain, *schema.context_dependent_function_opset_versions)
    since = max((v for v in all_versions if v <= version), default=0)
    refers = any(attribute.is_ref() for attribute in node.attributes.values())
    if not since or refers or any(kind is None for kind in types):
        return None
    if node.op_type == "LayerNormalization" and not _spans(node, known):
        return None
    call = ir.serde.serialize_node(node)
    missing = [a for name, a in schema.attributes.items() if name not in node.attributes]
    call.attribute.extend(a.default_value for a in missing if a.default_value.type)
    body = onnx.FunctionProto()
    if since in plain:
        body.ParseFromString(schema.get_function_with_opset_version(since))
    else:
        content = call.SerializeToString()
        kinds = [kind.SerializeToString() for kind in types if kind is not None]
        build = schema.get_context_dependent_function_with_opset_version
        body.ParseFromString(build(since, content, kinds))
    if any(attribute.HasField("g") for inner in body.node for attribute in inner.attribute):
        return None
    del body.output[len(node.outputs) :]
    _fill_in(body, call)
    _name_after(body, node.outputs[0].name or node.op_type)
    _fold(body, dict(zip(body.input, types, strict=False)), version)
    del body.opset_import[:]
    body.opset_import.add(version=version)
    for inner in ir.serde.deserialize_function(body):
        if respelled(inner, since, version, known) is not None:
            return None  # a newer set changed an operator of the definition
    return body


def _spans(node: ir.Node, known: KnownValues) -> bool:
    """Return whether the scale and the bias of a LayerNormalization have all normalized axes.

    The definition makes one axis of them, so other shapes are not broadcast as by the operator.
    """
    axis = node.attributes.get_int("axis", -1)
    shape = known.shape(node.inputs[0])
    for value in node.inputs[1:]:
        dims = None if value is None else known.shape(value)
        if value is None or (axis == -1 and dims is not None and len(dims) == 1):
            continue
        if shape is None or dims is None or None in dims or shape[axis:] != dims:
            return False
    return True


def _type(value: ir.Value | None, known: KnownValues) -> onnx.TypeProto | None:
    """Return the type of an input: an empty type if the input is absent, None if not known."""
    if value is None:
        return onnx.TypeProto()
    kinds = [k.removeprefix("tensor(").removesuffix(")").upper() for k in known.types(value)]
    if len(kinds) != 1 or kinds[0] not in ir.DataType.__members__:
        return None
    return onnx.helper.make_tensor_type_proto(ir.DataType[kinds[0]].value, known.shape(value))


def _fill_in(body: onnx.FunctionProto, call: onnx.NodeProto) -> None:
    """Replace references to attributes by the attributes of a call."""
    attributes = {attribute.name: attribute for attribute in call.attribute}
    del body.attribute[:], body.attribute_proto[:]
    for node in body.node:
        if node.op_type == "Sum" and len(node.input) == 2:
            node.op_type = "Add"  # more compilers take Add
        own = list(node.attribute)
        del node.attribute[:]
        for attribute in own:
            if attribute.ref_attr_name in attributes:
                name = attribute.name
                attribute.CopyFrom(attributes[attribute.ref_attr_name])
                attribute.name = name
            if not attribute.ref_attr_name:
                node.attribute.append(attribute)


def _name_after(body: onnx.FunctionProto, prefix: str) -> None:
    """Give the values of a body names that no other body has."""
    outside = {"", *body.input, *body.output}
    for node in body.node:
        node.name = f"{prefix}/{node.output[0]}"
        for names in (node.input, node.output):
            names[:] = [name if name in outside else f"{prefix}/{name}" for name in names]


def _fold(
    body: onnx.FunctionProto, inputs: Mapping[str, onnx.TypeProto | None], version: int
) -> None:
    """Compute the nodes of a body that depend only on constants, types and ranks."""
    constants: dict[str, np.ndarray] = {}
    shapes: dict[str, onnx.TypeProto | None] = {}
    left: list[onnx.NodeProto] = []
    for node in body.node:
        first = node.input[0] if node.input else ""
        kind = inputs.get(node.input[1]) if node.op_type == "CastLike" else shapes.get(first)
        array = None
        if node.op_type == "Shape" and not node.attribute:
            shapes[node.output[0]] = inputs.get(first)
        elif node.op_type == "CastLike" and kind is not None and first in constants:
            dtype = ir.DataType(kind.tensor_type.elem_type)
            array = constants[first].astype(dtype.numpy())
        elif node.op_type == "Size" and kind is not None and kind.tensor_type.HasField("shape"):
            array = np.array(len(kind.tensor_type.shape.dim))
        elif node.op_type == "Constant" or (node.input and constants.keys() >= {*node.input}):
            array = _computed(node, constants, version)
        if array is not None and array.size <= _LARGEST:
            constants[node.output[0]] = array
        else:
            left.append(node)
    del body.node[:]
    needed = {*body.output}
    for node in reversed(left):
        if not needed.isdisjoint(node.output):
            needed.update(node.input)
            body.node.insert(0, node)
    for name in (name for name in constants if name in needed):  # the order is always the same
        tensor = onnx.numpy_helper.from_array(constants[name], name)
        body.node.insert(0, onnx.helper.make_node("Constant", [], [name], value=tensor))


def _computed(
    node: onnx.NodeProto, constants: Mapping[str, np.ndarray], version: int
) -> np.ndarray | None:
    """Return the output of a node whose inputs are constants; None if it cannot be computed."""
    from onnx.reference import ReferenceEvaluator

    if len(node.output) != 1:
        return None
    values = [onnx.numpy_helper.from_array(constants[name], name) for name in node.input]
    outputs = [onnx.ValueInfoProto(name=node.output[0])]
    graph = onnx.helper.make_graph([node], "constant", [], outputs, initializer=values)
    opset = [onnx.helper.make_opsetid("", version)]
    (output,) = ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=opset)).run(None, {})
    return np.asarray(output)

"""Finds and removes what a part of a model must not tell: weights, texts and private attributes.

A field of a message is kept only if its name is listed, so fields that are new in onnx are removed.
"""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
from google.protobuf.message import Message

from onnx_scatterx.assumptions.clauses import METADATA
from onnx_scatterx.files.data import graphs_in
from onnx_scatterx.graphs.traversal import is_scatterx_domain

_SMALL = 16  # a tensor with at most so many elements is no weight
_TEXTS = frozenset({"delimiter", "locale", "pattern", "pool_strings", "stopwords", "weights"})
_OPEN = (
    *(ir.AttributeType.INT, ir.AttributeType.FLOAT, ir.AttributeType.TYPE_PROTO),
    *(ir.AttributeType.TYPE_PROTOS, ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS),
)
_SEEN = 1 << 24  # a larger constant is a weight, even if all its elements are the same
# The types of masks, sizes and indices. A large constant of any other type is a weight.
_INDICES = frozenset({"BOOL", "INT32", "INT64", "UINT32", "UINT64"})


def is_weight(tensor: ir.TensorProtocol) -> bool:
    """Return whether a constant is a weight, which a part has only if the report depends on it.

    A constant is no weight if it has the type of masks, sizes or indices, or few elements, or equal
    elements. A tensor of texts is a weight.

    >>> cases = (99, "f4"), (9, "f4"), (99, "i8")
    >>> [is_weight(ir.tensor(np.arange(n).astype(t))) for n, t in cases]
    [True, False, False]
    """
    kind = tensor.dtype.name
    if kind == "STRING":
        return True
    if tensor.size <= _SMALL or kind in _INDICES:
        return False
    return tensor.size > _SEEN or not _is_splat(tensor.numpy().ravel())


def _is_splat(elements: np.ndarray) -> bool:
    same = elements[:_SMALL] == elements[0]
    return bool(same.all()) and bool((elements == elements[0]).all())


def weight_of(value: ir.Value) -> bool:
    """Return whether a value is a weight: an initializer, or the output of a Constant."""
    if value.is_initializer():
        return value.const_value is None or is_weight(value.const_value)  # None: a sparse one
    tensor = constant_of(value.producer())
    return tensor is not None and is_weight(tensor)


def constant_of(node: ir.Node | None) -> ir.TensorProtocol | None:
    """Return the tensor of a Constant, from any of its attributes; None for other nodes."""
    if node is None or node.op_type != "Constant" or node.domain != "":
        return None
    if any(attribute.is_ref() for attribute in node.attributes.values()):
        return None
    return ir.convenience.get_const_tensor(node.outputs[0])


def private_attributes(node: ir.Node) -> list[str]:
    """Return the names of a node's private attributes: tensors, texts and many numbers.

    Texts of a standard operator are words of ONNX, and not private, unless it works on texts.

    >>> node = ir.node("Tokenize", [], {"keys": ["a"], "axis": 1}, domain="own")
    >>> private_attributes(node)
    ['keys']
    """
    standard = node.domain in ("", "ai.onnx") or is_scatterx_domain(node.domain)
    if standard and node.op_type == "Constant":
        return []
    return [
        name
        for name, attribute in node.attributes.data.items()
        if (name in _TEXTS if standard else is_private(attribute))
    ]


def is_private(attribute: ir.Attr) -> bool:
    """Return whether an attribute, if ONNX does not define it, is private."""
    if attribute.is_ref() or attribute.value is None:
        return False
    if attribute.type in (ir.AttributeType.FLOATS, ir.AttributeType.INTS):
        return len(attribute.value) > _SMALL
    return attribute.type not in _OPEN


_KEPT = {
    kind: frozenset(fields.split())
    for kind, fields in {
        "ModelProto": "ir_version opset_import graph functions metadata_props",
        "StringStringEntryProto": "key value",
        "OperatorSetIdProto": "domain version",
        "GraphProto": "name node initializer sparse_initializer input output value_info",
        "FunctionProto": """name domain overload input output attribute attribute_proto node
            opset_import value_info""",
        "NodeProto": "input output name op_type domain overload attribute",
        "AttributeProto": """name ref_attr_name type f i s t g tp sparse_tensor floats ints strings
            tensors graphs type_protos sparse_tensors""",
        "TensorProto": """dims data_type name raw_data float_data double_data int32_data int64_data
            uint64_data string_data""",
        "SparseTensorProto": "values indices dims",
        "ValueInfoProto": "name type",
        "TypeProto": """tensor_type sequence_type map_type optional_type sparse_tensor_type
            opaque_type""",
        "Tensor": "elem_type shape",
        "SparseTensor": "elem_type shape",
        "Sequence": "elem_type",
        "Optional": "elem_type",
        "Map": "key_type value_type",
        "Opaque": "domain name",
        "TensorShapeProto": "dim",
        "Dimension": "dim_value dim_param",
    }.items()
}
_DEFAULT = ("", "ai.onnx")


def remove_texts(proto: onnx.ModelProto) -> None:
    """Remove all texts from a message, but not its names and the used assumptions.

    >>> text = '<ir_version: 8, opset_import: ["": 18]> secret (float x) => (float y) {y = Neg(x)}'
    >>> model = onnx.parser.parse_model(text)
    >>> model.producer_name = model.graph.input[0].doc_string = "secret"
    >>> remove_texts(model)
    >>> b"secret" in model.SerializeToString()
    False
    """
    proto.DiscardUnknownFields()
    assumed = [entry for entry in proto.metadata_props if entry.key == METADATA]
    _replace(proto.metadata_props, assumed)
    waiting: list[Message] = [proto]
    while waiting:
        message = waiting.pop()
        kept = _KEPT.get(message.DESCRIPTOR.name, frozenset())
        for field, value in message.ListFields():
            if field.name not in kept:
                message.ClearField(field.name)
            elif field.message_type is not None:
                waiting.extend([value] if isinstance(value, Message) else value)
        if isinstance(message, onnx.AttributeProto):
            for tensor in (message.t, *message.tensors) if message.HasField("t") else ():
                tensor.ClearField("name")
    used = {node.domain for graph in graphs_in(proto) for node in graph.node}
    used.update(function.domain for function in proto.functions)
    for owner in (proto, *proto.functions):
        imports = [entry for entry in owner.opset_import if entry.domain in (*_DEFAULT, *used)]
        _replace(owner.opset_import, imports)
    for graph in graphs_in(proto):
        if isinstance(graph, onnx.GraphProto):
            graph.name = "part"


def _replace(entries: object, kept: list[Message]) -> None:
    """Remove all messages of a repeated field but the ``kept`` ones."""
    copies = [type(message).FromString(message.SerializeToString()) for message in kept]
    del entries[:]  # type: ignore[attr-defined]
    entries.extend(copies)  # type: ignore[attr-defined]

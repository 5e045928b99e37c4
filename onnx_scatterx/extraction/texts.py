"""What a part of a model says besides its structure is removed: notes, texts, names of no value.

Fields are kept by name, so one that is new in onnx is removed.
"""

from __future__ import annotations

import onnx
from google.protobuf.message import Message

from onnx_scatterx.assumptions.clauses import METADATA
from onnx_scatterx.ir.data import DATA_FIELDS, graphs

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
        "TensorProto": f"dims data_type name {' '.join(sorted(DATA_FIELDS))}",
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
    """Keep of a message what its graph needs: nodes, values, types, and what was assumed of it.

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
    used = {node.domain for graph in graphs(proto) for node in graph.node}
    used.update(function.domain for function in proto.functions)
    for owner in (proto, *proto.functions):
        imports = [entry for entry in owner.opset_import if entry.domain in (*_DEFAULT, *used)]
        _replace(owner.opset_import, imports)
    for graph in graphs(proto):
        if isinstance(graph, onnx.GraphProto):
            graph.name = "part"


def _replace(entries: object, kept: list[Message]) -> None:
    """Let a repeated field have these messages of it only."""
    copies = [type(message).FromString(message.SerializeToString()) for message in kept]
    del entries[:]  # type: ignore[attr-defined]
    entries.extend(copies)  # type: ignore[attr-defined]

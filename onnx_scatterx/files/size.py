"""The size of a model as a file."""

from __future__ import annotations

from typing import Any

import onnx

from onnx_scatterx.files.check import holds_large
from onnx_scatterx.files.data import EXTERNAL, tensor_bytes

_LARGE = 1 << 24  # with more bytes of weights in memory, a message is not serialized to measure it


def file_size(model: onnx.ModelProto) -> int:
    """Return the size of a model as a file in bytes, without external data.

    If the weights in memory have more than 16 MB, the size may be off by some bytes for each.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) { y = Neg (x) }''')
    >>> file_size(model) == len(model.SerializeToString())
    True
    """
    large = sum(map(_weight, model.graph.initializer))
    for node in model.graph.node:
        if holds_large(node):
            large += sum(_weight(attribute.t) for attribute in node.attribute)
    return int(model.ByteSize()) if large <= _LARGE else _about(model)


_HEAD = 21  # bytes of a tensor besides its name and its numbers, about
_FIELD = 3  # bytes of the tag and length of a field, about
_OPENED = {"AttributeProto", "GraphProto", "ModelProto", "NodeProto"}


def _about(message: Any) -> int:
    """Return about the size of a message, whose large tensors are not serialized."""
    if isinstance(message, onnx.TensorProto):
        return _weight(message) + _HEAD + len(message.name)
    if message.DESCRIPTOR.name not in _OPENED:
        return int(message.ByteSize())
    if isinstance(message, onnx.NodeProto) and not holds_large(message):
        return int(message.ByteSize())
    size = 0
    for field, value in message.ListFields():
        parts = value if hasattr(value, "extend") else [value]
        if field.message_type is not None:
            size += sum(_FIELD + _about(part) for part in parts)
        elif field.type in (field.TYPE_STRING, field.TYPE_BYTES):
            size += sum(_FIELD + len(part) for part in parts)
    return size


def _weight(tensor: onnx.TensorProto) -> int:
    outside = tensor.data_location == EXTERNAL
    return 0 if outside else tensor_bytes(tensor) or 0

"""The size of a model as a file and in memory."""

from __future__ import annotations

from typing import Any

import onnx
import onnx_ir as ir

from onnx_scatterx.ir.data import ir_tensors, tensor_bytes
from onnx_scatterx.ir.graphs import all_graphs

_NODE = 64  # bytes of a node, about
_LARGE = 1 << 24  # bytes of weights in memory from which a message is not serialized to measure it


def file_size(model: onnx.ModelProto) -> int:
    """Return the size of a model as a file in bytes; external data are not counted.

    For more than 16 MB of initializers in memory, it is accurate to some bytes for each of them.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) { y = Neg (x) }''')
    >>> file_size(model) == len(model.SerializeToString())
    True
    """
    weights = sum(map(_weight, model.graph.initializer))
    if weights <= _LARGE:
        return int(model.ByteSize())
    heads = sum(_HEAD + len(tensor.name) for tensor in model.graph.initializer)
    others: list[Any] = []
    for message, left_out in ((model.graph, "initializer"), (model, "graph")):
        for field, value in message.ListFields():
            if field.message_type is not None and field.name != left_out:
                others += value if hasattr(value, "extend") else [value]
    return weights + heads + sum(_FIELD + int(other.ByteSize()) for other in others)


_HEAD = 24  # bytes of an initializer beside its name and its numbers, about
_FIELD = 3  # bytes before another message, about


def _weight(tensor: onnx.TensorProto) -> int:
    outside = tensor.data_location == onnx.TensorProto.EXTERNAL
    return 0 if outside else tensor_bytes(tensor) or 0


def external_size(model: ir.Model) -> int:
    """Return the size of the data outside of a model's file, in bytes.

    Tensors that share a part of a file are counted once.
    """
    found: dict[tuple[str, int], int] = {}
    for graph in model.graphs():
        for value in graph.initializers.values():
            tensor = value.const_value
            if isinstance(tensor, ir.ExternalTensor):
                found[str(tensor.path), tensor.offset or 0] = tensor.length or tensor.nbytes
    return sum(found.values())


def stored_bytes(model: ir.Model) -> int:
    """Return about how many bytes a model has, including external data.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }''')
    >>> stored_bytes(model)
    72
    """
    nodes = sum(len(graph) for graph in all_graphs(model))
    return _NODE * nodes + sum(tensor.nbytes for tensor in ir_tensors(model))

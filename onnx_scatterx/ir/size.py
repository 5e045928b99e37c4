"""The size of a model as a file and in memory."""

from __future__ import annotations

import onnx
import onnx_ir as ir

from onnx_scatterx.ir.data import ir_graphs, ir_tensors, tensor_bytes, tensors

_NODE = 64  # bytes of a node, about
_MESSAGE_LIMIT = (1 << 31) - 1  # protobuf serializes no larger message


def file_size(model: onnx.ModelProto) -> int:
    """Return the size of a model as a file in bytes; external data are not counted.

    If its tensors alone do not fit into one message, this is their size.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) { y = Neg (x) }''')
    >>> file_size(model) == len(model.SerializeToString())
    True
    """
    weights = sum(
        tensor_bytes(tensor) or 0
        for tensor in tensors(model)
        if tensor.data_location != onnx.TensorProto.EXTERNAL
    )
    return weights if weights > _MESSAGE_LIMIT else int(model.ByteSize())


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
    nodes = sum(len(graph) for graph in ir_graphs(model))
    return _NODE * nodes + sum(tensor.nbytes for tensor in ir_tensors(model))

"""The size of a model as a file, without writing the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import onnx
import onnx_ir as ir
from google.protobuf.unknown_fields import UnknownFieldSet

from onnx_scatterx.ir.data import ir_graphs, ir_tensors, tensor_bytes

_TAG = 1  # byte before a field of a model or a graph: all numbers of fields are below 16
_LARGE = 1 << 16  # bytes of a tensor that are not copied without need
_FEW = 1 << 22  # bytes of tensors that may be copied
_NODE = 64  # bytes of a node, about


def file_size(model: onnx.ModelProto, *, is_checked: bool = False, held: int | None = None) -> int:
    """Return the size of a model as a file in bytes; external data are not counted.

    At most one tensor is copied at a time. If the model ``is_checked``, the data of its tensors fit
    their shapes (``check_tensors``), and no large one is copied. If its tensors take about ``held``
    bytes, and these are few, the model is copied as a whole, which is faster.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) { y = Neg (x) }''')
    >>> file_size(model) == len(model.SerializeToString())
    True
    """
    if held is not None and held <= _FEW:
        return _whole(model)
    return _size(model, _tensor_size if is_checked else _whole)


def _size(message: Any, of: Callable[[Any], int]) -> int:
    total = 0
    for field, value in message.ListFields():
        if field.message_type is None:
            total += _plain(message, field.name)
            continue
        if isinstance(value, onnx.GraphProto):
            inside = [_size(value, of)]
        else:
            parts = value if hasattr(value, "__len__") else [value]
            measure = of if field.name == "initializer" else _whole
            inside = list(map(measure, parts))
        total += sum(inside) + sum([_TAG + _varint(size) for size in inside])
    return total


def _whole(message: Any) -> int:
    return int(message.ByteSize())


def _tensor_size(tensor: onnx.TensorProto) -> int:
    """Return the size of a tensor whose raw data have the length that its shape implies."""
    count = tensor_bytes(tensor) if tensor.HasField("raw_data") else None
    if count is None or count < _LARGE or len(UnknownFieldSet(tensor)):
        return _whole(tensor)
    rest = onnx.TensorProto()
    for name in (field.name for field in tensor.DESCRIPTOR.fields if field.name != "raw_data"):
        value: Any = getattr(tensor, name)
        if not isinstance(value, str | int) and hasattr(value, "__len__"):
            getattr(rest, name).extend(value)
        elif tensor.HasField(name):
            rest.MergeFrom(onnx.TensorProto(**{name: value}))
    return _whole(rest) + _TAG + _varint(count) + count


def _plain(message: Any, name: str) -> int:
    """Return the size of one field that is a number or a text."""
    alone = type(message)()
    setattr(alone, name, getattr(message, name))
    return int(alone.ByteSize())


def _varint(number: int) -> int:
    return 1 if number < 128 else -(-number.bit_length() // 7)


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

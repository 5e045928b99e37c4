"""A message that takes over its optimized model, and keeps its own weights.

A new message would hold a second copy of all weights beside the old one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from google.protobuf.unknown_fields import UnknownFieldSet

from onnx_scatterx.ir.data import to_proto


def refilled(message: onnx.ModelProto, model: ir.Model) -> onnx.ModelProto:
    """Return a model as a message: the one that it was read from, changed, if possible.

    It equals the result of ``to_proto``. Message and model must not be used elsewhere.

    >>> import onnx.parser
    >>> message = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }''')
    >>> model = ir.from_proto(message)
    >>> model.graph.name = "h"
    >>> refilled(message, model) is message, message.graph.name, message.graph.initializer[0].name
    (True, 'h', 'w')
    """
    if len(UnknownFieldSet(message)) or len(UnknownFieldSet(message.graph)):
        return to_proto(model)
    stays = _staying(message, model)
    if stays is None:
        return to_proto(model)
    rest = _without(model, [model.graph.initializers[name] for name in stays])
    if [tensor.name for tensor in rest.graph.initializer[: len(stays)]] != list(stays):
        return to_proto(model)
    del rest.graph.initializer[: len(stays)]
    kept = set(stays.values())
    graph = message.graph
    for i in reversed(range(len(graph.initializer))):
        if i not in kept:
            del graph.initializer[i]
    _replace(graph, rest.graph, "initializer")
    rest.ClearField("graph")
    _replace(message, rest, "graph")
    return message


def _staying(message: onnx.ModelProto, model: ir.Model) -> dict[str, int] | None:
    """Return the names of the tensors that are kept, and their places in the message.

    None if they are not the first initializers of the model, in the order of the message.
    """
    places = {id(tensor): i for i, tensor in enumerate(message.graph.initializer)}
    stays: dict[str, int] = {}
    others = False
    for name, value in model.graph.initializers.items():
        tensor = value.const_value
        place = None
        if isinstance(tensor, ir.serde.TensorProtoTensor) and tensor.name == name:
            place = places.get(id(tensor.raw)) if not tensor.metadata_props else None
        if place is None:
            others = True
        elif others or (stays and place <= next(reversed(stays.values()))):
            return None
        else:
            stays[name] = place
    return stays


def _without(model: ir.Model, values: list[ir.Value]) -> onnx.ModelProto:
    """Return a model as a message in which some initializers are empty."""
    tensors = [value.const_value for value in values]
    try:
        for value in values:
            value.const_value = ir.Tensor(np.zeros(0, np.float32), name=value.name)
        return to_proto(model)
    finally:
        for value, tensor in zip(values, tensors, strict=True):
            value.const_value = tensor


def _replace(message: Any, by: Any, but: str) -> None:
    """Replace all fields of a message but one, which the other message has more of, or not."""
    for field, _ in message.ListFields():
        if field.name != but:
            message.ClearField(field.name)
    message.MergeFrom(by)

"""Weights of a message: an empty tensor is written for each, so that no weight is copied."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import uuid4

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.files.data import DATA_FIELDS, replace_tensors, tensors, to_proto


class Weights:
    """The weights of a message, which keep their names while a model of the message is changed.

    ``in_nodes`` says whether nodes have some of them, in attributes or subgraphs.
    """

    def __init__(self, weights: Iterable[onnx.TensorProto], *, in_nodes: bool) -> None:
        # The text of an empty tensor that stands for a weight. Its last dim is the index of the
        # weight. No file has this text.
        self._mark = f"onnx_scatterx.weight {uuid4().hex}"
        self._weights = list(weights)  # keeps them alive, so that their ids stay valid
        self._names = [tensor.name for tensor in self._weights]
        self._indices = {id(tensor): i for i, tensor in enumerate(self._weights)}
        self._heads: list[onnx.TensorProto] = []  # keeps these ids valid
        self.in_nodes = in_nodes

    def head(self, tensor: onnx.TensorProto, copy: onnx.TensorProto) -> None:
        """Make a tensor a copy of another one; of a weight it gets no number, and is written as it.

        The tensor may be such a copy already, with the numbers.
        """
        index = self._indices.get(id(tensor))
        if index is None:
            copy.CopyFrom(tensor)
            return
        for name in DATA_FIELDS:
            copy.ClearField(name)
        copy.name, copy.data_type = tensor.name, tensor.data_type
        copy.dims[:] = tensor.dims
        self._indices[id(copy)] = index
        self._heads.append(copy)

    def written(self, model: ir.Model) -> onnx.ModelProto:
        """Return the message that onnx_ir writes, with empty tensors for the weights."""
        weights: dict[int, ir.TensorProtocol] = {}

        def without(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
            is_read = isinstance(tensor, ir.serde.TensorProtoTensor)
            index = self._indices.get(id(tensor.raw)) if is_read else None
            if index is None:
                return tensor
            nothing = np.zeros((0, index), np.float32)
            stub = ir.Tensor(nothing, name=tensor.name, doc_string=self._mark)
            weights[id(stub)] = tensor
            return stub

        replace_tensors(model, without)
        try:
            return to_proto(model)
        finally:
            if weights:
                replace_tensors(model, lambda tensor: weights.get(id(tensor), tensor))

    def restore_names(self) -> None:
        """Undo that onnx_ir renames a weight's message if its value is renamed."""
        for tensor, name in zip(self._weights, self._names, strict=True):
            if tensor.name != name:
                tensor.name = name

    def named(self, names: Iterable[str]) -> list[onnx.TensorProto]:
        """Return the weights of some names."""
        wanted = set(names)
        return [tensor for tensor in self._weights if tensor.name in wanted]

    def fill(self, message: onnx.ModelProto) -> None:
        """Copy the weights into the empty tensors of a message that stand for them."""
        for tensor in tensors(message) if self.in_nodes else message.graph.initializer:
            if tensor.doc_string == self._mark:
                name = tensor.name
                tensor.CopyFrom(self._weights[tensor.dims[1]])
                tensor.name = name

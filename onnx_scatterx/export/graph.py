"""The graph of a model under construction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.export.nd_form import with_an_axis
from onnx_scatterx.export.request import Request
from onnx_scatterx.theory.transformer import XTransformer


class Graph:
    """A graph under construction: its inputs, and its nodes in order."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.nodes: list[ir.Node] = []
        self.inputs: list[ir.Value] = []
        self.initializers: list[ir.Value] = []

    def input(self, name: str, dtype: ir.DataType, shape: Sequence[int]) -> ir.Value:
        value = ir.Value(name=name, type=ir.TensorType(dtype), shape=ir.Shape(shape))
        self.inputs.append(value)
        return value

    def constant(self, array: Any, name: str | None = None) -> ir.Value:
        tensor = ir.tensor(np.array(array, np.int64))
        name = name or f"constant_{len(self.initializers)}"
        value = ir.Value(
            name=name,
            type=ir.TensorType(ir.DataType.INT64),
            shape=ir.Shape(np.shape(array)),
            const_value=tensor,
        )
        self.initializers.append(value)
        return value

    def op(
        self, op: str, inputs: Sequence[ir.Value], **attributes: int | str | Sequence[int]
    ) -> ir.Value:
        given = {k: list(v) if isinstance(v, tuple) else v for k, v in attributes.items()}
        output = ir.Value(name=f"{op}_{len(self.nodes)}")
        self.nodes.append(ir.node(op, inputs, given, outputs=[output], name=output.name))
        return output

    def transpose(self, x: ir.Value, perm: Sequence[int]) -> ir.Value:
        if tuple(perm) == tuple(range(len(perm))):
            return x
        return self.op("Transpose", [x], perm=tuple(perm))

    def axes(self, op: str, x: ir.Value, axes: Sequence[int]) -> ir.Value:
        """Add a Squeeze or an Unsqueeze."""
        return self.op(op, [x, self.constant(list(axes))]) if axes else x

    def expand(self, x: ir.Value, shape: Sequence[int], extents: Sequence[int]) -> ir.Value:
        """Broadcast a tensor of a shape to extents."""
        if tuple(shape) == tuple(extents):
            return x
        return self.op("Expand", [x, self.constant(list(extents))])

    def model(self, output: ir.Value, shape: Sequence[int]) -> ir.Model:
        """Finish with an output."""
        if output in self.inputs:
            output = self.op("Identity", [output])
        output.name = "output"
        output.type, output.shape = ir.TensorType(self.request.dtype), ir.Shape(shape)
        opset = self.request.opset
        graph = ir.Graph(
            self.inputs,
            [output],
            nodes=self.nodes,
            initializers=self.initializers,
            opset_imports={"": opset},
            name="gathering" if self.request.reduction is None else "scattering",
        )
        version = onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", opset)])
        return ir.Model(graph, ir_version=version, producer_name="onnx_scatterx")


def data_of(g: Graph) -> tuple[XTransformer, ir.Value]:
    """Add the input data, with an axis if it has none; return the transformer for it, too."""
    t = g.request.transformer
    data = g.input("data", g.request.dtype, t.data_shape)
    if t.data_shape:
        return t, data
    return with_an_axis(t), g.axes("Unsqueeze", data, [0])

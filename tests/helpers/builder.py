"""A model that is being made: its nodes, inputs and constants, each with a new name.

``tests/helpers/drawing`` draws what is made.
"""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

Dims = tuple[int | str, ...]


def code(dtype: str) -> int:
    """Return ONNX's number of an element type."""
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


class Builder:
    """A model that is being made; ``rng`` is for what is drawn."""

    def __init__(self, rng: random.Random, opset: int) -> None:
        self.rng = rng
        self.opset = opset
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: dict[str, tuple[str, Dims]] = {}
        self.stored: dict[str, np.ndarray] = {}
        self.outputs: dict[str, str | None] = {}
        """Their names and types; the types may be left to inference."""
        self.functions: list[onnx.FunctionProto] = []
        self.names = self.constants = 0

    def name(self) -> str:
        """Return a new name of what a node computes."""
        self.names += 1
        return f"v{self.names}"

    def constant(self, array: Any, dtype: str = "int64") -> str:
        """Return an initializer."""
        self.constants += 1
        name = f"c{self.constants}"
        self.stored[name] = np.asarray(array).astype(dtype)
        return name

    def input(self, dtype: str, dims: Dims, name: str = "") -> str:
        """Return an input of the graph."""
        name = name or f"x{len(self.inputs)}"
        self.inputs[name] = dtype, dims
        return name

    def node(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Return the output of a new node."""
        return self.several(op, *inputs, count=1, domain=domain, **attributes)[0]

    def give_out(self, x: str, name: str, dtype: str | None = None) -> None:
        """Let a value be an output of the graph, under a name."""
        self.nodes.append(helper.make_node("Identity", [x], [name]))
        self.outputs[name] = dtype

    def cast(self, x: str, dtype: str) -> str:
        """Return a tensor of another type."""
        return self.node("Cast", x, to=code(dtype))

    def several(
        self, op: str, *inputs: str, count: int, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Return the outputs of a new node."""
        names = [self.name() for _ in range(count)]
        self.nodes.append(helper.make_node(op, inputs, names, domain=domain, **attributes))
        return names

    def opsets(self) -> list[onnx.OperatorSetIdProto]:
        """Return the operator sets that nodes may be of."""
        domains = {"": self.opset, "com.microsoft": 1, "local": 1}
        if not self.functions:
            del domains["local"]
        return [helper.make_opsetid(name, number) for name, number in domains.items()]

    def made(self) -> onnx.ModelProto:
        """Return the model."""
        graph = helper.make_graph(
            self.nodes,
            "g",
            [typed(name, *kind) for name, kind in self.inputs.items()],
            [typed(name, dtype, None) for name, dtype in self.outputs.items()],
            [numpy_helper.from_array(array, name) for name, array in self.stored.items()],
        )
        opsets = self.opsets()
        return helper.make_model(
            graph, functions=self.functions, opset_imports=opsets, ir_version=10
        )


def typed(name: str, dtype: str | None, dims: Sequence[Any] | None) -> onnx.ValueInfoProto:
    """Return a value with its type and shape, if they are known."""
    if dtype is None:
        return helper.make_empty_tensor_value_info(name)
    return helper.make_tensor_value_info(name, code(dtype), dims)

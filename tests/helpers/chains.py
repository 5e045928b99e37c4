"""Chains: a tensor of two axes that is written and moved, step by step.

Each test draws its own steps, with its own weights. Here are the parts of them: constants and
indices, as exporters write them.
"""

import random
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from tests.helpers.builder import Builder, Dims

STYLES = ("torchscript", "dynamo")


class Chain(Builder):
    """A model in the making, and the value at its end (``value``).

    In the style of TorchScript each number is a Constant node; in that of dynamo, equal numbers
    share an initializer.
    """

    def __init__(self, rng: random.Random, dims: Dims, style: str = "dynamo") -> None:
        super().__init__(rng, opset=18)
        self.style = style
        self.value = self.input("float32", dims, "x")
        self._shared: dict[tuple[object, ...], str] = {}

    def constant(self, array: Any, dtype: str = "int64") -> str:
        values = np.asarray(array, dtype)
        if self.style == "torchscript":
            return self.node("Constant", value=numpy_helper.from_array(values))
        key = dtype, values.shape, values.tobytes()
        if key not in self._shared:
            self._shared[key] = super().constant(values, dtype)
        return self._shared[key]

    def slice(self, x: str, axis: int, start: int, end: int, step: int = 1) -> str:
        return self.node("Slice", x, *(self.constant([n]) for n in (start, end, axis, step)))

    def every(self, axis: int) -> str:
        """Return all positions of an axis of the value: a Range."""
        size = self.node("Gather", self.node("Shape", self.value), self.constant(axis), axis=0)
        return self.node("Range", self.constant(0), size, self.constant(1))

    def upright(self, rows: str) -> str:
        return self.node("Unsqueeze", rows, self.constant([-1]))

    def pairs(self, rows: str, columns: str) -> str:
        """Return a column of indices for each axis, for all pairs of a row and a column."""
        upright = self.upright(rows)
        shape = self.node("Shape", self.node("Add", upright, columns))
        parts = [self.upright(self.node("Expand", part, shape)) for part in (upright, columns)]
        return self.node("Concat", *parts, axis=-1)

    def turned(self, x: str) -> str:
        return self.node("Transpose", x, perm=[1, 0])

    def scatter(self, indices: str, updates: str, reduction: str = "none") -> None:
        how = {} if reduction == "none" else {"reduction": reduction}
        self.value = self.node("ScatterND", self.value, indices, updates, **how)

    def scatter_elements(self, axis: int, indices: str, updates: str, **how: str) -> None:
        inputs = self.value, indices, updates
        self.value = self.node("ScatterElements", *inputs, axis=axis, **how)

    def model(self) -> onnx.ModelProto:
        """Return the model whose output ``y`` is the value."""
        self.give_out(self.value, "y", "float32")
        return self.made()

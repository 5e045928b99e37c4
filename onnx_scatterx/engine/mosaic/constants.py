"""Constant values of a graph: the number that fills a tensor, or the whole tensor."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope
from onnx_scatterx.engine.budget import LIMITS
from onnx_scatterx.graphs import constant, made_by
from onnx_scatterx.operators import those

_MOVES = those(lambda row: row.keeps_all)
"""What these give has the elements of the first input. A part of a constant is written anew."""


class Constants:
    """Reads constants, each once."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._numbers: dict[ir.Value, np.ndarray | None] = {}

    def tensor(self, value: ir.Value) -> ir.TensorProtocol | None:
        """Return the tensor that a value is in every run, if it is one of the graph's constants."""
        return constant(value, self.scope.overridable)

    def splat(self, value: ir.Value) -> np.ndarray | None:
        """Return the number (as an array without dims) that every element of a tensor is."""
        moved = []  # no recursion: a chain can be long
        while value not in self._numbers:
            moved.append(value)
            first = self._moves(value)
            if first is None:
                self._numbers[value] = self._fill(value)
                break
            value = first
        number = self._numbers[value]
        self._numbers.update(dict.fromkeys(moved, number))
        return number

    def _moves(self, value: ir.Value) -> ir.Value | None:
        """Return the tensor whose elements a node all moves into a value."""
        node = made_by(value, *_MOVES)
        return None if node is None or self.tensor(value) is not None else node.inputs[0]

    def _fill(self, value: ir.Value) -> np.ndarray | None:
        tensor = self.tensor(value)
        if tensor is not None:
            return self._uniform(tensor)
        node = made_by(value, "ConstantOfShape")
        if node is None:
            return None
        attribute = node.attributes.get("value")
        if attribute is None:
            return np.zeros((), np.float32)
        return None if attribute.is_ref() else self._uniform(attribute.value)

    def _uniform(self, tensor: ir.TensorProtocol) -> np.ndarray | None:
        if not _is_readable(tensor) or not tensor.size:
            return None
        array = tensor.numpy()
        first = array.ravel()[:1]
        # By bits: 0.0 and -0.0 are not the same fill, and a NaN is itself.
        same = array.tobytes() == first.tobytes() * array.size
        return first.reshape(()) if same else None

    def array(self, value: ir.Value) -> np.ndarray | None:
        """Return a constant as an array: a constant of the graph, or a fill of known shape."""
        tensor = self.tensor(value)
        if tensor is not None:
            return tensor.numpy() if _is_readable(tensor) else None
        number = self.splat(value)
        shape = self.scope.of(value).static_shape
        if (
            number is None
            or shape is None
            or math.prod(shape) * number.itemsize > LIMITS.fill_bytes
        ):
            return None
        return np.broadcast_to(number, shape)


def _is_readable(tensor: ir.TensorProtocol) -> bool:
    if tensor.dtype.is_string() or tensor.dtype.bitwidth < 8:
        return False
    return tensor.nbytes <= LIMITS.fill_bytes

"""The values of a model that depend on known sizes alone, and what they are.

Integers and booleans are those that the interpreter proves, and those that its transfer functions
give for constants that were found before. So are floats, if no operator rounds otherwise in another
library: no process is started for them. ONNX Runtime computes the other floats, node by node.

A tensor without elements is known by its shape alone. It must not be left to an Expand: under its
default options, ONNX Runtime drops an Expand by a constant with a 0, if no other dim changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import onnx_ir as ir

from onnx_scatterx.ir.constants import constant, overridable
from onnx_scatterx.optimizer.analysis.domain.scope import Knowledge, Scope
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue, is_integer
from onnx_scatterx.optimizer.analysis.transfers import transferred
from onnx_scatterx.optimizer.symbolic.budget import within_limits
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.optimizer.transforms.constant_runs import (
    COMPUTED,
    EXACT,
    GENERATORS,
    MOVING,
    ROUNDED,
    NodeRunner,
)

_BITS = {size: np.dtype(f"i{size}") for size in (2, 4, 8)}


class ConstantFinder:
    """Finds constants in readings of a model, within limits that count all readings together.

    ``found`` are the values that the last reading gives. ``made`` are the constants that were
    written after earlier readings.
    """

    def __init__(self, model: ir.Model, runner: NodeRunner) -> None:
        self.known = Knowledge({}, {}, {})
        self.found: dict[ir.Value, np.ndarray] = {}
        self.made: set[ir.Value] = set()
        self._overridable = overridable(model)
        self._runner = runner
        self._runs = 0
        self._bytes = LIMITS.folded_bytes

    def find(self, known: Knowledge) -> bool:
        """Find the values that are known now; return whether nodes were computed for it."""
        self.known, self.found = known, {}
        before = self._runs
        for _, node, scope in self.nodes():
            if node.op_type == "Constant" and node.domain == "":
                continue
            for value in node.outputs:
                result = scope.values.get(value)
                follows = result is not None and (result.is_integer or _elements(result) == 0)
                array = _array(result) if result is not None and follows else None
                if array is not None and self._has_room(array.nbytes):
                    self.found[value] = array
            if any(v not in self.found for v in node.outputs):
                self._compute(node, scope)
        return self._runs > before

    def nodes(self) -> Iterator[tuple[ir.Graph, ir.Node, Scope]]:
        """Yield the nodes of the graphs, without the fallbacks of ScatterX."""
        for graph, scope in self.known.own_graphs():
            for node in graph:
                yield graph, node, scope

    def _has_room(self, size: int) -> bool:
        if size > self._bytes:
            return False
        self._bytes -= size
        return True

    def _compute(self, node: ir.Node, scope: Scope) -> None:
        """Compute a node, if all its inputs are known."""
        if node.domain != "" or self._runs >= LIMITS.folding_runs or node.op_type not in COMPUTED:
            return
        if any(a.is_ref() for a in node.attributes.values()):
            return
        read = [v for v in node.inputs if v is not None]
        if node.op_type not in GENERATORS and not any(
            v in self.found or v in self.made for v in read
        ):
            return
        given = {v.name or "": self._constant(v) for v in read}
        inputs = {name: array for name, array in given.items() if array is not None}
        sizes = [_elements(scope.values.get(v)) for v in node.outputs]
        if len(inputs) < len(given) or any(n is None or n > LIMITS.elements for n in sizes):
            return
        dtypes = {_dtype(v, scope) for v in (*read, *node.outputs)}
        if node.op_type not in MOVING and not dtypes.isdisjoint(ROUNDED):
            return
        self._runs += 1
        whole = all(dtype is not None and is_integer(dtype) for dtype in dtypes)
        results = followed(node, inputs, scope) if whole or node.op_type in EXACT else None
        if results is None and not whole:
            stored = {v.name or "" for v in read if v not in self.found and v not in self.made}
            results = self._runner.run(node, inputs, scope.opsets.get("", 0), stored)
        named = [v for v in node.outputs if v.name]
        for value, array in zip(named, results or (), strict=False):
            if self._has_room(array.nbytes):
                self.found[value] = array

    def _constant(self, value: ir.Value) -> np.ndarray | None:
        """Return a constant of the model, if it is small, or a value that was folded."""
        if value in self.found:
            return self.found[value]
        tensor = constant(value, self._overridable)
        if tensor is None:
            return None
        if tensor.size > LIMITS.floats and value not in self.made:
            return None
        if tensor.dtype.bitwidth < 8 or _is_text(tensor.dtype):
            return None
        return np.asarray(tensor.numpy())


def followed(
    node: ir.Node, inputs: Mapping[str, np.ndarray], scope: Scope
) -> list[np.ndarray] | None:
    """Return what a node gives, if its transfer function follows all of it.

    If the operator moves elements, it moves their bits, as integers. ONNX Runtime's Where does not
    keep the sign of a zero.
    """
    if node.op_type == "ConstantOfShape":
        (shape,), filled = inputs.values(), node.attributes.get("value")
        element = np.float32(0) if filled is None else filled.as_tensor().numpy().ravel()[0]
        return None if (shape < 0).any() else [np.full(shape, element)]
    moves = node.op_type in MOVING
    given = {n: a.view(_BITS.get(a.itemsize, a.dtype)) if moves else a for n, a in inputs.items()}
    read = [None if v is None else TensorValue.of(given[v.name or ""]) for v in node.inputs]
    results = within_limits(lambda: transferred(scope.call(node, read)))
    arrays = []
    for value, result in zip(node.outputs, results or (), strict=False):
        array, known = _array(result), scope.values[value]
        if array is None or known.dtype is None:
            return None
        array = array.view(known.dtype.numpy()) if moves else array
        if (array.dtype, array.shape) != (known.dtype.numpy(), known.static_shape):
            return None
        if node.op_type == "Where" and np.signbit(array[array == 0]).any():
            return None
        if value.name:
            arrays.append(array)
    return arrays or None


def _array(found: TensorValue) -> np.ndarray | None:
    """Return the elements of a tensor, if they are known and few enough."""
    if found.dtype is None or found.dtype.bitwidth < 8 or _is_text(found.dtype):
        return None
    elements = _elements(found)
    if elements is None or elements > LIMITS.elements:
        return None
    if elements == 0:
        return np.zeros(found.static_shape or (), found.dtype.numpy())
    array = within_limits(lambda: found.constant)
    if array is None or array.dtype != found.dtype.numpy() or array.shape != found.static_shape:
        return None
    return array


def _dtype(value: ir.Value, scope: Scope) -> ir.DataType | None:
    found = scope.values.get(value)
    return value.dtype if found is None else found.dtype


def _elements(found: TensorValue | None) -> int | None:
    """Return how many elements a tensor has, if that is known."""
    shape = None if found is None else found.static_shape
    return None if shape is None else int(np.prod(shape, dtype=object))


def _is_text(dtype: ir.DataType) -> bool:
    return dtype in (ir.DataType.STRING, ir.DataType.UNDEFINED)

"""The values of a model that depend on known sizes alone, computed as ONNX Runtime does.

Integers and booleans are those that the interpreter proves, and those that its transfer functions
give for constants that were found before. So are floats, if no operator rounds otherwise in another
library: no process is started for them. ONNX Runtime computes the other floats, node by node.

Each node is run alone on the CPU, without optimizations, in a process that may die. ONNX Runtime
does the same with a node whose inputs are constants.

A tensor without elements is known by its shape alone. It must not be left to an Expand: under its
default options, ONNX Runtime drops an Expand by a constant with a 0, if no other dim changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Knowledge, Scope, TensorValue, transferred
from onnx_scatterx.engine.budget import LIMITS, within_limits
from onnx_scatterx.errors import MissingRuntimeError
from onnx_scatterx.graphs import constant, overridable
from onnx_scatterx.operators import Rounding, those
from onnx_scatterx.processes import Closing, NoReply, scratch
from onnx_scatterx.runtime import ModelFile, OrtProcess, from_raw, to_raw

GENERATORS = frozenset({"ConstantOfShape", "Range"})
"""Operators that make a tensor from sizes alone."""

COMPUTED = those(lambda row: row.folds)
MOVING = those(lambda row: row.folds and row.rounding == Rounding.COPIED)
EXACT = those(lambda row: row.folds and row.rounding <= Rounding.ONCE)

ROUNDED = frozenset({ir.DataType.FLOAT16, ir.DataType.BFLOAT16})
"""Types for which ONNX Runtime may compute in float32, without rounding between two nodes.

A node that runs alone may give another result than in a chain. So of the operators on these types,
only those that move elements are computed.
"""

_SECONDS = 30.0


class NodeRunner(Closing):
    """Runs single nodes; the process begins with the first of them.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) { y = Sqrt (x) }''')
    >>> with NodeRunner() as runner:
    ...     runner.run(model.graph[0], {"x": np.float32([4, 9])}, 18)
    [array([2., 3.], dtype=float32)]
    """

    def __init__(self) -> None:
        self._resources = contextlib.ExitStack()
        self._path: Path | None = None
        self._process: OrtProcess | None = None
        self._opened = 0

    def close(self) -> None:
        """End the process, and remove its files."""
        self._resources.close()

    def run(
        self,
        node: ir.Node,
        inputs: Mapping[str, np.ndarray],
        version: int,
        stored: Collection[str] = (),
    ) -> list[np.ndarray] | None:
        """Return the outputs of a node of an operator set, None if there is no ONNX Runtime for it.

        ``inputs`` are by the names of the values that the node reads. Those that are ``stored`` in
        the model are initializers: ONNX Runtime packs them for a MatMul, which rounds otherwise.
        """
        if self._path is None:
            self._path = self._resources.enter_context(scratch()) / "node.onnx"
        if self._process is None:
            try:
                self._process = self._resources.enter_context(OrtProcess())
            except MissingRuntimeError:
                return None
            self._opened = 0
        self._path.write_bytes(_model(node, inputs, version, stored).SerializeToString())
        model = ModelFile(self._path).to_request()
        request = {"do": "open", **model, "library": None, "threads": 1, "optimize": False}
        answer = self._process.ask(request, timeout=_SECONDS)
        if not isinstance(answer, NoReply):
            self._opened += 1
            fed = ((n, array) for n, array in inputs.items() if n not in stored)
            tensors = [to_raw(name, array) for name, array in fed]
            request = {"do": "run", "session": self._opened - 1}
            answer = self._process.ask(request, tensors, timeout=_SECONDS)
        if isinstance(answer, NoReply):
            if answer.kind != "error":
                self._process = None  # it ended; the next node gets a new one
            return None
        arrays = {tensor.name: from_raw(tensor) for tensor in answer.tensors}
        return [np.array(arrays[f"o{i}"]) for i, v in enumerate(node.outputs) if v.name]


def _model(
    node: ir.Node, inputs: Mapping[str, np.ndarray], version: int, stored: Collection[str]
) -> onnx.ModelProto:
    """Return a model of one node."""
    proto = onnx.NodeProto(op_type=node.op_type)
    proto.input.extend("" if v is None else v.name or "" for v in node.inputs)
    proto.output.extend(f"o{i}" if v.name else "" for i, v in enumerate(node.outputs))
    proto.attribute.extend(ir.serde.serialize_attribute(a) for a in node.attributes.values())
    types = {n: ir.DataType.from_numpy(a.dtype).value for n, a in inputs.items()}
    shapes = [(n, types[n], a.shape) for n, a in inputs.items() if n not in stored]
    infos = [onnx.helper.make_tensor_value_info(*each) for each in shapes]
    held = [onnx.numpy_helper.from_array(inputs[name], name) for name in inputs if name in stored]
    outputs = [onnx.ValueInfoProto(name=name) for name in proto.output if name]
    graph = onnx.helper.make_graph([proto], "node", infos, outputs, held)
    opsets = [onnx.helper.make_opsetid("", version)]
    return onnx.helper.make_model(
        graph, opset_imports=opsets, ir_version=onnx.helper.find_min_ir_version_for(opsets)
    )


_BITS = {size: np.dtype(f"i{size}") for size in (2, 4, 8)}


class ConstantFinder:
    """Finds constants in readings of a model, within limits that count all readings together.

    ``constants`` are the values that the last reading gives; of those that are ``computed``, the
    reading did not know the elements. ``made`` are the constants that were written after earlier
    readings.
    """

    def __init__(self, model: ir.Model, runner: NodeRunner) -> None:
        self.known = Knowledge({}, {}, {})
        self.constants: dict[ir.Value, np.ndarray] = {}
        self.computed: set[ir.Value] = set()
        self.made: set[ir.Value] = set()
        self._overridable = overridable(model)
        self._runner = runner
        self._runs = 0
        self._bytes = LIMITS.folded_bytes

    def find(self, known: Knowledge) -> None:
        """Find the values that are known now, and compute nodes for it."""
        self.known, self.constants, self.computed = known, {}, set()
        for node, scope in self.nodes():
            if node.op_type == "Constant" and node.domain == "":
                continue
            for value in node.outputs:
                result = scope.of(value)
                array = _array(result) if result.is_integer or _elements(result) == 0 else None
                if array is not None and self._has_room(array.nbytes):
                    self.constants[value] = array
            if any(v not in self.constants for v in node.outputs):
                self._compute(node, scope)

    def nodes(self) -> list[tuple[ir.Node, Scope]]:
        """Return the nodes of the graphs, without the fallbacks of ScatterX."""
        return [(node, scope) for graph, scope in self.known.own_graphs() for node in graph]

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
            v in self.constants or v in self.made for v in read
        ):
            return
        arrays = {v.name or "": self._constant(v) for v in read}
        inputs = {name: array for name, array in arrays.items() if array is not None}
        sizes = [_elements(scope.of(v)) for v in node.outputs]
        if len(inputs) < len(arrays) or any(n is None or n > LIMITS.elements for n in sizes):
            return
        dtypes = {scope.of(v).dtype for v in (*read, *node.outputs)}
        if node.op_type not in MOVING and not dtypes.isdisjoint(ROUNDED):
            return
        self._runs += 1
        whole = all(TensorValue(dtype, None).is_integer for dtype in dtypes)
        results = followed(node, inputs, scope) if whole or node.op_type in EXACT else None
        if results is None and not whole:
            stored = {v.name or "" for v in read if v not in self.constants and v not in self.made}
            results = self._runner.run(node, inputs, scope.opsets.get("", 0), stored)
        named = [v for v in node.outputs if v.name]
        for value, array in zip(named, results or (), strict=False):
            if self._has_room(array.nbytes):
                self.constants[value] = array
                self.computed.add(value)

    def _constant(self, value: ir.Value) -> np.ndarray | None:
        """Return a constant of the model, if it is small, or a value that was folded."""
        if value in self.constants:
            return self.constants[value]
        tensor = constant(value, self._overridable)
        if tensor is None or (tensor.size > LIMITS.floats and value not in self.made):
            return None
        return np.asarray(tensor.numpy()) if _is_stored(tensor.dtype) else None


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
    bits = {n: a.view(_BITS.get(a.itemsize, a.dtype)) if moves else a for n, a in inputs.items()}
    read = [None if v is None else TensorValue.of(bits[v.name or ""]) for v in node.inputs]
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


def _array(tensor: TensorValue) -> np.ndarray | None:
    """Return the elements of a tensor, if they are known and few enough."""
    if tensor.dtype is None or not _is_stored(tensor.dtype):
        return None
    elements = _elements(tensor)
    if elements is None or elements > LIMITS.elements:
        return None
    if elements == 0:
        return np.zeros(tensor.static_shape or (), tensor.dtype.numpy())
    array = within_limits(lambda: tensor.constant)
    if array is None or array.dtype != tensor.dtype.numpy() or array.shape != tensor.static_shape:
        return None
    return array


def _elements(tensor: TensorValue) -> int | None:
    """Return how many elements a tensor has, if that is known."""
    shape = tensor.static_shape
    return None if shape is None else int(np.prod(shape, dtype=object))


def _is_stored(dtype: ir.DataType) -> bool:
    """Return whether an element has bytes of its own. Strings have no width."""
    text = dtype in (ir.DataType.STRING, ir.DataType.UNDEFINED)
    return not text and dtype.bitwidth >= 8

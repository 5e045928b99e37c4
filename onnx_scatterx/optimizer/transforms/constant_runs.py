"""Nodes whose inputs are all known, computed by ONNX Runtime itself: floats keep every bit.

Each node is run alone on the CPU, without optimizations, in a process that may die. ONNX Runtime
does the same with a node whose inputs are constants.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.errors import MissingRuntimeError
from onnx_scatterx.runtime.worker_client import ModelFile, OrtProcess, from_raw, to_raw
from onnx_scatterx.system.child import Closing, Failure
from onnx_scatterx.system.scratch import scratch

GENERATORS = frozenset({"ConstantOfShape", "Range"})
"""Operators that make a tensor from sizes alone."""

_OPERATORS = """
    Abs Add And Cast CastLike Ceil Clip Concat Cos CumSum Div Equal Exp Expand Flatten Floor Gather
    GatherElements GatherND Greater GreaterOrEqual Identity IsInf IsNaN Less LessOrEqual Log MatMul
    Max Min Mod Mul Neg Not OneHot Or Pad Pow Reciprocal ReduceMax ReduceMin ReduceProd Reshape
    Round Sigmoid Sign Sin Slice Split Sqrt Squeeze Sub Tan Tanh Tile Transpose Trilu Unsqueeze
    Where Xor"""
COMPUTED = GENERATORS.union(_OPERATORS.split())
"""Operators that are computed, as ONNX Runtime does it on one thread."""

MOVING = frozenset(
    (
        *("ConstantOfShape", "Concat", "Expand", "Flatten", "Gather", "GatherElements", "GatherND"),
        *("Identity", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"),
    )
)
"""Operators that do not round."""

_ONCE = """Abs Add Cast CastLike Ceil Div Equal Floor Greater GreaterOrEqual Less LessOrEqual Mul
    Neg Round Sign Sub Where"""
EXACT = MOVING.union(_ONCE.split())
"""Operators that round once at most, as IEEE 754 says; some kernels approximate a square root."""

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
        self._place: Path | None = None
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
        if self._place is None:
            self._place = self._resources.enter_context(scratch()) / "node.onnx"
        if self._process is None:
            try:
                self._process = self._resources.enter_context(OrtProcess())
            except MissingRuntimeError:
                return None
            self._opened = 0
        self._place.write_bytes(_model(node, inputs, version, stored).SerializeToString())
        model = ModelFile(self._place).to_request()
        request = {"do": "open", **model, "library": None, "threads": 1, "optimize": False}
        answer = self._process.ask(request, timeout=_SECONDS)
        if not isinstance(answer, Failure):
            self._opened += 1
            given = ((n, array) for n, array in inputs.items() if n not in stored)
            tensors = [to_raw(name, array) for name, array in given]
            request = {"do": "run", "session": self._opened - 1}
            answer = self._process.ask(request, tensors, timeout=_SECONDS)
        if isinstance(answer, Failure):
            if answer.kind != "error":
                self._process = None  # it ended; the next node gets a new one
            return None
        found = {tensor.name: from_raw(tensor) for tensor in answer.tensors}
        return [np.array(found[f"o{i}"]) for i, v in enumerate(node.outputs) if v.name]


def _model(
    node: ir.Node, inputs: Mapping[str, np.ndarray], version: int, stored: Collection[str]
) -> onnx.ModelProto:
    """Return a model of one node."""
    proto = onnx.NodeProto(op_type=node.op_type)
    proto.input.extend("" if v is None else v.name or "" for v in node.inputs)
    proto.output.extend(f"o{i}" if v.name else "" for i, v in enumerate(node.outputs))
    proto.attribute.extend(ir.serde.serialize_attribute(a) for a in node.attributes.values())
    types = {n: ir.DataType.from_numpy(a.dtype).value for n, a in inputs.items()}
    given = [
        onnx.helper.make_tensor_value_info(n, types[n], a.shape)
        for n, a in inputs.items()
        if n not in stored
    ]
    held = [onnx.numpy_helper.from_array(inputs[name], name) for name in inputs if name in stored]
    graph = onnx.helper.make_graph(
        [proto],
        "node",
        given,
        [onnx.ValueInfoProto(name=name) for name in proto.output if name],
        held,
    )
    opsets = [onnx.helper.make_opsetid("", version)]
    return onnx.helper.make_model(
        graph, opset_imports=opsets, ir_version=onnx.helper.find_min_ir_version_for(opsets)
    )

"""Reads of tensors whose axes behind the first are all equally long.

    one_axis_in_front    Reshape(x)     =   Reshape(Unsqueeze(x, 0))
                         Transpose(x)   =   Reshape(Transpose(Unsqueeze(x, 0)))

By its shape, the compiler cannot tell whether the second axis of such a tensor was moved to the
end, and takes it for moved, unless a MatMul made it. An axis of one element in front leaves axes
that differ.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.analysis import required
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import made_by, perm_of

_RANKS = (3, 4)


def one_axis_in_front(at: Candidate) -> bool:
    """Let a Reshape or a Transpose read an axis of one element in front."""
    w, node, scope, constants, _ = at
    x, y = required(node.inputs[0]), node.outputs[0]
    shape, whole = scope.of(x).static_shape, scope.of(y).static_shape
    if shape is None or whole is None or len(shape) not in _RANKS or 0 in shape:
        return False
    if len(set(shape[1:])) != 1 or shape[1] == 1 or constants.is_constant(x):
        return False
    if made_by(x, "MatMul") or made_by(x, "Unsqueeze"):
        return False
    perm, kind = perm_of(node, len(shape)), w.dtype_of(x)
    if kind is None or (node.op_type == "Transpose" and perm is None):
        return False

    def write() -> ir.Value:
        front = w.axes("Unsqueeze", x, kind, [0])
        if node.op_type == "Transpose":
            order = [0, *(axis + 1 for axis in perm or ())]
            front = w.node("Transpose", [front], kind, perm=order)
        return w.node("Reshape", [front, w.constant([*whole])], kind)

    return at.replace(y, write)

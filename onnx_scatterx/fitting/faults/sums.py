"""Sums and products of many dims with a constant, on merged axes.

    merged_with_constants    x + c   =   Reshape(Reshape(x) + c)      of four dims

Neighbouring axes along which neither x nor c is repeated become one axis, and so do those along
which one of them is. Each element is computed as before.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import required
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import constant

_MOST = 4
"""The most dims at which the compiler does not fail. At fewer dims it fails behind a Reshape."""


def merged_with_constants(at: Candidate) -> bool:
    """Merge the axes of a sum of many dims with a constant, if few are left then."""
    w, node, scope, constants, _ = at
    result = scope.of(node.outputs[0]).static_shape
    if result is None or len(result) <= _MOST or 0 in result:
        return False
    shapes = [scope.of(required(value)).static_shape for value in node.inputs]
    if [constants.is_constant(required(value)) for value in node.inputs].count(True) != 1:
        return False
    one, other = ((1,) * (len(result) - len(shape or ())) + (shape or ()) for shape in shapes)
    if None in shapes or any(max(a, b) != n for a, b, n in zip(one, other, result, strict=True)):
        return False
    runs = _runs(one, other)
    if len(runs[0]) > _MOST:
        return False

    def write() -> ir.Value:
        kind = w.dtype_of(required(node.inputs[0]))
        inputs = []
        for value, sizes in zip(node.inputs, runs, strict=True):
            tensor = constant(value, scope.overridable)
            if tensor is None:
                inputs.append(w.node("Reshape", [value, w.constant(sizes)], kind))
            else:
                inputs.append(w.constant(np.reshape(tensor.numpy(), sizes), kind))
        y = w.node(node.op_type, inputs, kind)
        return w.node("Reshape", [y, w.constant([*result])], kind)

    return at.replace(node.outputs[0], write)


def _runs(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Return the sizes of two operands on merged axes, with ones in front if these are few."""
    sizes: tuple[list[int], list[int]] = ([], [])
    before = None
    for pair in zip(one, other, strict=True):
        if pair == (1, 1):
            continue
        kind = (pair[0] == 1, pair[1] == 1)
        for own, n in zip(sizes, pair, strict=True):
            if kind == before:
                own[-1] = math.prod((own[-1], n))
            else:
                own.append(n)
        before = kind
    few = [1] * (_MOST - len(sizes[0]))
    return [*few, *sizes[0]], [*few, *sizes[1]]

"""Gathers from a vector that a Reshape makes, by constant indices of several dims.

flat_indices    Gather(v, i)   =   Reshape(Gather(v, Reshape(i, [-1])), shape of i)
                               =   Reshape(v, shape of i)        if i lists all positions in order
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import required
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import constant, made_by


def flat_indices(at: Candidate) -> bool:
    """Write a Gather of several dims as one of one dim, or as a Reshape."""
    w, node, scope, _, _ = at
    x, tensor = required(node.inputs[0]), constant(node.inputs[1], scope.overridable)
    shape = scope.of(x).static_shape
    if tensor is None or shape is None or len(shape) != 1 or made_by(x, "Reshape") is None:
        return False
    indices, kind = tensor.numpy(), w.dtype_of(x)
    if indices.ndim < 2 or 0 in (*indices.shape, *shape):
        return False
    flat = indices.ravel()
    counted = np.where(flat < 0, flat + shape[0], flat)

    def write() -> ir.Value:
        row = x
        if not np.array_equal(counted, np.arange(shape[0])):
            row = w.node("Gather", [x, w.constant(flat, tensor.dtype)], kind, axis=0)
        return w.node("Reshape", [row, w.constant([*indices.shape])], kind)

    return at.replace(node.outputs[0], write)

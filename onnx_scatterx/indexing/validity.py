"""Facts that hold because the original model runs.

A node that checks its inputs, and did not fail, has shown something: ``Gather`` at index 3 says
that the axis has four elements. The optimized model may rest on it, since it may accept more inputs
than the original, never fewer.
"""

from __future__ import annotations

import numpy as np

from onnx_scatterx.indexing.call import Call
from onnx_scatterx.indexing.terms import Term


def facts_of(call: Call) -> list[Term]:
    """Return terms that are >= 0 once the node has run."""
    op = call.node.op_type
    if op == "Gather" and len(call.inputs) == 2:
        data, indices = call.inputs
        if data is not None and data.shape and indices is not None:
            axis = call.integer("axis", 0) % len(data.shape)
            return _within(indices.known, data.shape[axis])
    if op == "ScatterND":
        data, indices = call.inputs[0], call.inputs[1]
        if data is not None and data.shape and indices is not None and indices.shape:
            return _columns(call)
    return []


def _within(indices: np.ndarray | None, extent: Term) -> list[Term]:
    if indices is None or not indices.size or extent.constant is not None:
        return []
    low, high = int(indices.min()), int(indices.max())
    needed = max(high + 1 if high >= 0 else 0, -low if low < 0 else 0)
    return [extent - needed]


def _columns(call: Call) -> list[Term]:
    data, indices = call.inputs[0], call.inputs[1]
    assert data is not None
    assert data.shape is not None
    assert indices is not None
    if indices.known is None or not indices.known.size:
        return []
    columns = indices.known.reshape(-1, indices.known.shape[-1])
    facts = []
    for c in range(columns.shape[1]):
        facts += _within(columns[:, c], data.shape[c])
    return facts

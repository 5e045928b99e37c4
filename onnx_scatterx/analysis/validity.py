"""Facts that hold because the original model runs.

A node that checks its inputs, and did not fail, proves something: ``Gather`` at index 3 proves that
the axis has at least four elements. The optimized model may rely on it, since it may accept more
inputs than the original, never fewer.
"""

from __future__ import annotations

import math

import numpy as np

from onnx_scatterx.analysis.domain.call import Call, UnknownAttributeError
from onnx_scatterx.analysis.domain.overflow import magnitude
from onnx_scatterx.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.symbolic.budget import budget
from onnx_scatterx.symbolic.terms import Term

_CHECKING = {
    "ConstantOfShape",
    "Expand",
    "Gather",
    "GatherElements",
    "NonZero",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "Shape",
    "TopK",
}


def facts_of(call: Call) -> list[Term]:
    """Return terms that are >= 0 once the node has run."""
    try:
        return _facts_of(call)
    except UnknownAttributeError:
        return []


def _facts_of(call: Call) -> list[Term]:
    op = call.node.op_type
    if op not in _CHECKING:
        return []
    if op in ("Gather", "GatherElements") and len(call.inputs) == 2:
        data, indices = call.inputs
        if data is not None and data.shape and indices is not None:
            axis = call.integer("axis", 0) % len(data.shape)
            within = _within(indices.constant, data.shape[axis])
            if op == "GatherElements":
                return [*within, *_beside(axis, data.shape, indices)]
            return within or _some(call, data.shape[axis], indices)
    if op in ("Scatter", "ScatterElements"):
        data, indices = call.inputs[0], call.inputs[1]
        if data is not None and data.shape and indices is not None:
            return _beside(call.integer("axis", 0) % len(data.shape), data.shape, indices)
    if op == "ScatterND":
        data, indices = call.inputs[0], call.inputs[1]
        if data is not None and data.shape and indices is not None and indices.shape:
            return _columns(call)
    if op in ("ConstantOfShape", "Expand"):
        return _sizes(call.inputs[-1], call)
    if op == "Shape":
        return _axes(call)
    if op == "TopK" and len(call.inputs) == 2:
        return _chosen(call)
    if op == "NonZero":
        return _counted(call.inputs[0], call)
    return []


def _within(indices: np.ndarray | None, extent: Term) -> list[Term]:
    if indices is None or not indices.size or extent.constant is not None:
        return []
    budget().work(1 + indices.size // 32)
    low, high = int(indices.min()), int(indices.max())
    needed = max(high + 1 if high >= 0 else 0, -low if low < 0 else 0)
    return [extent - needed]


def _some(call: Call, extent: Term, indices: TensorValue) -> list[Term]:
    """Gather checks every index, even if nothing is copied: with an index, there is an element."""
    read = indices.shape is not None and all(
        call.facts.is_nonnegative(n - 1) for n in indices.shape
    )
    return [extent - 1] if read and extent.constant is None else []


def _beside(axis: int, data: Shape, indices: TensorValue) -> list[Term]:
    """On axes that the indices do not name, at most the whole axis is read or written."""
    if indices.shape is None or len(indices.shape) != len(data):
        return []
    pairs = zip(data, indices.shape, strict=True)
    return [size - extent for d, (size, extent) in enumerate(pairs) if d != axis]


def _counted(x: TensorValue | None, call: Call) -> list[Term]:
    """At most all elements are true."""
    shape = None if x is None else x.static_shape
    if shape is None:
        return []
    count = call.unknown_size(1)
    return [math.prod(shape) - count]


def _axes(call: Call) -> list[Term]:
    """No size is negative, even if it depends on numbers that are known only at run time."""
    x = call.inputs[0]
    sizes = () if x is None else x.shape or ()
    return [n for n in sizes if magnitude(n, call.facts) == math.inf]


def _chosen(call: Call) -> list[Term]:
    """The number of chosen elements is between 0 and the number of elements."""
    data, given = call.inputs
    count = None if given is None else given.scalar
    if data is None or not data.shape or count is None or count.constant is not None:
        return []
    return [data.shape[call.integer("axis", -1) % len(data.shape)] - count, count]


def _sizes(shape: TensorValue | None, call: Call) -> list[Term]:
    """A requested size is never negative, and unlike in a Reshape, -1 does not stand for a size."""
    sizes = None if shape is None else shape.vector()
    return [n for n in sizes or () if n.constant is None and not call.facts.is_nonnegative(n)]


def _columns(call: Call) -> list[Term]:
    data, indices = call.inputs[0], call.inputs[1]
    assert data is not None
    assert data.shape is not None
    assert indices is not None
    if indices.constant is None or not indices.constant.size:
        return []
    columns = indices.constant.reshape(-1, indices.constant.shape[-1])
    facts = []
    for c in range(min(columns.shape[1], len(data.shape))):
        facts += _within(columns[:, c], data.shape[c])
    return facts

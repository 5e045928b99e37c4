"""Output shapes where ONNX Runtime broadcasts, and ONNX's shape inference does not.

PRelu broadcasts x to the slope as well, not only the slope to x. Of the dims that one letter of an
Einsum stands for, those that are 1 give way.
"""

from __future__ import annotations

from onnx_scatterx.indexing.abstract import Abstract, broadcast_dims, broadcast_shapes
from onnx_scatterx.indexing.call import Call, Result
from onnx_scatterx.indexing.terms import Term


def prelu(call: Call) -> Result:
    x, slope = call.inputs
    if x is None or slope is None or x.shape is None or slope.shape is None:
        return None
    return [Abstract(x.dtype, broadcast_shapes([x.shape, slope.shape]))]


def einsum(call: Call) -> Result:
    """Transfer an Einsum that names every dim, and those of its output."""
    left, arrow, right = "".join(call.string("equation", "").split()).partition("->")
    operands = left.split(",")
    shapes = [None if x is None else x.shape for x in call.inputs]
    if (
        not arrow
        or "." in left + right
        or [*map(len, operands)] != [None if s is None else len(s) for s in shapes]
    ):
        return None
    dims: dict[str, list[Term]] = {}
    for letters, shape in zip(operands, shapes, strict=True):
        for letter, dim in zip(letters, shape or (), strict=True):
            dims.setdefault(letter, []).append(dim)
    dtype = None if call.inputs[0] is None else call.inputs[0].dtype
    return [Abstract(dtype, tuple(broadcast_dims(dims[letter]) for letter in right))]

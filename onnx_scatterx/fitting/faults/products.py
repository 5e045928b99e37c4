"""A product of rows and its bias, in front of a Reshape.

    rows_of_products    Reshape(Add(MatMul(x, w), b))   =   Reshape(Add(MatMul(Reshape(x), w), b))
                        x of four dims or more, Reshape(x) of three

w is a constant matrix, b a constant vector, and the last Reshape gives four dims or more. Each row
is multiplied and added as before.
"""

from __future__ import annotations

import math

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import made_by

_FROM = 4
"""The fewest dims at which the compiler fails."""


def rows_of_products(at: Candidate) -> bool:
    """Let the rows of a product be one axis, if only its sum is reshaped."""
    w, reshape, scope, constants, _ = at
    result = scope.of(reshape.outputs[0]).static_shape
    if result is None or len(result) < _FROM:
        return False
    added = _maker(reshape.inputs[0], ("Add", "Sub"))
    if added is None:
        return False
    found = [(i, product) for i, v in enumerate(added.inputs) if (product := _product(v, scope))]
    if len(found) != 1:
        return False
    ((place, product),) = found
    (x, matrix), bias = product.inputs, added.inputs[1 - place]
    if x is None or matrix is None or bias is None or constants.is_constant(x):
        return False
    shapes = [scope.of(value).static_shape for value in (x, matrix, bias)]
    if not all(map(constants.is_constant, (matrix, bias))) or None in shapes:
        return False
    dims, weights, vector = (tuple(shape or ()) for shape in shapes)
    if len(dims) < _FROM or len(weights) != 2 or 0 in (*dims, *result) or len(vector) > len(dims):
        return False
    if any(n != 1 for n in vector[:-1]) or vector[-1:] not in ((1,), weights[1:]):
        return False
    rows = [dims[0], math.prod(dims[1:-1]), dims[-1]]
    narrow = [vector[-1]]
    kind = w.dtype_of(x)

    def write() -> ir.Value:
        merged = w.node("Reshape", [x, w.constant(rows)], kind)
        y = w.node("MatMul", [merged, matrix], kind)
        line = (
            w.node("Reshape", [bias, w.constant(narrow)], kind) if len(vector) > len(rows) else bias
        )
        y = w.node(added.op_type, [y, line] if place == 0 else [line, y], kind)
        return w.node("Reshape", [y, w.constant([*result])], kind)

    return at.replace(reshape.outputs[0], write)


def _product(value: ir.Value | None, scope: Scope) -> ir.Node | None:
    """Return the MatMul of a value, also before a Reshape of the rows."""
    shaped = _maker(value, ("Reshape",))
    if value is None or shaped is None:
        return _maker(value, ("MatMul",))
    shapes = [scope.of(v).static_shape for v in (value, shaped.inputs[0]) if v is not None]
    columns = {shape[-1] if shape else None for shape in shapes}
    return _maker(shaped.inputs[0], ("MatMul",)) if len(columns) == 1 else None


def _maker(value: ir.Value | None, kinds: tuple[str, ...]) -> ir.Node | None:
    """Return the node of these operators that makes a value which is read once."""
    node = made_by(value, *kinds)
    if value is None or node is None or value.is_graph_output():
        return None
    return node if len([*value.uses()]) == 1 else None

"""A norm and its weight, which a compiler makes one operator of.

    weight_behind_norm    Mul(w, Mul(x, Reciprocal(Sqrt(a))))   =   Mul(Mul(x, ...), w)
                          Mul(c, Mul(x, Reciprocal(Sqrt(a))))   =   Mul(c, Mul(..., x))

w is a constant vector along the last axis, c any other constant. The compiler takes the second
factor for the weight: w there is right, and c is hidden from it. A product does not depend on the
order.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import is_operator, made_by, makers

_ROOT = ("Reciprocal", "Sqrt", "Add", "ReduceMean", "Pow")
"""The nodes above the inner product, upwards, each by its first input."""


def weight_behind_norm(at: Candidate) -> bool:
    """Order the factors of a norm and its weight, if the compiler would mistake them."""
    _, node, scope, constants, _ = at
    for place in (0, 1):
        normed, factor = node.inputs[place], node.inputs[1 - place]
        inner = None if normed is None else normed.producer()
        if inner is None or factor is None or not constants.is_constant(factor):
            continue
        if _is_norm(inner) and not constants.is_constant(inner.outputs[0]):
            turned = None if place == 0 else node
            if not _is_weight(factor, inner.outputs[0], scope):
                turned = inner
            return turned is not None and _turn(turned)
    return False


def reads_norm(node: ir.Node) -> bool:
    """Return whether a product of what is normed is a factor of a node."""
    return any(map(_is_norm, makers(node.inputs)))


def _is_norm(product: ir.Node) -> bool:
    """Return whether a Mul multiplies something with the reciprocal of a root, behind it."""
    if not is_operator(product, ("Mul",)):
        return False
    value = product.inputs[1]
    for op_type in _ROOT:
        node = made_by(value, op_type)
        if node is None:
            return False
        value = node.inputs[0]
    return True


def _is_weight(factor: ir.Value, normed: ir.Value, scope: Scope) -> bool:
    """Return whether a factor is a vector of more than one element, along the last axis."""
    own, whole = scope.of(factor).static_shape, scope.of(normed).static_shape
    if not own or not whole or len(own) > len(whole) or own[-1] == 1:
        return False
    return own[-1] == whole[-1] and all(n == 1 for n in own[:-1])


def _turn(product: ir.Node) -> bool:
    """Exchange the factors of a product."""
    first, second = product.inputs
    product.replace_input_with(0, second)
    product.replace_input_with(1, first)
    return True

"""Forms of products with constants that avoid a fault of the target's compiler.

    weight_behind_norm    Mul(w, Mul(x, Reciprocal(Sqrt(a))))   =   Mul(Mul(x, ...), w)
                          Mul(c, Mul(x, Reciprocal(Sqrt(a))))   =   Mul(c, Mul(..., x))
                          w is a constant vector along the last axis, c any other constant
    scale_as_vector       Softmax<axis>(Mul(x, 2))              =   Softmax<axis>(Mul(x, [2]))
                          if the axis is not the last one

The compiler makes one operator of a norm and its weight, and takes the second factor for the
weight: w there is right, and c is hidden from it. A product does not depend on the order.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope, required
from onnx_scatterx.engine.device import TakenOut
from onnx_scatterx.engine.write import Writer
from onnx_scatterx.graphs import attribute_of, constant, is_operator
from onnx_scatterx.text import Refusal

_ROOT = ("Reciprocal", "Sqrt", "Add", "ReduceMean", "Pow")
"""The nodes above the inner product, upwards, each by its first input."""

_BY_AXIS = 13  # the operator set since which a Softmax is one of a single axis


def with_weight_behind(node: ir.Node, scope: Scope, constants: TakenOut) -> bool:
    """Order the factors of a norm and its weight, if the compiler would mistake them."""
    if not is_operator(node, ("Mul",)):
        return False
    for at in (0, 1):
        normed, factor = node.inputs[at], node.inputs[1 - at]
        inner = None if normed is None else normed.producer()
        if inner is None or factor is None or not constants.is_constant(factor):
            continue
        if _is_norm(inner) and not constants.is_constant(inner.outputs[0]):
            turned = None if at == 0 else node
            if not _is_weight(factor, inner.outputs[0], scope):
                turned = inner
            return turned is not None and _turn(turned)
    return False


def _is_norm(product: ir.Node) -> bool:
    """Return whether a Mul multiplies something with the reciprocal of a root, behind it."""
    if not is_operator(product, ("Mul",)):
        return False
    value = product.inputs[1]
    for op_type in _ROOT:
        node = None if value is None else value.producer()
        if node is None or not is_operator(node, (op_type,)):
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


def with_scale_as_vector(w: Writer, node: ir.Node, scope: Scope, constants: TakenOut) -> bool:
    """Make a vector of the scalar with which the operand of a Softmax is multiplied."""
    x = node.inputs[0] if is_operator(node, ("Softmax",)) else None
    rank, product = (None, None) if x is None else (scope.of(x).rank, x.producer())
    if not rank or product is None or not is_operator(product, ("Mul",)) or w.version < _BY_AXIS:
        return False
    if attribute_of(node, "axis", -1) % rank == rank - 1:
        return False
    for at, factor in enumerate(product.inputs):
        if factor is not None and scope.of(factor).rank == 0 and constants.is_constant(factor):
            return _as_vector(w, product, at, constant(factor, scope.overridable))
    return False


def _as_vector(w: Writer, product: ir.Node, at: int, known: ir.TensorProtocol | None) -> bool:
    """Give a scalar factor one axis; if it is an initializer, there."""
    factor = required(product.inputs[at])
    dtype = w.dtype_of(factor)

    def vector() -> ir.Value:
        if known is not None:
            return w.constant(known.numpy().reshape(1), dtype)
        return w.node("Reshape", [factor, w.constant([1])], dtype)

    with w.graph.at(product, factor.name):
        made = w.fragment_of(vector)
        if isinstance(made, Refusal):
            return False
        product.replace_input_with(at, w.graph.commit(made).result)
    return True

"""Weights of attentions: a Softmax of products, between two MatMuls.

    relu_behind_softmax    MatMul(Softmax(MatMul(q, k)), v)   =   MatMul(Relu(Softmax(...)), v)
                           if q or k is a constant, even if Add, Mul or Div stand between;
                           for any q and k in MatMul(v, Transpose(Softmax(...))), and of four
                           dims, if no Mul or Div stands between, and a product is an Einsum, or the
                           result has another number of readers than one; and if a constant is added
                           to MatMul(q, k), with a Reshape in front of the Softmax or behind it
    relu_of_one_query      the same, if q is made of a matrix
    relu_of_many_images    the same, if q has four dims, its first axis has several elements, and
                           no Add stands between q and the Softmax
    many_scales            MatMul(q * c, k)                   =   MatMul(q * [c, ..., c], k)
                           MatMul(q, k) / c                   =   MatMul(q, k) / [c, ..., c]
    scale_as_vector        Softmax<axis>(Mul(x, 2))           =   Softmax<axis>(Mul(x, [2]))
                           if the axis is not the last one

A Softmax is not negative, and a NaN stays a NaN, so a Relu changes nothing. A compiler that makes
one layer of an attention recognizes the one number by which it scales. It reads the heads off the
shape of a Reshape, even if that is -1, and misses a bias that is not there. Many equal numbers,
along an axis that is there anyway, give the same bits.
"""

from __future__ import annotations

from collections.abc import Collection

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope, required
from onnx_scatterx.engine.device import TakenOut
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.fitting.faults.constants import many_equal
from onnx_scatterx.graphs import attribute_of, constant, is_operator, made_by
from onnx_scatterx.operators import described, those

_BETWEEN = those(lambda row: row.neutral is not None)  # sums and products
_SCALES = ("Mul", "Div")
_ARRANGES = ("Reshape", "Transpose")  # between a query and the product with the keys
_CHANGES = ("Add", "Div")  # between the product and the Softmax
_PRODUCTS = ("MatMul", "Einsum")
_DIMS = 4  # of the attentions that a compiler makes one layer of
_MOST = 4  # nodes of each
_BY_AXIS = 13  # the operator set since which a Softmax is one of a single axis


def relu_behind_softmax(at: Candidate) -> bool:
    """Put a Relu behind the Softmax of an attention, if a MatMul is the end of one."""
    reader = _reader_of_weights(at.node, at.scope, at.constants)
    if reader is None:
        return False
    return _keep_apart(at, reader)


def _reader_of_weights(node: ir.Node, scope: Scope, constants: TakenOut) -> ir.Node | None:
    """Return the node that reads the weights of an attention, if a MatMul is the end of one.

    It is the MatMul itself, if constant queries or keys give the weights; or a Transpose of them.
    It may be an Einsum.
    """
    if _is_mistaken(node, scope) or _is_reshaped(node, scope, constants):
        return node
    if node.op_type == "Einsum":
        return None
    scores, turned = _scores(node.inputs[0]), made_by(node.inputs[1], "Transpose")
    if scores is not None:
        has_constant = any(v is not None and constants.is_constant(v) for v in scores.inputs)
        return node if has_constant else None
    if turned is None:
        return None
    return None if _scores(turned.inputs[0]) is None else turned


def _is_mistaken(node: ir.Node, scope: Scope) -> bool:
    """Return whether the compiler fails at an attention that is not scaled, for any operands."""
    softmax = made_by(node.inputs[0], "Softmax")
    if softmax is None:
        return False
    scores = softmax.inputs[0]
    if scores is None or scope.of(scores).rank != _DIMS:
        return False
    product = _maker(scores)
    if product is not None and is_operator(product, ("Add",)):
        product = next((m for m in map(_maker, product.inputs) if is_operator(m, _PRODUCTS)), None)
    if product is None or not is_operator(product, _PRODUCTS):
        return False
    result = node.outputs[0]
    readers = len([*result.uses()]) + result.is_graph_output()
    return readers != 1 or result.is_graph_output() or "Einsum" in (node.op_type, product.op_type)


def _is_reshaped(node: ir.Node, scope: Scope, constants: TakenOut) -> bool:
    """Return whether a Reshape beside the Softmax of a product and a constant mask drops a dim."""
    if node.op_type != "MatMul":
        return False
    value = node.inputs[0]
    for op_type in ("Softmax", "Add"):
        maker = _maker(value)
        if maker is not None and is_operator(maker, ("Reshape",)):
            maker = _maker(maker.inputs[0])
        if maker is None or not is_operator(maker, (op_type,)):
            return False
        value, masks, result = maker.inputs[0], maker.inputs, maker.outputs[0]
    known = [v is not None and constants.is_constant(v) for v in masks]
    products = [is_operator(_maker(v), ("MatMul",)) for v in masks]
    dims = [scope.of(v).rank for v in (required(node.inputs[0]), result)]
    return dims[0] != dims[1] and any(known) and any(products)


def _scores(weights: ir.Value | None, through: Collection[str] = _BETWEEN) -> ir.Node | None:
    """Return the MatMul whose result a Softmax reads, perhaps ``through`` other operators."""
    softmax = made_by(weights, "Softmax")
    if softmax is None:
        return None
    stack = [(softmax.inputs[0], 0)]
    while stack:
        value, depth = stack.pop()
        maker = _maker(value)
        if is_operator(maker, ("MatMul",)) and maker is not None:
            return maker
        if is_operator(maker, through) and maker is not None and depth < _MOST:
            stack += [(v, depth + 1) for v in maker.inputs]
    return None


def _maker(value: ir.Value | None) -> ir.Node | None:
    return None if value is None else value.producer()


def relu_of_one_query(at: Candidate) -> bool:
    """Put a Relu behind the Softmax of an attention, if its query is made of a matrix."""
    scores = _scores(at.node.inputs[0])
    return scores is not None and _is_of_matrix(scores.inputs[0], at) and _keep_apart(at)


def relu_of_many_images(at: Candidate) -> bool:
    """Put a Relu behind the Softmax of an attention of several images, if it adds no mask."""
    scores = _scores(at.node.inputs[0], through=_SCALES)
    if scores is None or scores.inputs[0] is None:
        return False
    dims = at.scope.of(scores.inputs[0]).shape or ()
    return len(dims) == _DIMS and dims[0].constant != 1 and _keep_apart(at)


def _keep_apart(at: Candidate, reader: ir.Node | None = None) -> bool:
    """Put a Relu behind the Softmax that a node reads, by default the MatMul itself."""
    reader, w = reader or at.node, at.writer
    weights = required(reader.inputs[0])
    return at.replace_input(reader, 0, lambda: w.node("Relu", [weights], w.dtype_of(weights)))


def _is_of_matrix(value: ir.Value | None, at: Candidate) -> bool:
    """Return whether a tensor of more dims is made of a matrix, perhaps arranged and scaled."""
    if value is None or (at.scope.of(value).rank or 0) < 3:
        return False
    for _ in range(2 * _MOST):
        node = _maker(value)
        if value is None or node is None or not node.inputs or node.domain != "":
            return False
        if at.scope.of(value).rank == 2:
            return is_operator(node, ("Gemm", "MatMul", "Add"))
        if is_operator(node, _BETWEEN):
            factors = [v for v in node.inputs if v is not None and not at.constants.is_constant(v)]
            value = factors[0] if len(factors) == 1 else None
        elif described(node).keeps_order or is_operator(node, ("Transpose",)):
            value = node.inputs[0]
        else:
            return False
    return False


def scale_as_vector(at: Candidate) -> bool:
    """Make a vector of the scalar with which the operand of a Softmax is multiplied."""
    w, node, scope, constants, _ = at
    x = required(node.inputs[0])
    rank, product = scope.of(x).rank, made_by(x, "Mul")
    if not rank or product is None or w.version < _BY_AXIS:
        return False
    if attribute_of(node, "axis", -1) % rank == rank - 1:
        return False
    for place, factor in enumerate(product.inputs):
        if factor is not None and scope.of(factor).rank == 0 and constants.is_constant(factor):
            return _as_vector(at, product, place)
    return False


def _as_vector(at: Candidate, product: ir.Node, place: int) -> bool:
    """Give a scalar factor one axis; if it is an initializer, there."""
    w, factor = at.writer, required(product.inputs[place])
    known, dtype = constant(factor, at.scope.overridable), w.dtype_of(factor)

    def vector() -> ir.Value:
        if known is not None:
            return w.constant(known.numpy().reshape(1), dtype)
        return w.node("Reshape", [factor, w.constant([1])], dtype)

    return at.replace_input(product, place, vector)


def many_scales(at: Candidate) -> bool:
    """Scale an attention by many equal numbers, not by one."""
    w, node, scope, _, _ = at
    numbers = [constant(v, scope.overridable) for v in node.inputs]
    place = 1 if numbers[0] is None else 0
    number, x = numbers[place], node.inputs[1 - place]
    if number is None or x is None or number.size != 1 or (node.op_type == "Div" and place == 0):
        return False
    known = scope.of(x)
    sizes = [size.constant or 0 for size in known.shape or ()]
    many = many_equal(number.numpy(), sizes)
    if many is None or known.dtype != ir.DataType.FLOAT or len(number.shape) > len(sizes):
        return False
    scores = is_operator(x.producer(), ("MatMul",)) and node.op_type == "Div"
    if not (_is_weighed(node, _MOST) if scores else _is_multiplied(node, _MOST)):
        return False

    def write() -> ir.Value:
        operands = [x, x]
        operands[place] = w.constant(many, ir.DataType.FLOAT)
        return w.node(node.op_type, operands, ir.DataType.FLOAT)

    return at.replace(node.outputs[0], write)


def _is_multiplied(node: ir.Node, most: int) -> bool:
    """Return whether a Softmax reads a product of what a node gives."""
    readers = [use.node for value in node.outputs for use in value.uses()]
    return any(
        _is_weighed(reader, _MOST)
        if is_operator(reader, ("MatMul",))
        else most > 0 and is_operator(reader, _ARRANGES) and _is_multiplied(reader, most - 1)
        for reader in readers
    )


def _is_weighed(node: ir.Node, most: int) -> bool:
    """Return whether a Softmax reads what a node gives, perhaps scaled and masked."""
    readers = [use.node for value in node.outputs for use in value.uses()]
    return any(
        is_operator(reader, ("Softmax",))
        or (most > 0 and is_operator(reader, _CHANGES) and _is_weighed(reader, most - 1))
        for reader in readers
    )

"""Element-wise operators: the same bits wherever an element stands, or other last bits.

    before   y = Mul(ScatterND(Add(a, b), i, u), c)          all of float16
    after    y = Mul(Concat(Slice(Add(a, b)), u), c)

ONNX Runtime computes a float16 node that stands alone among others in float32, as it does those,
without rounding between them: a scatter, but not the several nodes that replace it.

    before   y = Mul(ScatterND(x, all, Conv(a, w)), c)
    after    y = Mul(Conv(a, w), c)

Under its default options ONNX Runtime makes one node of two that follow each other. It packs an
operand of a product that is a constant, and then computes the product by another kernel.

    before   y = ScatterND(x, i, Mul(GatherND(x, i), c))     x = MatMul(a, b)
    after    y = Where(m, Mul(x, c), x)

A function of what a mask reads is a neighbour of other nodes than before.

ONNX Runtime processes several elements at once, and the last few of a tensor one by one. Some of
its functions then differ in the last bit, or by more: Log, Sin, Cos, Asin, Acos, Atan, Elu, Selu,
Celu, Softplus and Mish of float32, and for double Exp, Tanh, Sigmoid and Swish too. What is listed
here does not differ: ``f(x[m])`` is ``f(x)[m]``, bit for bit, but for the sign of a zero: which of
0 and -0 is their Max or Min depends on the place, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import onnx_ir as ir

from onnx_scatterx.engine.lift.lifting import is_scatter
from onnx_scatterx.engine.quantizers.around import MOVED_PAST
from onnx_scatterx.engine.quantizers.quantization import operands_of
from onnx_scatterx.engine.write.reduction import is_ordered
from onnx_scatterx.graphs.constants import packed
from onnx_scatterx.graphs.traversal import graphs_of, is_operator, makers, reached
from onnx_scatterx.text.reasons import LastBit

MEASURED = "1.32"
"""The version of ONNX Runtime that was measured, on x86-64 with AVX2 and AVX-512."""

_ANY = {
    *("Abs", "Add", "Clip", "Div", "Equal", "Greater", "GreaterOrEqual", "Identity", "Less"),
    *("LessOrEqual", "Max", "Min", "Mod", "Mul", "Neg", "Relu", "Sign", "Sub", "Where"),
}
_BOOLS = {"And", "Equal", "Identity", "Not", "Or", "Where", "Xor"}
_INTEGERS = {"BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor"}
_FLOATS = {
    *("Ceil", "Floor", "IsInf", "IsNaN", "PRelu", "Pow", "Reciprocal", "Round"),
    *("Shrink", "Sqrt"),
}
_SINGLE = {
    *("Acosh", "Asinh", "Atanh", "Cosh", "Erf", "Exp", "Gelu", "HardSigmoid", "HardSwish"),
    *("LeakyRelu", "Sigmoid", "Sinh", "Softsign", "Swish", "Tan", "Tanh", "ThresholdedRelu"),
}


UNLIKE = frozenset(
    {
        *("Acos", "Asin", "Atan", "Celu", "Cos", "Elu", "Exp", "Log", "Mish", "Selu", "Sigmoid"),
        *("Sin", "Softplus", "Swish", "Tanh"),
    }
)
"""The last bits of these, or of one of their types, depend on the place."""


def listed(dtype: ir.DataType) -> frozenset[str]:
    """Return the operators whose results on elements of a type do not depend on their place.

    Cast is not among them: whether it is one of them depends on both types.

    >>> "Sqrt" in listed(ir.DataType.FLOAT), "Log" in listed(ir.DataType.FLOAT)
    (True, False)
    """
    if dtype == ir.DataType.BOOL:
        return frozenset(_BOOLS)
    if dtype.is_integer() and dtype.bitwidth >= 8:
        return frozenset(_ANY | _INTEGERS) - (set() if is_ordered(dtype) else {"Max", "Min"})
    if dtype in (ir.DataType.FLOAT, ir.DataType.FLOAT16):
        # Without a bound, Clip of float16 ends at 65504, or at infinity if it runs as float32.
        unlike = {"Clip"} if dtype == ir.DataType.FLOAT16 else set()
        return frozenset(_ANY | _FLOATS | _SINGLE) - unlike
    return frozenset(_ANY | _FLOATS) if dtype == ir.DataType.DOUBLE else frozenset()


def computes_alike(
    node: ir.Node, dtypes: Sequence[ir.DataType | None], *, last_bits: bool = False
) -> bool:
    """Return whether a node on elements of these types computes the same bits at any place.

    If ``last_bits``, those of floats may differ.
    """
    first = next((d for d in dtypes if d not in (None, ir.DataType.BOOL)), ir.DataType.BOOL)
    if first is None or node.domain != "" or len(node.outputs) != 1:
        return False
    if any(a.is_ref() for a in node.attributes.values()):
        return False
    if node.op_type == "Cast":
        return _casts_alike(first, ir.DataType(node.attributes["to"].as_int()))
    if last_bits and first.is_floating_point() and node.op_type in UNLIKE:
        return True
    return node.op_type in listed(first)


def _casts_alike(source: ir.DataType, target: ir.DataType) -> bool:
    """A float that is out of the range of an integer becomes another one at another place."""
    known = target == ir.DataType.BOOL or bool(listed(target))
    return (
        known and bool(listed(source)) and not (source.is_floating_point() and target.is_integer())
    )


_SUMS = {"Add", "Div", "Max", "Min", "Mul", "Sub", "Sum"}
"""Of the operators that are written, those that compute with floats."""

_FUNCTIONS = (listed(ir.DataType.FLOAT) | UNLIKE) - {"Identity", "Where"}
"""Of functions of what a mask reads, those that compute."""

_NEAR = 64
"""How many nodes are looked at; those behind them are taken to compute."""


def last_bits(
    value: ir.Value,
    result: ir.Value,
    gone: Collection[ir.Node],
    new: Collection[ir.Node],
    dtype: ir.DataType | None,
    is_constant: bool,
) -> tuple[LastBit, ...]:
    """Return why the last bit of a value, or of what follows, may differ after its replacement.

    ``gone`` are the nodes that computed the value, and ``result`` replaces it, perhaps as a
    constant; both still stand. ``new`` are the nodes that were written for it.
    """
    if dtype is None or not dtype.is_floating_point():
        return ()
    outputs = [value, *(v for node in gone for v in node.outputs)]
    below = _computes([use.node for v in outputs for use in v.uses()], _moved)
    reasons = []
    reduces = any(is_scatter(n) and "reduction" in n.attributes for n in gone)
    functions = [n for n in new if n.op_type in _FUNCTIONS and not (reduces and _sums(n))]
    if dtype in (ir.DataType.FLOAT16, ir.DataType.BFLOAT16):
        above = _computes((n for node in gone for n in _operands(node)), _operands)
        if functions or above + below + reduces > 1:
            reasons.append(LastBit.FLOAT16)
    if any(n.op_type in UNLIKE - listed(n.outputs[0].dtype or dtype) for n in functions):
        reasons.append(LastBit.PLACE)
    operands = {v for n in functions for v in n.inputs if v is not None and v.producer() not in new}
    if (below and _is_neighbour(result)) or any(map(_is_neighbour, operands)):
        reasons.append(LastBit.FUSED)
    if is_constant and _is_multiplied(value):
        reasons.append(LastBit.PACKED)
    return tuple(reasons)


def _sums(node: ir.Node) -> bool:
    return is_operator(node, _SUMS)


def _is_multiplied(value: ir.Value) -> bool:
    """Return whether a value, or what is computed from it, goes to a kernel that packs it."""
    behind = reached([value], lambda v: [out for use in v.uses() for out in use.node.outputs])
    return any(
        count == _NEAR or any(use.idx in packed(use.node) for use in here.uses())
        for count, here in enumerate(behind)
    )


def _operands(node: ir.Node) -> list[ir.Node]:
    """Return the nodes that compute what a node moves."""
    return makers(node.inputs[i] for i in operands_of(node))


def _moved(node: ir.Node) -> list[ir.Node]:
    """Return the nodes that read what a node moves."""
    return list(node.successors()) if operands_of(node) else []


def _computes(nodes: Iterable[ir.Node], near: Callable[[ir.Node], list[ir.Node]]) -> bool:
    """Return whether elements come from a node that computes them, or go to one."""
    plain = ("Constant", "ConstantOfShape", "Shape", "Size")
    return any(
        count == _NEAR or not (operands_of(node) or is_operator(node, plain))
        for count, node in enumerate(reached(nodes, near))
    )


def _is_neighbour(result: ir.Value) -> bool:
    """Return whether a node that computes gives a value, perhaps through one that moves it."""
    value: ir.Value | None = result
    for _ in range(_NEAR):
        node = None if value is None else value.producer()
        if node is None or graphs_of(node):
            return False
        if not is_operator(node, MOVED_PAST):
            moves = operands_of(node) or is_operator(node, ("Constant", "ConstantOfShape", "Pad"))
            return _sums(node) or not moves
        value = node.inputs[0]
    return True

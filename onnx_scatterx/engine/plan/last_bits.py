"""Element-wise operators that compute the same bits wherever an element stands in a tensor.

ONNX Runtime processes several elements at once, and the last few of a tensor one by one. Some of
its functions then differ in the last bit, or by more: Log, Sin, Cos, Asin, Acos, Atan, Elu, Selu,
Celu, Softplus and Mish of float32, and for double Exp, Tanh, Sigmoid and Swish too. What is listed
here does not differ: ``f(x[m])`` is ``f(x)[m]``, bit for bit, but for the sign of a zero: which of
0 and -0 is their Max or Min depends on the place, too.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from onnx_scatterx.engine.write import is_ordered

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

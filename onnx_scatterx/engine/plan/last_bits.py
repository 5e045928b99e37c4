"""Element-wise operators that compute the same bits wherever an element stands in a tensor.

ONNX Runtime processes several elements at once, and the last few of a tensor one by one. Some of
its functions then differ in the last bit, or by more: Log, Sin, Cos, Asin, Acos, Atan, Elu, Selu,
Celu, Softplus and Mish of float32, and for double Exp, Tanh, Sigmoid and Swish too. What the
table of operators has as ``alike`` does not differ: ``f(x[m])`` is ``f(x)[m]``, bit for bit, but
for the sign of a zero: which of 0 and -0 is their Max or Min depends on the place, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import onnx_ir as ir

from onnx_scatterx.engine.write import is_ordered
from onnx_scatterx.operators import Kinds, described, element_type, those


@cache
def listed(dtype: ir.DataType) -> frozenset[str]:
    """Return the operators whose results on elements of a type do not depend on their place.

    Cast is not among them: whether it is one of them depends on both types.

    >>> "Sqrt" in listed(ir.DataType.FLOAT), "Log" in listed(ir.DataType.FLOAT)
    (True, False)
    """
    kind, unlike = _kind(dtype), set()
    if kind == Kinds.INTEGER and not is_ordered(dtype):
        unlike = {"Max", "Min"}
    elif dtype == ir.DataType.FLOAT16:
        # Without a bound, Clip of float16 ends at 65504, or at infinity if it runs as float32.
        unlike = {"Clip"}
    return those(lambda row: row.alike & kind) - unlike


def _kind(dtype: ir.DataType) -> Kinds:
    if dtype == ir.DataType.BOOL:
        return Kinds.BOOL
    if dtype.is_integer():
        return Kinds.INTEGER if dtype.bitwidth >= 8 else Kinds.NONE
    if dtype in (ir.DataType.FLOAT, ir.DataType.FLOAT16):
        return Kinds.FLOAT
    return Kinds.DOUBLE if dtype == ir.DataType.DOUBLE else Kinds.NONE


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
        return _casts_alike(first, element_type(node.attributes["to"].as_int()))
    if last_bits and first.is_floating_point() and described(node).near:
        return True
    return node.op_type in listed(first)


def rows_alike(node: ir.Node, dtype: ir.DataType) -> bool:
    """Return whether a row of an output of a type has the same bits alone and among others.

    What is known of the operator does not say whether the node packs an operand, and where its rows
    stand: see ``packs`` and ``aligned``.
    """
    row = described(node)
    if 0 in row.packs and dtype == ir.DataType.FLOAT16:
        return False  # ONNX Runtime casts the operands in each run, so it packs none
    return bool(row.rows_alike & _kind(dtype))


def _casts_alike(source: ir.DataType, target: ir.DataType) -> bool:
    """A float that is out of the range of an integer becomes another one at another place."""
    known = target == ir.DataType.BOOL or bool(listed(target))
    return (
        known and bool(listed(source)) and not (source.is_floating_point() and target.is_integer())
    )

"""Choosing between two tensors element by element, bit for bit.

ONNX Runtime's Where loses the sign of a zero that it takes from its second input (it joins the two
sides by "the first that is not zero"), and has no kernel for bool. So floats are selected as

    where(c, a, b) = Where(c, 1, b) * Where(not c, 1, a)

which multiplies every element by 1, unless ``a`` is known to hold no -0.0; bools by And and Or.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.emit.writer import Writer

_BOOL = ir.DataType.BOOL


def select_cost(writer: Writer, dtype: ir.DataType, *, keeps_zeros: bool) -> int:
    """Return how many nodes ``select`` takes, or refuse where a kernel is missing."""
    if dtype == _BOOL:
        return 4
    writer.require("Where", dtype)
    if keeps_zeros or not dtype.is_floating_point():
        return 1
    writer.require("Mul", dtype)
    return 4


def select(
    writer: Writer,
    condition: ir.Value,
    a: ir.Value,
    b: ir.Value,
    dtype: ir.DataType,
    *,
    keeps_zeros: bool,
) -> ir.Value:
    """Return ``a`` where the condition holds and ``b`` elsewhere, broadcast against each other.

    ``keeps_zeros`` says that ``a`` is known to have no -0.0, so that one Where is exact; ``b`` must
    have the shape of the result then, for a -0.0 that is repeated is lost too.
    """
    w = writer
    if dtype == _BOOL:
        no = w.node("Not", [condition], _BOOL)
        chosen = [w.node("And", pair, _BOOL) for pair in ([condition, a], [no, b])]
        return w.node("Or", chosen, _BOOL)
    if keeps_zeros or not dtype.is_floating_point():
        return w.node("Where", [condition, a, b], dtype)
    one = w.constant(np.ones((), dtype.numpy()), dtype)
    no = w.node("Not", [condition], _BOOL)
    kept = w.node("Where", [condition, one, b], dtype)
    taken = w.node("Where", [no, one, a], dtype)
    return w.node("Mul", [kept, taken], dtype)

"""One function of numbers and of terms, on tensors that are broadcast; and other element types.

Of the dims with one letter in an Einsum, those that are 1 are broadcast. Up to 1.31, a MatMul with
an empty sum takes the batch of its left side, which is not broadcast.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.broadcast_shapes import (
    broadcast_coords,
    broadcast_dims,
    broadcast_shapes,
)
from onnx_scatterx.engine.analysis.domain.call import Call, Result, Versions, require, required
from onnx_scatterx.engine.analysis.domain.overflow import fits
from onnx_scatterx.engine.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.engine.budget import LIMITS, PRICES, budget
from onnx_scatterx.engine.terms import Facts, Term, equals
from onnx_scatterx.operators import named_equation


def combine(
    inputs: list[TensorValue],
    dtype: ir.DataType | None,
    numeric: Callable[..., object],
    symbolic: Callable[..., object] | None,
    facts: Facts,
    *,
    selects: bool = False,
) -> list[TensorValue]:
    """Return the elementwise result of tensors that are broadcast against each other.

    If ``selects``, the result is one of the inputs' elements, so it has their type's range.
    """
    shape = broadcast_shapes([required(i.shape) for i in inputs])
    if dtype is None:
        return [TensorValue(None, shape)]
    arrays = [i.constant for i in inputs]
    # Some runtimes compute half types in wider types: the rounding is not known.
    if all(a is not None and (a.dtype.kind in "iub" or a.dtype.char in "fd") for a in arrays):
        total = math.prod(np.broadcast_shapes(*(a.shape for a in arrays if a is not None)))
        if total <= LIMITS.folded:
            budget().charge_part(PRICES.of_array(total))
            with np.errstate(all="ignore"):
                try:
                    result = np.asarray(numeric(*arrays))
                except ZeroDivisionError:
                    return [TensorValue(dtype, shape)]
            return [TensorValue(dtype, shape, result.astype(dtype.numpy(), copy=False))]
    if symbolic is None or not all(i.is_integer for i in inputs):
        return [TensorValue(dtype, shape)]
    content: np.ndarray | Term | None = _of_elements(inputs, shape, symbolic)
    if content is None:
        content = _of_formulas(inputs, shape, symbolic, facts)
    if content is None:
        return [TensorValue(dtype, shape)]
    elements = content.ravel() if isinstance(content, np.ndarray) else [content]
    if any(t is None or not (selects or fits(t, dtype, facts)) for t in elements):
        return [TensorValue(dtype, shape)]
    if isinstance(content, np.ndarray):
        return [TensorValue.explicit(content, dtype)]
    return [TensorValue(dtype, shape, content)]


def _of_elements(
    inputs: list[TensorValue], shape: Shape, symbolic: Callable[..., object]
) -> np.ndarray | None:
    dims = [d.constant for d in shape if d.constant is not None]
    if len(shape) > 1 or len(dims) < len(shape):
        return None
    arrays = [a for i in inputs if (a := i.element_exprs) is not None]
    if len(arrays) < len(inputs):
        return None
    result = np.empty(dims, dtype=object)
    spread = [(a if a.size == result.size else np.broadcast_to(a, dims)).ravel() for a in arrays]
    result.ravel()[:] = list(map(symbolic, *spread))
    return result


def _of_formulas(
    inputs: list[TensorValue], shape: Shape, symbolic: Callable[..., object], facts: Facts
) -> Term | None:
    formulas: list[Term] = []
    for i in inputs:
        if i.index_map is None or i.shape is None:
            return None
        formulas.append(i.index_map.at(broadcast_coords(i.shape, shape, facts)))
    result = symbolic(*formulas)
    assert result is None or isinstance(result, Term)
    return result


def cast(call: Call) -> Result:
    return cast_to(call.present(0), ir.DataType(call.integer("to", 0)), call.facts)


def cast_to(x: TensorValue, to: ir.DataType, facts: Facts) -> Result:
    """Return a tensor in another element type."""
    if to == x.dtype:
        return [x]
    whole = (to.is_integer() and to.bitwidth >= 8) or to == ir.DataType.BOOL
    # Narrower floats: some runtimes round in one step, some in two.
    arithmetic = whole or to in (ir.DataType.FLOAT, ir.DataType.DOUBLE)
    known = x.constant
    if (
        known is not None
        and known.size <= LIMITS.folded
        and arithmetic
        and known.dtype.kind in "iufb"
    ):
        limits = np.iinfo(to.numpy()) if to.is_integer() else None
        if known.dtype.kind == "f" and limits is not None:
            # Out of range, a conversion from floats is not defined.
            wide = known.astype(np.float64)
            low = -1 if limits.min == 0 else -(2.0 ** (limits.bits - 2))
            if not ((wide > low) & (wide < 2.0 ** (limits.bits - 2))).all():
                return [TensorValue(to, x.shape)]
        return [TensorValue(to, x.shape, known.astype(to.numpy()))]
    if not x.is_integer or not whole:
        return [TensorValue(to, x.shape)]

    def convert(t: Term) -> Term | None:
        if to == ir.DataType.BOOL:
            return 1 - equals(t, 0) if x.dtype != ir.DataType.BOOL else t
        return t if fits(t, to, facts) else None

    return combine([x], to, lambda a: a, convert, facts)


def cast_like(call: Call) -> Result:
    return cast_to(call.present(0), required(call.present(1).dtype), call.facts)


def matmul(call: Call, asked: Sequence[Term] = ()) -> list[TensorValue]:
    """Transfer a MatMul, of integers and of quantized numbers too.

    Older versions think that the sum is empty if one of the sizes that are ``asked`` is 0.
    """
    op = call.node.op_type
    a, b = call.known(0, 1), call.known(3 if op == "QLinearMatMul" else 1, 1)
    dtype = ir.DataType.INT32 if op == "MatMulInteger" else a.dtype
    if op == "QLinearMatMul":
        dtype = None if (zero := call.inputs[7]) is None else zero.dtype
    rows, columns = a.dims[-2:-1], b.dims[-1:] if len(b.dims) > 1 else ()
    left, right = a.dims[:-2], b.dims[:-2]
    summed = a.dims[-1], b.dims[-2:][0]
    batch = broadcast_shapes([left, right])
    proves = call.facts.is_nonnegative
    filled = any(proves(n - 1) for n in summed) and all(proves(n - 1) for n in asked)
    if not filled and call.versions is not Versions.NEWER and len(left) >= len(right):
        fresh = call.unknown_shape(len(left))
        batch = tuple(
            m if m is n else other for m, n, other in zip(left, batch, fresh, strict=True)
        )
    return [TensorValue(dtype, (*batch, *rows, *columns))]


def einsum(call: Call) -> Result:
    """Transfer an Einsum, with letters for its dots, and with its result."""
    shapes = [call.known(i).dims for i in range(len(call.inputs))]
    equation = required(named_equation(call.string("equation", ""), [*map(len, shapes)]))
    left, _, right = equation.partition("->")
    dims: dict[str, list[Term]] = {}
    for letters, shape in zip(left.split(","), shapes, strict=True):
        for letter, dim in zip(letters, shape, strict=True):
            dims.setdefault(letter, []).append(dim)
    dtype = call.present(0).dtype
    require({*right} <= dims.keys())
    return [TensorValue(dtype, tuple(broadcast_dims(dims[letter]) for letter in right))]

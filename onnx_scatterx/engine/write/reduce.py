"""Two tensors combined or chosen element by element, and the positions and order of an axis.

ONNX Runtime's scatters compute ``x > u ? x : u`` for ``max`` (``<`` for ``min``), which differs
from Max and Min if one operand is NaN or both are zeros. For int64 with equal upper halves, Max,
Min, ReduceMax and ReduceMin compare the lower halves as signed numbers, if they process several at
once (1.31, on a processor with AVX: ``Max([2**31, 0], 0)`` is 0). So they are used for sizes and
positions, not for data.

ONNX Runtime lacks a kernel for a Where of bools. Its Where of floats joins the two sides by "the
first that is not zero", so a selected zero may have the other sign.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.tensor import Shape
from onnx_scatterx.engine.terms.prove import Facts
from onnx_scatterx.engine.terms.terms import Term
from onnx_scatterx.engine.write.kernels import has_kernel
from onnx_scatterx.engine.write.terms import TermEmitter
from onnx_scatterx.engine.write.writer import Writer
from onnx_scatterx.text.reasons import Reason, RefusedError


def select(
    w: Writer, condition: ir.Value, a: ir.Value, b: ir.Value, dtype: ir.DataType
) -> ir.Value:
    """Return ``a`` if the condition is true, else ``b``, broadcast against each other."""
    if dtype != _BOOL:
        return w.node("Where", [condition, a, b], dtype)
    no = w.node("Not", [condition], _BOOL)
    chosen = [w.node("And", pair, _BOOL) for pair in ([condition, a], [no, b])]
    return w.node("Or", chosen, _BOOL)


_BOOL = ir.DataType.BOOL


def reducers(writer: Writer, reduction: str, dtype: ir.DataType) -> tuple[str, ...]:
    """Return the operators that a reduction takes, none for "none", or refuse."""
    if reduction == "none":
        return ()
    if dtype == _BOOL:
        one = {"add": "Or", "mul": "And"}.get(reduction)
    else:
        one = {"add": "Add", "mul": "Mul", "max": "Max", "min": "Min"}.get(reduction)
        if reduction in ("max", "min") and not is_ordered(dtype):
            one = None
    if one is not None and has_kernel(one, writer.version, dtype):
        return (one,)
    two = {"max": ("Greater", "Where"), "min": ("Less", "Where")}.get(reduction, ())
    if not two or not all(has_kernel(op, writer.version, dtype) for op in two):
        raise RefusedError(Reason.NO_KERNEL, f"{reduction} of {dtype.name.lower()}")
    return two


def is_ordered(dtype: ir.DataType) -> bool:
    """Return whether Max, Min, ReduceMax and ReduceMin compare as a scatter does."""
    return dtype.is_integer() and dtype != ir.DataType.INT64


def reduced(w: Writer, reduction: str, x: ir.Value, u: ir.Value, dtype: ir.DataType) -> ir.Value:
    """Return updates ``u`` combined into ``x`` by a reduction, or refuse."""
    ops = reducers(w, reduction, dtype)
    if not ops:
        return u
    if len(ops) == 1:
        return w.node(ops[0], [x, u], dtype)
    return select(w, w.node(ops[0], [x, u], _BOOL), x, u, dtype)


def reduced_where(
    w: Writer, hit: ir.Value, reduction: str, x: ir.Value, u: ir.Value, dtype: ir.DataType
) -> ir.Value:
    """Return ``x``, with updates ``u`` combined into it where ``hit`` is true."""
    return select(w, hit, reduced(w, reduction, x, u, dtype), x, dtype)


_INT64 = ir.DataType.INT64
LISTED = 1 << 9  # positions of an axis that are listed, at most: a constant takes space


def iota(numbers: TermEmitter, size: Term) -> ir.Value:
    """Return the numbers from 0 up to a size as a vector of int64."""
    w = numbers.writer
    if size.constant is not None and size.constant <= LISTED:
        return w.constant(np.arange(size.constant))
    if size.constant is not None:
        limit = w.constant(np.array(size.constant))
    else:
        limit = w.axes("Squeeze", numbers.vector(size), _INT64, [0])
    zero, one = (w.constant(np.array(n)) for n in (0, 1))
    return w.node("Range", [zero, limit, one], _INT64)


def ring(numbers: TermEmitter, size: Term, facts: Facts) -> ir.Value:
    """Return a size as a vector, to compute a remainder by: 1 if the size is 0."""
    vector = numbers.vector(size)
    if facts.is_nonnegative(size - 1):
        return vector
    return numbers.writer.node("Max", [vector, numbers.writer.constant([1])], _INT64)


def argsort(w: Writer, x: ir.Value, count: ir.Value, axis: int) -> ir.Value:
    """Write a TopK that sorts int64 along an axis of ``count`` elements; return their positions.

    It sorts in ascending order from operator set 11 on.
    """
    return _top(w, x, _INT64, count, axis, largest=False)[1]


def extreme(w: Writer, x: ir.Value, dtype: ir.DataType, axis: int, *, largest: bool) -> ir.Value:
    """Write a TopK of the largest or the smallest element along an axis, which is removed."""
    values, _ = _top(w, x, dtype, w.constant([1]), axis, largest=largest)
    return w.axes("Squeeze", values, dtype, [axis])


def _top(
    w: Writer, x: ir.Value, dtype: ir.DataType, count: ir.Value, axis: int, *, largest: bool
) -> tuple[ir.Value, ir.Value]:
    values, indices = [
        ir.Value(name=w.new_name("TopK"), type=ir.TensorType(kind)) for kind in (dtype, _INT64)
    ]
    settings = {"axis": axis, "largest": int(largest), "sorted": 1}
    attributes = [ir.AttrInt64(name, number) for name, number in settings.items()]
    outputs = [values, indices]
    w.insert(ir.Node("", "TopK", [x, count], attributes, outputs=outputs, name=values.name))
    return values, indices


def from_start(writer: Writer, at: ir.Value, size: int) -> ir.Value:
    """Return positions of an axis of a size, the negative ones counted from the start."""
    end = writer.node("Add", [at, writer.constant(np.array(size))], _INT64)
    is_negative = writer.node("Less", [at, writer.constant(np.array(0))], _BOOL)
    return writer.node("Where", [is_negative, end, at], _INT64)


def take(
    numbers: TermEmitter,
    x: ir.Value,
    rows: ir.Value,
    dtype: ir.DataType,
    axis: int,
    shape: Shape | None,
) -> ir.Value:
    """Return ``x[..., rows, ...]`` along an axis.

    If ``shape`` is None, ``rows`` is a vector. Else ``rows`` has positions for each element of the
    result, and broadcasts to the result's ``shape``.
    """
    w = numbers.writer
    if shape is None:
        return w.node("Gather", [x, rows], dtype, axis=axis)
    rows = w.node("Expand", [rows, numbers.shape(shape)], _INT64)
    return w.node("GatherElements", [x, rows], dtype, axis=axis)

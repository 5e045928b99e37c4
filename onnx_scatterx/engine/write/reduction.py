"""The reduction of a scatter, written as operators: two tensors combined element by element.

ONNX Runtime's scatters compute ``x > u ? x : u`` for ``max`` (``<`` for ``min``), which differs
from Max and Min if one operand is NaN or both are zeros. For int64 with equal upper halves, Max,
Min, ReduceMax and ReduceMin compare the lower halves as signed numbers, if they process several at
once (1.31, on a processor with AVX: ``Max([2**31, 0], 0)`` is 0). So they are used for sizes and
positions, not for data.

ONNX Runtime lacks a kernel for a Where of bools. Its Where of floats joins the two sides by "the
first that is not zero", so a selected zero may have the other sign.
"""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from onnx_scatterx.engine.write.ordered import top
from onnx_scatterx.engine.write.writer import Writer
from onnx_scatterx.operators import has_kernel
from onnx_scatterx.text import Reason, RefusedError

_BOOL = ir.DataType.BOOL


@dataclass(frozen=True)
class Reducer:
    """A reduction of a scatter for an element type; of "none", only the updates are left."""

    writer: Writer
    name: str
    dtype: ir.DataType

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators that it takes, none for "none", or refuse."""
        name, dtype, version = self.name, self.dtype, self.writer.version
        if name == "none":
            return ()
        if dtype == _BOOL:
            one = {"add": "Or", "mul": "And"}.get(name)
        else:
            one = {"add": "Add", "mul": "Mul", "max": "Max", "min": "Min"}.get(name)
            if name in ("max", "min") and not is_ordered(dtype):
                one = None
        if one is not None and has_kernel(one, version, dtype):
            return (one,)
        two = {"max": ("Greater", "Where"), "min": ("Less", "Where")}.get(name, ())
        if not two or not all(has_kernel(op, version, dtype) for op in two):
            raise RefusedError(Reason.NO_KERNEL, f"{name} of {dtype.name.lower()}")
        return two

    def combined(self, x: ir.Value, u: ir.Value) -> ir.Value:
        """Return updates ``u`` combined into ``x``, or refuse."""
        ops = self.operators
        if not ops:
            return u
        if len(ops) == 1:
            return self.writer.node(ops[0], [x, u], self.dtype)
        return self._select(self.writer.node(ops[0], [x, u], _BOOL), x, u)

    def where(self, hit: ir.Value, x: ir.Value, u: ir.Value) -> ir.Value:
        """Return ``x``, with updates ``u`` combined into it where ``hit`` is true.

        The three are broadcast against each other.
        """
        return self._select(hit, self.combined(x, u), x)

    def along(self, x: ir.Value, axis: int) -> ir.Value:
        """Return the largest ("max") or smallest ("min") integer along an axis, which is removed.

        If ReduceMax does not compare as a scatter does, a TopK does.
        """
        w, largest = self.writer, self.name == "max"
        if is_ordered(self.dtype):
            return w.reduce("ReduceMax" if largest else "ReduceMin", x, self.dtype, axis)
        values, _ = top(w, x, self.dtype, w.constant([1]), axis, largest=largest)
        return w.axes("Squeeze", values, self.dtype, [axis])

    def _select(self, condition: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
        """Return ``a`` if the condition is true, else ``b``."""
        w = self.writer
        if self.dtype != _BOOL:
            return w.node("Where", [condition, a, b], self.dtype)
        no = w.node("Not", [condition], _BOOL)
        chosen = [w.node("And", pair, _BOOL) for pair in ([condition, a], [no, b])]
        return w.node("Or", chosen, _BOOL)


def is_ordered(dtype: ir.DataType) -> bool:
    """Return whether Max, Min, ReduceMax and ReduceMin compare as a scatter does."""
    return dtype.is_integer() and dtype != ir.DataType.INT64

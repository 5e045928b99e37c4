"""The rules as functions for `torch.onnx.export(custom_translation_table=...)`.

Here a rule sees one operator, and no guards. But the program runs only if its writes are in bounds:
if k elements are written from s on, ``0 <= s`` and ``s + k <= n``. So s may be known only at run
time. Such a number is a tensor of shape [1].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import onnx_ir as ir

from onnx_scatterx.doors.programs import indices, slices
from onnx_scatterx.doors.programs.ops import Number, Ops, Tensor

END = 2**63 - 1
NAMES = {
    "add": "Add",
    "sub": "Sub",
    "mul": "Mul",
    "max": "Max",
    "min": "Min",
    "lt": "Less",
    "ite": "Where",
    "eq": "Equal",
    "ge": "GreaterOrEqual",
    "logical_and": "And",
    "remainder": "Mod",
}


class Onnx(Ops):
    """Writes ONNX operators, with the opset of onnxscript that is being traced."""

    def __init__(self) -> None:
        super().__init__()
        from onnxscript import opset18

        self.op: Any = opset18
        self.facts: set[tuple[Any, Any]] = set()
        self.made: dict[tuple[Any, ...], Any] = {}

    def size(self, x: Tensor, dim: int) -> Number:
        known = x.shape[dim] if x.shape is not None else None
        if isinstance(known, int):
            return known
        name = getattr(known, "value", None)  # sizes of one name are equal
        key = ("size", name) if name else ("size", x, dim)
        if key not in self.made:
            self.made[key] = self.op.Shape(x, start=dim, end=dim + 1)
        return self.made[key]

    def rank(self, x: Tensor) -> int:
        return len(x.shape)

    def is_bool(self, x: Tensor) -> bool:
        return bool(x.dtype == ir.DataType.BOOL)

    def number(self, name: str, *args: Number) -> Number:
        key = (name, *args)
        if key not in self.made:
            given = [self._vector(arg) for arg in args]
            self.made[key] = getattr(self.op, NAMES[name])(*given)
        return self.made[key]

    def _vector(self, number: Number) -> Any:
        return self.op.Constant(value_ints=[number]) if isinstance(number, int) else number

    def known(self, a: Number, b: Number) -> bool:
        return (a, b) in self.facts

    def learn(self, a: Number, b: Number) -> None:
        self.facts.add((a, b))

    def fits(self, new: Tensor, x: Tensor) -> bool:
        return True

    def slice(self, x: Tensor, dim: int, lo: Number, hi: Number, step: int = 1) -> Tensor:
        n = self.size(x, dim)
        bounds = (END if at is n else self._from_end(n, at) for at in (lo, hi))
        given = [self._vector(number) for number in (*bounds, dim, step)]
        return self._shaped(self.op.Slice(x, *given), self.rank(x))

    def _from_end(self, n: Number, at: Number) -> Number:
        """Return a position; if its distance from the end is constant, as a negative number."""
        distances = (key for key, made in self.made.items() if made is at)
        for name, *args in distances:
            if name == "add" and args[0] is n and isinstance(args[1], int):
                return args[1]
        return at

    def cat(self, parts: Sequence[Tensor], dim: int) -> Tensor:
        return self._shaped(self.op.Concat(*parts, axis=dim), self.rank(parts[0]))

    def unsqueeze(self, x: Tensor, dim: int) -> Tensor:
        return self._shaped(self.op.Unsqueeze(x, self._vector(dim)), self.rank(x) + 1)

    def permute(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        return self._shaped(self.op.Transpose(x, perm=list(axes)), len(axes))

    def view(self, x: Tensor, sizes: Sequence[Number]) -> Tensor:
        reshaped = self.op.Reshape(x, self._shape(sizes), allowzero=-1 not in sizes)
        return self._shaped(reshaped, len(sizes))

    def expand(self, x: Tensor, sizes: Sequence[Number]) -> Tensor | None:
        return self._shaped(self.op.Expand(x, self._shape(sizes)), len(sizes))

    def where(self, condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return self._shaped(self.op.Where(condition, x, y), self.rank(y))

    def arange(self, start: int, stop: Number, like: Tensor) -> Tensor:
        end = stop if isinstance(stop, int) else self.op.Squeeze(stop)
        return self._shaped(self.op.Range(start, end, 1), 1)

    def take(self, x: Tensor, dim: int, index: Tensor) -> Tensor:
        return self._shaped(self.op.Gather(x, index, axis=dim), self.rank(x))

    def calc(self, name: str, x: Tensor, y: Tensor | Number) -> Tensor:
        y = self._vector(y)
        if name == "fmod":
            return self._shaped(self.op.Mod(x, y, fmod=1), self.rank(x))
        rank = max(len(v.shape) for v in (x, y) if v.shape is not None)
        return self._shaped(getattr(self.op, NAMES[name])(x, y), rank)

    def cumsum(self, mask: Tensor) -> Tensor:
        return self._shaped(self.op.CumSum(self.op.Cast(mask, to=ir.DataType.INT64), 0), 1)

    def largest(self, x: Tensor) -> Tensor:
        return self._shaped(self.op.ReduceMax(x, self._vector(-1), keepdims=0), 1)

    def cast(self, x: Tensor, like: Tensor) -> Tensor:
        if x.dtype == like.dtype and x.dtype is not None:
            return x
        return self._shaped(self.op.CastLike(x, like), self.rank(x))

    def same(self, x: Tensor) -> Tensor:
        return self.op.Identity(x)

    def _shape(self, sizes: Sequence[Number]) -> Any:
        if all(isinstance(size, int) for size in sizes):
            return self.op.Constant(value=ir.tensor(list(sizes), ir.DataType.INT64))
        return self.op.Concat(*map(self._vector, sizes), axis=0)

    def _shaped(self, value: Any, rank: int) -> Any:
        """Note the rank of a value, whose sizes are read at run time."""
        if value.shape is None:
            value.shape = ir.Shape([None] * rank)
        return value


def table() -> dict[Any, Callable[..., Any]]:
    """Return the functions by the operators that they translate."""
    from torch import ops

    written = slice_scatter, select_scatter, diagonal_scatter, index_copy, masked_scatter
    return {getattr(ops.aten, function.__name__).default: function for function in written}


# The exporter reads the signatures: an argument without a type is a tensor or a number of the run.
def slice_scatter(self, src, dim: int = 0, start=None, end=None, step: int = 1):  # type: ignore[no-untyped-def]
    ops = Onnx()
    start, end = (_number(ops, at) for at in (start, end))
    return slices.slice_scatter(ops, self, src, dim, start, end, step)


def select_scatter(self, src, dim: int, index):  # type: ignore[no-untyped-def]
    ops = Onnx()
    return slices.select_scatter(ops, self, src, dim, _number(ops, index))


def diagonal_scatter(self, src, offset: int = 0, dim1: int = 0, dim2: int = 1):  # type: ignore[no-untyped-def]
    return slices.diagonal_scatter(Onnx(), self, src, offset, dim1, dim2)


def index_copy(self, dim: int, index, source):  # type: ignore[no-untyped-def]
    written = indices.index_copy(Onnx(), self, dim, index, source)
    if written is None:  # too many comparisons
        from onnxscript.function_libs.torch_lib.ops.core import aten_index_put

        before = [None] * (dim % max(len(self.shape), 1))
        written = aten_index_put(self, [*before, index], source)
    return written


def masked_scatter(self, mask, source):  # type: ignore[no-untyped-def]
    return indices.masked_scatter(Onnx(), self, mask, source)


def _number(ops: Onnx, given: Any) -> Any:
    """Return an int unchanged, and a number of the run as a tensor of shape [1]."""
    return given if given is None or isinstance(given, int) else ops.op.Reshape(given, [-1])

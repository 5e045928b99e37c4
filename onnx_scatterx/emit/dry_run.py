"""What a plan would write: it is written on trial, without a graph, and nothing of it stays.

So a plan is one function that writes. How many nodes it takes, what it reads, and whether ONNX
Runtime and the target take them, is seen on trial. Ranks are followed too: stacking and comparing
need more dims than the data has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from onnx_scatterx.emit.kernels import KERNELS, has_kernel
from onnx_scatterx.symbolic.budget import budget
from onnx_scatterx.targets.target import Target
from onnx_scatterx.text.reasons import Reason, RefusedError

Attributes = Mapping[str, int | float | str | Sequence[int]]

_OF_INPUTS = {"Equal", "Greater", "IsNaN", "Less"}  # the kernel is chosen by what they compare
_LARGE = 1 << 12  # elements of a constant beyond which equal ones are not looked for


@dataclass
class DryRun:
    """What was written on trial, equal nodes once."""

    target: Target
    version: int  # of the operator set
    rank_of: Callable[[ir.Value], int | None]  # knows the values that are there
    nodes: int = 0
    surcharge: int = 0  # nodes that a choice counts as, beyond those that it takes
    reads: dict[ir.Value, None] = field(default_factory=dict)  # of the values that are there
    _ranks: dict[ir.Value, int | None] = field(default_factory=dict)
    _lengths: dict[ir.Value, int | None] = field(default_factory=dict)
    _made: dict[object, ir.Value] = field(default_factory=dict)
    _given: int = 0

    @property
    def cost(self) -> int:
        """How many nodes it counts as."""
        return self.nodes + self.surcharge

    def node(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        dtype: ir.DataType | None,
        attributes: Attributes,
    ) -> ir.Value:
        """Return the output of a node that is not made, or refuse it."""
        given = ((k, tuple(v) if isinstance(v, list) else v) for k, v in attributes.items())
        key = op, tuple(inputs), tuple(given)
        budget().work(2)
        if key in self._made:
            return self._made[key]
        if not self.target.has(op):
            raise RefusedError(Reason.NOT_IN_TARGET, f"{op} for {self.target.name}")
        present = [v for v in inputs if v is not None]
        self._require_kernel(op, present, dtype)
        self.reads.update((v, None) for v in present if not self.made(v))
        self._given = max(self._given, *(self._rank_of_given(v) for v in present), 0)
        output = ir.Value(type=None if dtype is None else ir.TensorType(dtype))
        rank = self._ranks[output] = self._rank(op, present, attributes)
        self._lengths[output] = self._length(op, present, attributes)
        limit = self.target.max_rank
        if limit is not None and rank is not None and rank > max(limit, self._given):
            raise RefusedError(Reason.RANK, f"{op} of rank {rank} for {self.target.name}")
        self.nodes += 1
        self._made[key] = output
        return output

    def _require_kernel(
        self, op: str, inputs: Sequence[ir.Value], dtype: ir.DataType | None
    ) -> None:
        if op in _OF_INPUTS:
            dtype = inputs[0].dtype
        if op in KERNELS and dtype is not None and not has_kernel(op, self.version, dtype):
            raise RefusedError(Reason.NO_KERNEL, f"{op} of {dtype.name.lower()}")

    def inserted(self, node: ir.Node) -> None:
        """Take a node that was made elsewhere apart again, or refuse it."""
        inputs = list(node.inputs)
        for i in range(len(inputs)):
            node.replace_input_with(i, None)
        output = self.node(node.op_type, inputs, node.outputs[0].dtype, {})
        self._ranks.update(dict.fromkeys(node.outputs, self._ranks[output]))

    def constant(self, array: np.ndarray, dtype: ir.DataType) -> ir.Value:
        """Return a constant that is not made."""
        small = array.size <= _LARGE and array.dtype != object
        key = (dtype, array.shape, array.tobytes()) if small else None
        if key in self._made:
            return self._made[key]
        tensor = ir.Tensor(array, dtype=dtype)
        value = ir.Value(type=ir.TensorType(dtype), shape=tensor.shape, const_value=tensor)
        self._ranks[value] = array.ndim
        self._lengths[value] = array.size if array.ndim == 1 else None
        if key is not None:
            self._made[key] = value
        return value

    def made(self, value: ir.Value) -> bool:
        """Return whether a value was written on trial."""
        return value in self._ranks

    def _rank_of_given(self, value: ir.Value) -> int:
        return 0 if self.made(value) else self.rank_of(value) or 0

    def rank(self, value: ir.Value) -> int | None:
        """Return the rank of a value, or None where it is not known."""
        return self._ranks[value] if self.made(value) else self.rank_of(value)

    def _rank(self, op: str, inputs: Sequence[ir.Value], attributes: Attributes) -> int | None:
        ranks = [self.rank(v) for v in inputs]
        known = [r for r in ranks if r is not None]
        if len(known) < len(ranks) or not known:
            return None
        first = known[0]
        match op:
            case "Squeeze" | "Unsqueeze":
                axes = attributes.get("axes")
                count = len(axes) if isinstance(axes, Sequence) else self._lengths.get(inputs[-1])
                sign = 1 if op == "Unsqueeze" else -1
                return None if count is None else first + sign * count
            case "Reshape" | "ConstantOfShape":
                return self._lengths.get(inputs[-1])
            case "Expand":
                length = self._lengths.get(inputs[1])
                return None if length is None else max(first, length)
            case "Gather":
                return first - 1 + known[1]
            case "OneHot":
                return first + 1
            case "ReduceMax" | "ReduceMin" if attributes.get("keepdims") == 0:
                return first - 1  # of one axis
            case "Range" | "Shape" | "Size":
                return 1
            case "Where" | "Equal" | "And" | "Or" | "Greater" | "Less" | "MatMul":
                return max(known)
            case "Add" | "Sub" | "Mul" | "Div" | "Mod" | "Max" | "Min" | "Pow":
                return max(known)
            case _:
                return first

    def _length(self, op: str, inputs: Sequence[ir.Value], attributes: Attributes) -> int | None:
        """Return how many elements a vector has, as far as shapes are put together from some."""
        if op == "Shape":
            start, end = attributes.get("start"), attributes.get("end")
            if isinstance(start, int) and isinstance(end, int):
                return end - start
            return self.rank(inputs[0])
        lengths = [self._lengths.get(v) for v in inputs]
        known = [n for n in lengths if n is not None]
        if op == "Concat":
            return sum(known) if len(known) == len(lengths) else None
        if op == "Gather":
            return lengths[1]
        if op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Neg", "Abs", "Cast"):
            return max(known, default=None)
        return 1 if op in ("Slice", "Unsqueeze") and known in ([], [1]) else None

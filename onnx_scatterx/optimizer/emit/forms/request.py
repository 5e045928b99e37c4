"""A node that is to be written, as the forms that may replace it see it; a constant if known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import onnx.defs
import onnx.helper
import onnx_ir as ir

from onnx_scatterx.ir.constants import constant
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.targets.limits import Use

if TYPE_CHECKING:
    from onnx_scatterx.optimizer.emit.nodes import NodeWriter


_SINCE = {"Slice": 10}  # the operator set from which on its operands are inputs


@dataclass(frozen=True)
class Request:
    """An operator with its inputs, and the abstract values of the inputs and of the result."""

    op: str
    inputs: Sequence[ir.Value | None]
    dtype: ir.DataType | None
    attributes: Mapping[str, Any]
    known: Sequence[TensorValue | None]
    result: TensorValue
    writer: NodeWriter = field(repr=False)
    of_any_sign: bool = False

    @property
    def use(self) -> Use:
        """The node as the limits of the target see it."""
        constant = [self.constant(v) is not None for v in self.inputs]
        facts = self.writer.facts
        known = [self.result], self.attributes, constant, facts, self.of_any_sign
        return Use(self.op, self.known, *known)

    def input(self, i: int) -> ir.Value:
        """Return an input that is there."""
        value = self.inputs[i]
        assert value is not None
        return value

    def constant(self, value: ir.Value | None) -> ir.TensorProtocol | None:
        """Return the tensor that a value is in every run, or None."""
        return constant(value, self.writer.overridable)

    def shape(self, i: int) -> tuple[int, ...] | None:
        """Return the shape of an input as numbers, or None if a size is not known."""
        known = self.known[i]
        return None if known is None else known.static_shape

    def numbers(self, i: int) -> list[int] | None:
        """Return the elements of an integer input, or None if it is absent or not known."""
        known = self.known[i] if i < len(self.known) else None
        if known is None or known.constant is None:
            return None
        return [int(n) for n in known.constant.ravel()]

    def takes(self, op: str, dtype: ir.DataType | None = None) -> bool:
        """Return whether the target takes an operator for an element type, by default its own."""
        if not self.writer.target.has(op) or self.writer.version < _SINCE.get(op, 0):
            return False
        found = dtype or self.dtype
        return found is None or self.writer.target.limits_of(op).takes_type(found)

    @property
    def most_dims(self) -> float:
        """How many dims the target takes of the inputs and the output, infinity if any number."""
        limits = [self.writer.target.max_rank, self.writer.target.limits_of(self.op).max_rank]
        return min((rank for rank in limits if rank is not None), default=math.inf)

    def largest_rank(self) -> float:
        """Return how many axes Reshape and Slice may have at the target, infinity if any number."""
        target = self.writer.target
        limits = [target.max_rank, *(target.limits_of(op).max_rank for op in ("Reshape", "Slice"))]
        return min((rank for rank in limits if rank is not None), default=math.inf)


_MOST = 1 << 16  # elements of a constant that replaces a node


def folded(request: Request) -> ir.Value | None:
    """Write the result as a constant, if every element of it is known."""
    result = request.result
    if not result.is_integer or result.dtype is None or result.static_shape is None:
        return None
    if math.prod(result.static_shape) > _MOST or result.constant is None:
        return None
    return request.writer.constant(result.constant, result.dtype)


def written(request: Request) -> ir.Value | None:
    """Write the defaults of attributes that the target wants to read."""
    op, w = request.op, request.writer
    missing = w.target.limits_of(op).written.difference(request.attributes)
    if not missing or not w.target.has(op):
        return None
    known = onnx.defs.get_schema(op, w.version, "").attributes
    given = {a: onnx.helper.get_attribute_value(known[a].default_value) for a in sorted(missing)}
    given = {a: v.decode() if isinstance(v, bytes) else v for a, v in given.items()}
    return w.node(op, request.inputs, request.dtype, **request.attributes, **given)

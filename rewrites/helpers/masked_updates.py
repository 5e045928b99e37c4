"""The updates of a masked write, as tensors over the data: no element is read by its position.

    x[m] = v                 v, which every true element gets
    x[m] = v[n]              v, if the mask does not depend on the trailing axes of v
    x[m] = y[m]              y
    x[m] = f(y[m], v, ...)   f(y, v, ...), if f computes the same bits at any place

The n-th update must belong to the n-th true element. Operators that keep the order of elements are
passed. If f is a division of integers, its divisor is 1 where the mask is false: there it may be 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Reducer,
    Refusal,
    Scatter,
    Shape,
    attempt,
    described,
    granted,
    refuse_unless,
)
from onnx_scatterx.rewrites.helpers.masks import Mask, read_by_mask

_NODES = 64  # of one function
_DIVIDES = ("Div", "Mod")
_ZERO = {"Min", "Max"}  # of 0.0 and -0.0 they return either


class _Has(Enum):
    """How many elements a value has."""

    ALL = "as many as there are updates"
    FEWER = "as many, or fewer"
    MORE = "as many, or more"


Condition = Callable[[], ir.Value]
"""Writes the mask, as a tensor that broadcasts to the data."""

Make = Callable[[list[ir.Value | None], Condition], ir.Value]
"""Writes a value, given its operands, which are tensors over the data, and the mask."""


@dataclass(eq=False)
class Updates:
    """A tensor that broadcasts to the data, and has the updates where the mask is true.

    If ``is_read``, each is read by the mask, at the position of its element. If ``is_whole``, the
    tensor has the shape of the data. ``rank`` is at least that of the tensor.
    """

    make: Make
    rank: int
    is_read: bool = False
    is_whole: bool = False
    parts: tuple[Updates | None, ...] = ()

    def write(self, mask: Condition) -> ir.Value:
        """Write the tensor."""
        done: dict[Updates, ir.Value] = {}

        def written(updates: Updates) -> ir.Value:
            if updates not in done:
                parts = [None if part is None else written(part) for part in updates.parts]
                done[updates] = updates.make(parts, mask)
            return done[updates]

        return written(self)


def updates_in_order(scatter: Scatter, mask: Mask, depth: int, context: Context) -> Updates:
    """Return the updates over the data, or refuse if they may not be in the mask's order.

    The mask covers the first ``depth`` axes of the data.
    """
    return _Follower(scatter, mask, depth, context, scatter.data_shape).of(scatter.updates)


@dataclass
class _Follower:
    """Follows the updates to tensors over axes of the data, which have the sizes ``shape``.

    It refuses where it does not know.
    """

    scatter: Scatter
    mask: Mask
    depth: int
    context: Context
    shape: Shape
    seen: dict[tuple[ir.Value, int, _Has], Updates | Refusal] = field(default_factory=dict)
    functions: int = 0

    def of(self, value: ir.Value, has: _Has = _Has.ALL) -> Updates:
        """Return what a value is over the data."""
        key = value, len(self.shape), has
        if key not in self.seen:
            self.context.charge()
            self.seen[key] = attempt(lambda: self._of(value, has))
        return granted(self.seen[key])

    def _of(self, value: ir.Value, has: _Has) -> Updates:
        if self.context.constants.splat(value) is not None and self._is_one(value):
            return self._broadcast(value)
        node = granted(value.producer())
        refuse_unless(node.domain == "" and node.inputs)
        refuse_unless(node.graph is self.context.graph)
        first = granted(node.inputs[0])
        if described(node).keeps_order:
            return self.of(first, has)
        if node.op_type == "Expand" and has is not _Has.MORE:
            if self._is_one(first) or self._is_vector(first, value):
                return self._broadcast(first)
            return _if_read(self.of(first, _Has.FEWER))
        if node.op_type == "Slice" and has is not _Has.FEWER and is_head(node, self.context):
            return _if_read(self.of(first, _Has.MORE))
        if node.op_type in ("Gather", "GatherND"):
            source = read_by_mask(node, self.shape, self.scatter, self.mask, self.context)
            return replace(self._broadcast(source), is_read=True, is_whole=True)
        return self._function(node, has)

    def _broadcast(self, value: ir.Value) -> Updates:
        """Return a value of the graph, if it has no more axes than the data."""
        rank = granted(self.context.known(value).rank)
        refuse_unless(rank <= len(self.shape))
        return Updates(lambda _, __: value, rank)

    def _is_one(self, value: ir.Value) -> bool:
        shape = self.context.known(value).static_shape
        return shape is not None and math.prod(shape) == 1

    def _trailing(self, value: ir.Value) -> int | None:
        """Return on how many trailing axes each element of a value lies, or None.

        The first dim of the value counts elements of the mask.
        """
        whole, data = self.context.known(value).shape, self.scatter.data_shape
        if not whole or len(whole) - 1 > len(data) or len(self.shape) < len(data):
            return None
        tail = len(whole) - 1
        equal = self.scatter.facts.equal
        if not all(map(equal, whole[1:], data[len(data) - tail :])):
            return None
        repeated, index_map = range(len(data) - tail, self.depth), self.mask.abstract.index_map
        if not repeated:
            return tail
        if index_map is None or not index_map.coords.isdisjoint(repeated):
            return None
        return tail if all(equal(self.mask.shape[d], data[d]) for d in repeated) else None

    def _is_vector(self, value: ir.Value, whole: ir.Value) -> bool:
        """Return whether a tensor is repeated along all dims but the trailing ones of another."""
        shape, tail = self.context.known(value).shape, self._trailing(whole)
        while shape and shape[0].constant == 1:
            shape = shape[1:]
        return shape is not None and tail is not None and len(shape) <= tail

    def _function(self, node: ir.Node, has: _Has) -> Updates:
        """Return an element-wise function of tensors over the data."""
        known = self.context.known
        dtypes = [None if v is None else known(v).dtype for v in node.inputs]
        (*_, output) = node.outputs
        self.functions += 1
        refuse_unless(self.functions <= _NODES)
        dtype = granted(known(output).dtype or output.dtype)
        refuse_unless(self.context.computes_alike(node, dtypes))
        parts = [None if v is None else self._operand(v, output, has) for v in node.inputs]
        refuse_unless(self._is_alike_alone(node))

        w, guarded = self.context.writer, dtype.is_integer() and self._may_end_the_run(node)

        def make(inputs: list[ir.Value | None], mask: Condition) -> ir.Value:
            if guarded:
                one = w.constant(np.ones((), dtype.numpy()), dtype)
                inputs[1] = Reducer(w, "none", dtype).where(mask(), one, granted(inputs[1]))
            attributes = {name: a.value for name, a in node.attributes.items()}
            return w.spelled_node(node.op_type, inputs, dtype, **attributes)

        present = [p for p in parts if p is not None]
        rank = max((p.rank for p in present), default=0)
        is_read, is_whole = (any(p.is_read for p in present), any(p.is_whole for p in present))
        return Updates(make, rank, is_read, is_whole, tuple(parts))

    def _operand(self, value: ir.Value, output: ir.Value, has: _Has) -> Updates:
        """Return an operand of a node over the data."""
        if self._is_one(value) or self._is_vector(value, output):
            return self._broadcast(value)
        known, equal = self.context.known, self.scatter.facts.equal
        shape, whole = granted(known(value).shape), granted(known(output).shape)
        refuse_unless(len(shape) == len(whole))
        if all(map(equal, shape, whole)):
            same = attempt(lambda: self.of(value, has))
            if not isinstance(same, Refusal):
                return same
        tail = granted(self._trailing(output))
        refuse_unless(tail != len(self.shape) and all(n.constant == 1 for n in shape[1:]))
        # One number for each element of the mask.
        lead = len(self.shape) - tail
        inner = _Follower(
            self.scatter, self.mask, self.depth, self.context, self.shape[:lead], self.seen
        )
        updates, dtype = _if_read(inner.of(value, has)), granted(known(value).dtype)

        def make(inputs: list[ir.Value | None], mask: Condition) -> ir.Value:
            axes = list(range(lead, len(self.shape)))
            return self.context.writer.axes("Unsqueeze", granted(inputs[0]), dtype, axes)

        return Updates(make, len(self.shape), is_read=True, parts=(updates,))

    def _is_alike_alone(self, node: ir.Node) -> bool:
        """Return whether a node computes the same bits if the mask has only one true element.

        ONNX Runtime takes an operand of one element for a scalar. Pow then squares, and Min and
        Max take the zero of the other operand.
        """
        if node.op_type == "Pow":
            return node.inputs[1] is not None and self._is_one(node.inputs[1])
        if node.op_type in _ZERO:
            first = node.inputs[0]
            if len(node.inputs) != 2 or first is None:
                return False
            number = self.context.constants.splat(first)
            return not self._is_one(first) or (number is not None and bool(abs(number) > 0))
        return True

    def _may_end_the_run(self, node: ir.Node) -> bool:
        """Return whether a division of integers may fail where the mask is false: by 0, or -1."""
        if node.op_type not in _DIVIDES:
            return False
        number = self.context.constants.splat(granted(node.inputs[1]))
        return number is None or number in (0, -1)


def _if_read(updates: Updates) -> Updates:
    refuse_unless(updates.is_read)
    return updates


def is_head(node: ir.Node, context: Context) -> bool:
    """Return whether a Slice takes the first elements of a vector."""
    starts = node.inputs[1] if len(node.inputs) > 1 else None
    known = None if starts is None else context.known(starts).constant
    steps = node.inputs[4] if len(node.inputs) > 4 else None
    unit = steps is None or _all_equal(context.known(steps).constant, 1)
    first = node.inputs[0]
    rank = None if first is None else context.known(first).rank
    return rank == 1 and unit and _all_equal(known, 0)


def _all_equal(known: np.ndarray | None, number: int) -> bool:
    return known is not None and bool((known == number).all())

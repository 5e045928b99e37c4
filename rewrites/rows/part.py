"""A node of chosen rows on its way to one of all rows: what the handlers of operators share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Rows,
    Shape,
    Term,
    attribute_of,
    described,
    granted,
    made_by,
    refuse_unless,
    term,
)
from onnx_scatterx.rewrites.rows.following import Following, Has
from onnx_scatterx.rewrites.rows.whole import Make, Whole
from onnx_scatterx.rewrites.rows.whole_rows import WholeRows

Attributes = dict[str, Any]


class Part:
    """A node of the model on its way to be a node of whole tensors.

    Its output ``value`` has rows along ``axis``, as they are followed.
    """

    def __init__(
        self, rows: WholeRows, node: ir.Node, value: ir.Value, axis: int, following: Following
    ) -> None:
        self.rows, self.node, self.value, self.axis = rows, node, value, axis
        self.following, self.choice = following, rows.choice
        self.context, self.facts = self.choice.context, self.choice.facts
        self.shape, self.dtype = self.choice.shape(value), self.choice.dtype(value)

    @property
    def rank(self) -> int:
        """The rank of the output."""
        return len(self.shape)

    def input(self, i: int) -> ir.Value:
        """Return an input, or refuse."""
        return granted(self.node.inputs[i] if i < len(self.node.inputs) else None)

    def operands(self, i: int) -> list[ir.Value]:
        """Return the inputs from i on, which must be the same for all rows, without absent ones."""
        return [v for v in self.node.inputs[i:] if v is not None]

    def numbers(self, i: int) -> list[int]:
        """Return the elements of an input that are known, or refuse."""
        return [
            int(n) for n in granted(self.context.known(self.input(i)).constant).ravel().tolist()
        ]

    def attribute(self, name: str, default: Any) -> Any:
        """Return the value of an attribute, or refuse if only a caller knows it."""
        found = attribute_of(self.node, name, default)
        refuse_unless(found is not None or name not in self.node.attributes)
        return found

    def integer(self, name: str, default: int, rank: int) -> int:
        """Return an attribute that is an axis, counted from the start."""
        return int(self.attribute(name, default)) % max(rank, 1)

    @property
    def attributes(self) -> Attributes:
        """The attributes of the node."""
        refuse_unless(not any(a.is_ref() for a in self.node.attributes.values()))
        return {name: a.value for name, a in self.node.attributes.items()}

    def followed(self, i: int, axis: int) -> Whole:
        """Return all rows of an input, along an axis of it."""
        return self.rows.of(self.input(i), axis, self.following)

    def rows_of(self, value: ir.Value, axis: int, has: Has) -> Whole:
        """Return all rows of a value that has as many, or one, or more, along an axis of it."""
        return self.rows.of(value, axis, replace(self.following, has=has))

    def sizes(self, dims: Sequence[int]) -> Shape:
        """Return the sizes of dims of a tensor of all rows."""
        return self.rows.dims.sizes(dims, self.following)

    def together(self, *wholes: Whole) -> list[Whole]:
        """Return tensors of all rows with the dims that any of them has, each in its size."""
        dims = sorted({r for x in wholes for r in x.dims})
        return [self.rows.everywhere(x, dims, self.following) for x in wholes]

    def of(self, x: Whole, **changed: Any) -> Whole:
        """Return the same node of one whole tensor; other inputs are the same for all rows."""
        return self.node_of([x, *self.node.inputs[1:]], x.dims, **changed)

    def node_of(
        self,
        inputs: Sequence[Whole | ir.Value | None],
        dims: Sequence[int],
        *,
        work: Term | None = None,
        **changed: Any,
    ) -> Whole:
        """Return the same node of whole tensors and values, with changed attributes."""
        self.check_bits()
        w, attributes = self.context.writer, {**self.attributes, **changed}
        parts = tuple(v for v in inputs if isinstance(v, Whole))

        def make(made: list[ir.Value]) -> ir.Value:
            rest = iter(made)
            operands = [next(rest) if isinstance(v, Whole) else v for v in inputs]
            return w.repeated_node(self.node, operands, self.dtype, attributes)

        return self.whole(make, parts, dims, work=work)

    def whole(
        self, make: Make, parts: Sequence[Whole], dims: Sequence[int], *, work: Term | None = None
    ) -> Whole:
        """Return all rows of the output, as a function writes them."""
        shape = self.whole_shape(dims)
        total = None if work is None else self.rows.dims.work_of(work, dims, self.following)
        return Whole.of(make, self.dtype, self.axis, dims, shape, *parts, work=total)

    def whole_shape(self, dims: Sequence[int]) -> Shape:
        """Return the shape of all rows of the output."""
        return (*self.shape[: self.axis], *self.sizes(dims), *self.shape[self.axis + 1 :])

    def check_bits(self) -> None:
        """Refuse a function of floats whose bits may depend on the other rows of a tensor."""
        row = described(self.node)
        if row.rows is Rows.BROADCAST or self.context.keeps_rows(self.node, self.dtype):
            return
        rounds = self.dtype.is_floating_point() or row.rows is Rows.QUANTIZED
        refuse_unless(row.moved(1) or not rounds)

    def check_packed(self, i: int) -> None:
        """Refuse a product whose operand ONNX Runtime does not pack: one row has another kernel.

        It packs matrices that no caller and no node can change.
        """
        if self.context.last_bits or not self.dtype.is_floating_point():
            return
        value = self.input(i)
        refuse_unless(value.is_initializer() and not value.is_graph_input())
        refuse_unless(len(self.choice.shape(value)) == 2)

    def flattened(self, x: Whole) -> Whole:
        """Return a whole tensor with one axis of rows."""
        if len(x.dims) == 1:
            return x
        count = math.prod(self.sizes(x.dims), start=term(1))
        end = x.axis + len(x.dims)
        shape = (*x.sizes[: x.axis], count, *x.sizes[end:])
        make = self.reshape(x.dtype, x.sizes, shape)
        return Whole.of(make, x.dtype, x.axis, x.dims, shape, x)

    def unflattened(self, x: Whole) -> Whole:
        """Return the output of a node of a flattened tensor with its dims of the mask."""
        if len(x.dims) == 1:
            return x
        count = math.prod(self.sizes(x.dims), start=term(1))
        old = (*self.shape[: self.axis], count, *self.shape[self.axis + 1 :])
        return self.whole(self.reshape(x.dtype, old, x.shape), [x], x.dims)

    def reshape(self, dtype: ir.DataType, old: Shape, new: Shape) -> Make:
        """Return what writes a tensor in another shape."""
        numbers, facts = self.context.numbers, self.facts
        return lambda made: numbers.reshape(made[0], dtype, old, new, facts)

    def guarded(self, x: Whole, number: int = 0) -> Whole:
        """Return an operand that is a harmless number at the rows that are not chosen."""
        return self.rows.guarded(x, number, self.following)


def shifted(d: int, x: Whole) -> int:
    """Return the axis of a whole tensor that an axis of the chosen tensor is, not that of rows."""
    return d if d < x.axis else d + len(x.dims) - 1


def value_of(part: Part, x: ir.Value) -> Whole:
    """Return a value that is the same for all rows."""
    return Whole.of(lambda _: x, part.choice.dtype(x), 0, (), part.choice.shape_as_is(x))


def constant(part: Part, array: np.ndarray) -> Whole:
    """Return a constant of int64, as an operand of a node."""
    shape, w = [*map(term, array.shape)], part.context.writer
    return Whole.of(lambda _: w.constant(array), ir.DataType.INT64, 0, (), shape)


def indices_of(part: Part, i: int, axis: int) -> Whole:
    """Return all rows of an input of indices, which may be floats that were cast.

    A float that is no index becomes any number: of a row that is chosen, it would end the run.
    """
    at = part.input(i)
    cast = made_by(at, "Cast")
    source = None if cast is None else cast.inputs[0]
    if cast is None or source is None or cast.graph is not part.context.graph:
        return part.followed(i, axis)
    x, dtype = part.rows.of(source, axis, part.following), part.choice.dtype(at)
    return x.changed(lambda made: part.context.writer.cast(made[0], x.dtype, dtype), dtype)

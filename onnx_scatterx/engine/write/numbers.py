"""Nodes whose sizes are terms: positions of an axis, rows that are taken, other shapes.

The positions of an axis are compared with indices, sorted, and taken modulo the size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Shape
from onnx_scatterx.engine.terms import Facts, Term
from onnx_scatterx.engine.write.forms import chosen_positions
from onnx_scatterx.engine.write.ordered import top
from onnx_scatterx.engine.write.reshape import reshape
from onnx_scatterx.engine.write.terms import TermEmitter
from onnx_scatterx.graphs import INT64_MAX

_BOOL, _INT64 = ir.DataType.BOOL, ir.DataType.INT64
_SIZES_AS_INPUT = 13  # the operator set from which a Split has its sizes as an input
_LISTED = 1 << 9  # positions of an axis that are listed, at most: a constant takes space


class Numbers(TermEmitter):
    """Writes terms as vectors of one int64, and nodes whose sizes or positions are terms.

    Each method returns what it writes, or refuses.
    """

    def is_available(self, value: ir.Value) -> bool:
        """Return whether a value can be read where nodes are written: it stays in the graph."""
        return self.reader.is_available(value)

    def positions(self, size: Term) -> ir.Value:
        """Return the numbers from 0 up to a size as a vector of int64."""
        w, known = self.writer, size.constant
        if known is not None and _is_listed(size):
            return w.constant(np.arange(known))
        if known is not None:
            limit = w.constant(np.array(known))
        else:
            limit = w.axes("Squeeze", self.vector(size), _INT64, [0])
        zero, one = (w.constant(np.array(n)) for n in (0, 1))
        return w.node("Range", [zero, limit, one], _INT64)

    def divisor(self, size: Term, facts: Facts) -> ir.Value:
        """Return a size as a vector, to compute a remainder by: 1 if the size is 0."""
        vector = self.vector(size)
        if facts.is_nonnegative(size - 1):
            return vector
        return self.writer.node("Max", [vector, self.writer.constant([1])], _INT64)

    def chosen_positions(self, mask: ir.Value) -> ir.Value:
        """Return the flat positions of a known number of elements of a mask that are not 0."""
        return chosen_positions(self.writer, mask)

    def from_start(self, at: ir.Value, size: int) -> ir.Value:
        """Return positions of an axis of a size, the negative ones counted from the start."""
        w = self.writer
        end = w.node("Add", [at, w.constant(np.array(size))], _INT64)
        is_negative = w.node("Less", [at, w.constant(np.array(0))], _BOOL)
        return w.node("Where", [is_negative, end, at], _INT64)

    def hits(
        self,
        at: ir.Value,
        dtype: ir.DataType,
        size: Term,
        axis: int,
        rank: int,
        *,
        signed: bool,
        checked: bool = True,
    ) -> ir.Value:
        """Return where indices are the positions of an axis of a tensor of this rank.

        ``at`` has an axis of extent 1 there. If they are ``signed``, an index may count from the
        end. If they are ``checked``, the original fails if one lies outside of the axis.
        """
        w = self.writer
        if dtype != _INT64 and not _is_listed(size):  # a size may exceed int32
            at, dtype = w.node("Cast", [at], _INT64, to=_INT64.value), _INT64
        if checked:
            w.note_index(at, size, from_zero=not signed)
        lines = self._lines(size, axis, rank, dtype, signed)
        matches = [w.node("Equal", [at, line], _BOOL) for line in lines]
        return matches[0] if len(matches) == 1 else w.node("Or", matches, _BOOL)

    def _lines(
        self, size: Term, axis: int, rank: int, dtype: ir.DataType, signed: bool
    ) -> list[ir.Value]:
        """Return the positions of an axis, counted from the start and (signed) from the end."""
        w = self.writer
        others = [d for d in range(rank) if d != axis]
        if size.constant is not None and _is_listed(size):
            line = np.arange(size.constant).reshape([-1 if d == axis else 1 for d in range(rank)])
            lines = [line, line - size.constant] if signed else [line]
            return [w.constant(n.astype(dtype.numpy()), dtype) for n in lines]
        values = [self.positions(size)]
        if signed:
            values.append(w.node("Sub", [values[0], self.vector(size)], dtype))
        return [w.axes("Unsqueeze", value, dtype, others) for value in values]

    def argsort(self, x: ir.Value, count: ir.Value, axis: int) -> ir.Value:
        """Return the positions of ``count`` elements of int64 along an axis, the least first.

        Needs operator set 11.
        """
        return top(self.writer, x, _INT64, count, axis, largest=False)[1]

    def top(
        self, x: ir.Value, dtype: ir.DataType, count: ir.Value, axis: int, *, largest: bool
    ) -> tuple[ir.Value, ir.Value]:
        """Return a number of the largest or smallest elements along an axis, and their positions.

        Needs operator set 11.
        """
        return top(self.writer, x, dtype, count, axis, largest=largest)

    def single(self, x: ir.Value, dtype: ir.DataType, count: int, axis: int) -> list[ir.Value]:
        """Return a part for each position of an axis with so many, as a Split makes them."""
        w, sizes = self.writer, [1] * count
        parts = [ir.Value(type=ir.TensorType(dtype)) for _ in sizes]
        inputs, attributes = [x], [ir.AttrInt64("axis", axis)]
        if w.version >= _SIZES_AS_INPUT:
            inputs.append(w.constant(sizes))
        else:
            attributes.append(ir.AttrInt64s("split", sizes))
        w.insert(ir.Node("", "Split", inputs, attributes, outputs=parts))
        return parts

    def take(
        self, x: ir.Value, rows: ir.Value, dtype: ir.DataType, axis: int, shape: Shape | None
    ) -> ir.Value:
        """Return ``x[..., rows, ...]`` along an axis.

        If ``shape`` is None, ``rows`` is a vector. Else ``rows`` has positions for each element of
        the result, and broadcasts to the result's ``shape``.
        """
        w = self.writer
        if shape is None:
            return w.node("Gather", [x, rows], dtype, axis=axis)
        rows = w.node("Expand", [rows, self.shape(shape)], _INT64)
        return w.node("GatherElements", [x, rows], dtype, axis=axis)

    def flip(self, x: ir.Value, dtype: ir.DataType, axes: Sequence[int]) -> ir.Value:
        """Return a tensor whose axes are reversed."""
        n = len(axes)
        return self.writer.slice(x, dtype, axes, [-1] * n, [-INT64_MAX] * n, [-1] * n)

    def reshape(
        self, x: ir.Value, dtype: ir.DataType, old: Shape | None, new: Shape, facts: Facts
    ) -> ir.Value:
        """Return a tensor in the shape ``new``; ``old`` is its own, None if that is not known."""
        return reshape(self, x, dtype, old, new, facts)


def _is_listed(size: Term) -> bool:
    return size.constant is not None and size.constant <= _LISTED

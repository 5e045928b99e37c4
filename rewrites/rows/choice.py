"""A choice of rows by a mask, and what is known of the values that have them.

    r = x[m]        of r[k] = x[i, j], m[i, j] is the k-th true element of m

Other masks may choose some of the rows, each of which m repeats: m = a[:, None] & True. They are
noted where a node reads by them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import onnx_ir as ir

from onnx_scatterx.engine.rules import Context, Facts, Shape, Term, granted, refuse_unless
from onnx_scatterx.rewrites.rows.following import Following
from onnx_scatterx.rewrites.rows.masks import Mask, as_bools, is_repeated


@dataclass
class Choice:
    """The rows that a mask chooses.

    In tensors of all rows, the dims of the mask have these ``extents``; ``fitted`` writes the mask
    with them.
    """

    mask: Mask
    extents: Shape
    fitted: Callable[[], ir.Value]
    context: Context
    facts: Facts
    _masks: dict[int, Mask] = field(default_factory=dict)
    """Masks over its first dims, which the others repeat: by how many they are."""

    def shape(self, value: ir.Value) -> Shape:
        """Return the shape that a value has if a row is chosen, or refuse.

        If none is chosen, nothing is written. Then a size may be another one: ONNX Runtime reduces
        no negative axis of an empty tensor.
        """
        return self.mask.if_chosen(granted(self.context.known(value).shape), self.facts)

    def shape_as_is(self, value: ir.Value) -> Shape:
        """Return the shape of a value that is read as it is, whether rows are chosen or not."""
        refuse_unless(not self.is_other(value))
        return self.shape(value)

    def is_other(self, value: ir.Value) -> bool:
        """Return whether a value may have another size if no row is chosen, beside the rows."""
        known = granted(self.context.known(value).shape)
        pairs = zip(known, self.shape(value), strict=True)
        count = self.mask.count.leaves()
        return any(a != b and count.isdisjoint(b.leaves()) for a, b in pairs)

    def dtype(self, value: ir.Value) -> ir.DataType:
        """Return the element type of a value, or refuse."""
        return granted(self.context.known(value).dtype or value.dtype)

    def is_fixed(self, value: ir.Value, axis: int) -> bool:
        """Return whether a value is the same for all rows that run along an axis of it."""
        return axis < 0 or self.shape(value)[axis].constant == 1

    def count(self, following: Following) -> Term:
        """Return how long an axis of chosen rows is."""
        return self._masks.get(following.depth, self.mask).count * following.places

    def note(self, other: Mask, rows: Term, depth: int) -> None:
        """Refuse a mask unless it is this one, or that which its last dims repeat.

        All the rows that it chooses must be there.
        """
        refuse_unless(len(other.shape) == depth and self.facts.equal(rows, other.count))
        refuse_unless(is_repeated(other, self.mask, self.context, self.facts))
        if all(map(self.facts.equal, other.shape, self.extents)):
            self._masks[depth] = other

    def is_known(self, depth: int) -> bool:
        """Return whether a mask over the first dims is known."""
        return depth == len(self.extents) or depth in self._masks

    def known_from(self, depth: int) -> int:
        """Return the least number of dims, from this one on, over which a mask is known."""
        return min((d for d in self._masks if d >= depth), default=len(self.extents))

    def write_mask(self, depth: int) -> ir.Value:
        """Write the mask over its first dims, which the others repeat."""
        mask = self._masks.get(depth)
        return self.fitted() if mask is None else as_bools(mask.value, mask, self.context)

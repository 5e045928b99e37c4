"""A tensor of all rows, of which a mask chooses those of another tensor.

    chosen   h[m] of shape [n, 16]                    its rows run along axis 0
    whole    h of shape [4, 9, 16], m of [4, 9]       the dims of m stand in place of axis 0

``whole[..., i, j, ...]`` is ``chosen[..., k, ...]`` if ``m[i, j]`` is the k-th true element of m.
Of a row that is not chosen it has any numbers. A whole tensor lacks the dims of the mask on which
its elements do not depend: ``x[top]``, where ``top`` is one row of ``NonZero(m)``, has one dim.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Facts,
    MultiplyAdds,
    Shape,
    Term,
    term,
)

Make = Callable[[list[ir.Value]], ir.Value]
"""Writes a tensor, given those that it is computed from."""


@dataclass(frozen=True, eq=False)
class Whole:
    """A tensor of all rows, which is written when it is needed.

    The ``dims`` of the mask, ascending, stand at ``axis``. ``make`` writes a tensor of ``shape``
    from the ``parts``. Axis d of the result is axis ``order[d]`` of this tensor, or a new one of
    extent 1; axes that are in no place have extent 1. If ``is_read``, rows are read by the mask.
    If it was only expanded, ``narrow`` is the tensor before, which is broadcast to it.
    ``work`` are its own multiply-adds, without those of the parts.
    """

    make: Make
    dtype: ir.DataType
    axis: int
    dims: tuple[int, ...]
    shape: Shape
    order: tuple[int | None, ...]
    is_read: bool = False
    parts: tuple[Whole, ...] = ()
    work: MultiplyAdds | None = None
    narrow: Whole | None = None

    @classmethod
    def of(
        cls,
        make: Make,
        dtype: ir.DataType,
        axis: int,
        dims: Sequence[int],
        shape: Sequence[Term],
        *parts: Whole,
        is_read: bool = False,
        work: MultiplyAdds | None = None,
    ) -> Whole:
        """Return a tensor with its axes in their order; it is read by the mask if a part is."""
        order, read = tuple(range(len(shape))), is_read or any(x.is_read for x in parts)
        return cls(make, dtype, axis, tuple(dims), tuple(shape), order, read, parts, work)

    def changed(self, make: Make, dtype: ir.DataType) -> Whole:
        """Return a tensor of the same shape that is computed from this one."""
        return Whole.of(make, dtype, self.axis, self.dims, self.sizes, self)

    @property
    def sizes(self) -> Shape:
        """The shape of the result."""
        return tuple(term(1) if d is None else self.shape[d] for d in self.order)

    @property
    def is_computed(self) -> bool:
        """Whether it is computed from other tensors of rows."""
        return bool(self.parts)

    @property
    def multiply_adds(self) -> MultiplyAdds | None:
        """The multiply-adds of this tensor, with those of its parts; None if there are none."""
        found = dict[object, MultiplyAdds]()
        waiting = [self]
        seen = set[object]()
        while waiting:
            here = waiting.pop()
            if here.make not in seen:
                seen.add(here.make)
                waiting += here.parts
                if here.work is not None:
                    found[here.make] = here.work
        if not found:
            return None
        each = sum((work.each for work in found.values()), start=term(0))
        total = sum((work.total for work in found.values()), start=term(0))
        return MultiplyAdds(each, total, max(work.times for work in found.values()))

    def moved(self, order: Sequence[int | None], axis: int) -> Whole:
        """Return the same tensor with its axes in another order; None is a new one."""
        places = tuple(None if d is None else self.order[d] for d in order)
        narrow = None if self.narrow is None else self.narrow.moved(order, axis)
        return replace(self, order=places, axis=axis, narrow=narrow)

    def of_rank(self, rank: int, axis: int) -> Whole:
        """Return the same tensor with new axes before its own, as if it was broadcast."""
        new = [None] * (rank - len(self.order))
        return self.moved([*new, *range(len(self.order))], axis)

    def with_dims(self, dims: Sequence[int]) -> Whole:
        """Return the same tensor with more dims of the mask, along which it is the same."""
        if tuple(dims) == self.dims:
            return self
        at = {r: self.axis + i for i, r in enumerate(self.dims)}
        end = self.axis + len(self.dims)
        order = [*range(self.axis), *map(at.get, dims), *range(end, len(self.order))]
        return replace(self.moved(order, self.axis), dims=tuple(dims), narrow=None)


def written(whole: Whole, context: Context) -> ir.Value:
    """Write a tensor; what several parts of it are computed from is written once."""
    w, done = context.writer, dict[tuple[object, ...], ir.Value]()

    def made(it: Whole) -> ir.Value:
        base: tuple[object, ...] = (it.make, *it.parts)
        if base not in done:
            done[base] = it.make([made(part) for part in it.parts])
        key = (*base, it.order)
        if key not in done:
            done[key] = arranged(done[base], it)
        return done[key]

    def arranged(x: ir.Value, it: Whole) -> ir.Value:
        kept = [d for d in it.order if d is not None]
        gone = [d for d in range(len(it.shape)) if d not in kept]
        x = w.axes("Squeeze", x, it.dtype, gone)
        x = w.transpose(x, it.dtype, [sorted(kept).index(d) for d in kept])
        return w.axes("Unsqueeze", x, it.dtype, [i for i, d in enumerate(it.order) if d is None])

    return made(whole)


def same_but_ones(
    old: Shape, new: Shape, facts: Facts, kept: Sequence[int] = ()
) -> list[int | None] | None:
    """Return the axis of each dim of a new shape, if only dims of extent 1 come and go.

    The ``kept`` axes stay next to each other, whatever their extents.
    """
    order: list[int | None] = []
    rest = [d for d, n in enumerate(old) if n.constant != 1 or d in kept]
    for n in new:
        if rest and facts.equal(old[rest[0]], n):
            order.append(rest.pop(0))
        elif n.constant == 1:
            order.append(None)
        else:
            return None
    return None if rest else order

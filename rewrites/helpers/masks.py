"""Masks: boolean tensors whose true elements a scatter writes, in their order.

A scatter writes by a mask if its indices on some axes are the rows of ``NonZero(mask)``, and all
other axes are written in full. The mask may have another shape than these axes: it is cropped to
them and padded with False. If the model runs, no true element lies outside.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnx_scatterx.ir.graphs import made_by
from onnx_scatterx.optimizer.analysis.domain.origins import ElementOf
from onnx_scatterx.optimizer.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.optimizer.lift.lift_scatter import Scatter
from onnx_scatterx.optimizer.lowering.rule import Context
from onnx_scatterx.optimizer.symbolic.simplify import simplify
from onnx_scatterx.optimizer.symbolic.terms import Symbol, Term, as_term, dim_of

_BOOL, _INT64 = ir.DataType.BOOL, ir.DataType.INT64
_ROUNDS = 8  # writes that may replace one by a mask


@dataclass(frozen=True)
class Mask:
    """A boolean (or numeric) tensor of known rank, and how many of its elements are true."""

    value: ir.Value
    abstract: TensorValue
    count: Term

    @property
    def shape(self) -> Shape:
        """The shape of the mask."""
        return self.abstract.dims


@dataclass(frozen=True)
class Masked:
    """A scatter by a mask: ``axes[r]`` is the axis of dim r of the mask.

    It is None for a dim without an axis: its few elements are written one after the other, in
    ``rounds``. ``dim`` counts the true elements in the updates. ``others`` are (axis, dim) pairs of
    the axes that are written in full.
    """

    scatter: Scatter
    mask: Mask
    axes: tuple[int | None, ...]
    dim: int
    others: tuple[tuple[int, int], ...]

    @property
    def named(self) -> list[int]:
        """The axes of the mask's dims, in the order of the dims."""
        return [a for a in self.axes if a is not None]

    @property
    def unnamed(self) -> list[int]:
        """The dims of the mask without an axis."""
        return [r for r, a in enumerate(self.axes) if a is None]

    @property
    def rounds(self) -> list[tuple[int, ...]]:
        """The positions on these dims, in the order in which they are written."""
        return list(np.ndindex(*(self.mask.shape[r].constant or 0 for r in self.unnamed)))

    @property
    def sizes(self) -> Shape:
        """The shape that the mask must have."""
        return tuple(
            own if a is None else self.scatter.data_shape[a]
            for own, a in zip(self.mask.shape, self.axes, strict=True)
        )

    @property
    def fits(self) -> bool:
        """Whether the mask is proven to have that shape."""
        pairs = zip(self.mask.shape, self.sizes, strict=True)
        return all(self.scatter.facts.equal(a, b) for a, b in pairs)


def mask_under(origin: object, context: Context) -> Mask | None:
    """Return the mask that a NonZero counts, given the origin of its elements."""
    node = made_by(origin.value, "NonZero") if isinstance(origin, ElementOf) else None
    if node is None or node.graph is not context.provenance.graph:
        return None
    (mask,) = node.inputs
    found = context.provenance.abstract(node.outputs[0]).shape
    if mask is None or found is None or not context.provenance.abstract(mask).shape:
        return None
    return Mask(mask, context.provenance.abstract(mask), found[1])


def row_of(target: Term) -> tuple[Symbol, int, int] | None:
    """Return (atom, r, d) where a target is row r of a tensor at x_d, else None."""
    (atom,) = target.atoms if len(target.atoms) == 1 else (None,)
    if not isinstance(atom, Symbol) or target is not as_term(atom) or len(atom.parts) != 2:
        return None
    row, dim = atom.parts[0].constant, dim_of(atom.parts[1])
    return None if row is None or dim is None else (atom, row, dim)


def masked(scatter: Scatter, context: Context) -> Masked | None:
    """Return a scatter as a write by a mask, or None if it is not a write by a mask."""
    rows: dict[int, int] = {}  # dim of the mask -> axis
    origins, dims, others = set(), set(), []
    single = [d for d, n in enumerate(scatter.shape) if n.constant == 1]
    for axis, (target, size) in enumerate(
        zip(scatter.index_exprs, scatter.data_shape, strict=True)
    ):
        dim = dim_of(target)
        if target.constant == 0 and size.constant == 1 and single:
            others.append((axis, single.pop(0)))
            continue
        if dim is not None:
            if not scatter.facts.equal(scatter.shape[dim], size):
                return None
            others.append((axis, dim))
            continue
        counted = row_of(target)
        if counted is None or counted[1] in rows:
            return None
        atom, row, dim = counted
        rows[row] = axis
        origins.add(atom.origin)
        dims.add(dim)
    used = [d for _, d in others]
    if len(origins) != 1 or len(dims) != 1 or len({*used, *dims}) != len(scatter.shape):
        return None
    if len(used) + 1 != len(scatter.shape):
        return None
    mask = mask_under(origins.pop(), context)
    if mask is None or max(rows) >= len(mask.shape):
        return None
    (dim,) = dims
    # If an axis is empty, nothing is written.
    facts = scatter.facts.assuming(*(scatter.data_shape[a] - 1 for a in rows.values()))
    if not facts.equal(simplify(scatter.shape[dim], facts), mask.count):
        return None  # the first few true elements only
    axes = tuple(rows.get(r) for r in range(len(mask.shape)))
    found = Masked(scatter, mask, axes, dim, tuple(others))
    return found if 1 <= len(found.rounds) <= _ROUNDS else None


def fitting(found: Masked, context: Context) -> ir.Value:
    """Write the mask in its own order of dims, boolean, with the sizes of the data."""
    w, x = context.writer, found.mask.value
    if found.mask.abstract.dtype != _BOOL:
        x = w.node("Cast", [x], _BOOL, to=_BOOL.value)
    if found.fits:
        return x
    zeros = w.constant([0] * len(found.axes))
    sizes = context.numbers.shape(found.sizes)
    w.require_slice(computed=True)
    axes = w.constant(list(range(len(found.axes))))
    x = w.node("Slice", [x, zeros, sizes, axes], _BOOL)
    missing = w.node("Sub", [sizes, w.node("Shape", [x], _INT64)], _INT64)
    no = w.constant(np.array(False), _BOOL)
    return w.pad(x, _BOOL, w.concat([zeros, missing], _INT64, 0), no)


def placed(
    x: ir.Value,
    dtype: ir.DataType,
    found: Masked,
    context: Context,
    added: Iterable[int],
    at: tuple[int, ...] = (),
) -> ir.Value:
    """Write a tensor over the mask's dims as one over their axes, ascending.

    ``at`` is the position on the dims without an axis, ``added`` are axes of extent 1 to add.
    """
    w = context.writer
    if len(found.rounds) == 1:
        x = w.axes("Squeeze", x, dtype, found.unnamed)
    else:
        for r, i in reversed(list(zip(found.unnamed, at, strict=True))):
            x = w.node("Gather", [x, w.constant(np.array(i))], dtype, axis=r)
    order = sorted(range(len(found.named)), key=lambda i: found.named[i])
    return w.axes("Unsqueeze", w.transpose(x, dtype, order), dtype, list(added))

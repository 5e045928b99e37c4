"""The standard operator for a transformer, and its ND form: whole slices behind leading dims.

    updates.transpose(lead + slices)[L, S]  <->  data.transpose(named + sliced)[indices[L], S]

``lead`` and ``slices`` are the dims of updates (of the output of a gathering), ``named`` and
``sliced`` the axes of data. A slice must be a whole axis of data that nothing else depends on. The
lead dims ascend, so that updates that collide keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from onnx_scatterx.export.request import GraphBuilder
from onnx_scatterx.theory.components import coordinate, evaluate, split_picks
from onnx_scatterx.theory.picks import Pick
from onnx_scatterx.theory.transformer import XTransformer
from onnx_scatterx.theory.verdict import equals_coordinate


@dataclass(frozen=True)
class NdForm:
    """The dims and axes of an ND form.

    ``columns`` are the columns of the indices: a dim of updates, or a column of f (None),
    which are counted in order.
    """

    lead: tuple[int, ...]
    slices: tuple[int, ...]
    named: tuple[int, ...]
    sliced: tuple[int, ...]
    columns: tuple[int | None, ...]

    @property
    def data_perm(self) -> tuple[int, ...]:
        """The perm that moves the named axes of data to the front."""
        return self.named + self.sliced

    @property
    def updates_perm(self) -> tuple[int, ...]:
        """The perm that moves the lead dims of updates to the front."""
        return self.lead + self.slices

    @property
    def moves_nothing(self) -> bool:
        """Whether the form needs no transpose."""
        return all(perm == tuple(range(len(perm))) for perm in (self.data_perm, self.updates_perm))


def nd_form(t: XTransformer) -> NdForm:
    """Return the ND form of a transformer with its own picks, which is right for any f.

    >>> T = XTransformer((2, 3), (3, 5), np.array([[4], [0]]), Pick((0,)), Pick((1,)), Pick((1, 0)))
    >>> form = nd_form(T)
    >>> form.lead, form.slices, form.named, form.sliced
    ((0,), (1,), (1,), (0,))
    """
    width = t.f.shape[-1]
    order = t.p.inverse().coordinates
    by_f, by_p2 = order[:width], order[width:]
    pairs = [
        (axis, d)
        for axis, d in zip(by_p2, t.p2, strict=True)
        if d not in t.p1 and list(t.p2).count(d) == 1 and t.shape[d] == t.data_shape[axis]
    ]
    if not by_f and len(pairs) == len(by_p2):
        pairs = pairs[1:]  # one axis at least is named
    sliced = tuple(axis for axis, _ in pairs)
    slices = tuple(d for _, d in pairs)
    counted = [(axis, d) for axis, d in zip(by_p2, t.p2, strict=True) if axis not in sliced]
    return NdForm(
        lead=tuple(d for d in range(len(t.shape)) if d not in slices),
        slices=slices,
        named=(*by_f, *(axis for axis, _ in counted)),
        sliced=sliced,
        columns=(*(None for _ in by_f), *(d for _, d in counted)),
    )


def with_slices(t: XTransformer) -> XTransformer:
    """Return the same transformer with as many slices as an ND form can have; f are its indices.

    >>> T = XTransformer.from_provision(np.array([[[3, 0], [3, 1]], [[2, 0], [2, 1]]]), (5, 2))
    >>> with_slices(T).f.tolist()
    [[3], [2]]
    """
    taken = slice_dims(t)
    if None not in taken:
        taken[0] = None  # one axis at least is named
    _, p2, p = split_picks(taken, t.components)
    lead = Pick(d for d in range(len(t.shape)) if d not in p2)
    form = t.represented(lead, p2, p)
    assert form is not None
    return form


def slice_dims(t: XTransformer) -> list[int | None]:
    """Return, for every axis of data, the dim of updates that can be its slice, or None.

    The dim is as long as the axis, its coordinate is the component, and no other depends on it.

    >>> slice_dims(XTransformer.from_provision(np.array([[[3, 0], [3, 1]]]), (5, 2)))
    [None, 1]
    """
    rank = len(t.data_shape)
    taken: list[int | None] = [None] * rank
    if 0 in t.shape:
        return taken
    needed = [d for c in t.components for d in c.dims]
    for axis, (component, size) in enumerate(zip(t.components, t.data_shape, strict=True)):
        d = coordinate(component)
        if d is not None and t.shape[d] == size and needed.count(d) == 1:
            taken[axis] = d
    # Dims of extent 1 are slices, too, if all dims behind them are slices in their places.
    for axis in reversed(range(rank)):
        d = axis + len(t.shape) - rank
        if taken[axis] is None and d >= 0 and t.shape[d] == t.data_shape[axis] == 1:
            taken[axis] = d
        if taken[axis] != d:
            break
    return taken


def elements_axis(t: XTransformer) -> int | None:
    """Return the axis of the ScatterElements or GatherElements that a transformer is, or None.

    All components but one are the coordinates of their own dims.

    >>> T = XTransformer.from_provision(np.array([[[0, 3], [0, 1]], [[1, 2], [1, 2]]]), (2, 5))
    >>> elements_axis(T), elements_axis(T.transpose_data((1, 0)))
    (1, None)
    """
    if not t.shape or 0 in t.shape or len(t.shape) != len(t.data_shape):
        return None
    others = [a for a, c in enumerate(t.components) if not equals_coordinate(c, a, t.wide)]
    return None if len(others) > 1 else (others or [0])[0]


def own_elements_axis(t: XTransformer) -> int | None:
    """Return the axis on which the picks are those of ScatterElements for any f, or None.

    >>> p1, p2, p = Pick((0,)), Pick((0,)), Pick((1, 0))
    >>> own_elements_axis(XTransformer((2, 3), (4, 3), np.array([[1], [0]]), p1, p2, p))
    1
    """
    if t.f.shape[-1] != 1 or len(t.shape) != len(t.data_shape):
        return None
    axis = t.p.inverse()[0]
    others = [d for d in range(len(t.shape)) if d != axis]
    own = t.p2 == Pick(others) and t.p == Pick([axis, *others]).inverse()
    return axis if own and all(t.shape[d] <= t.data_shape[d] for d in others) else None


@dataclass(frozen=True)
class Operands:
    """The operator that was chosen: along one axis, or else (None) the ND form."""

    transformer: XTransformer
    axis: int | None
    nd: NdForm
    f: ir.Value | None  # if it is an input


def choose(g: GraphBuilder, t: XTransformer) -> Operands:
    """Choose the operator: the fewest nodes, then the smallest indices, then the ND form."""
    request = g.request
    if request.constant:
        sliced = with_slices(t)
        nd, axis, f = nd_form(sliced), elements_axis(t), None
        smaller = axis is not None and _takes_less(t, axis, sliced)
    else:
        sliced = t
        nd, axis = nd_form(t), own_elements_axis(t)
        f = g.indices(t)
        smaller = set(nd.columns) != {None}
    along = request.form == "standard" and (smaller or not nd.moves_nothing)
    return Operands(sliced, axis if along else None, nd, f)


def _takes_less(t: XTransformer, axis: int, sliced: XTransformer) -> bool:
    """Whether the indices along an axis need no Expand and are fewer than those of the ND form."""
    values = evaluate(t.components[axis], t.shape)
    return values.shape == t.shape and values.size < sliced.f.size


def along_of(g: GraphBuilder, operands: Operands) -> ir.Value:
    """Return the indices along an axis, of the shape of updates."""
    t, axis = operands.transformer, operands.axis
    assert axis is not None
    if operands.f is not None:
        return g.axes("Squeeze", _spread(g, t, operands.f, range(len(t.shape))), [-1])
    values = evaluate(t.components[axis], t.shape)
    return g.expand(g.constant(values, "indices"), values.shape, t.shape)


def tuples_of(g: GraphBuilder, operands: Operands) -> ir.Value:
    """Return the indices of an ND form: over its lead dims, a column for each named axis."""
    t, nd = operands.transformer, operands.nd
    if operands.f is None:
        return g.constant(t.f, "indices")
    f = _spread(g, t, operands.f, nd.lead)
    counted = [d for d in nd.columns if d is not None]
    if not counted:
        return f
    extents = [t.shape[d] for d in nd.lead]
    numbers = np.indices(extents)[[nd.lead.index(d) for d in counted]]
    return g.op("Concat", [f, g.constant(np.moveaxis(numbers, 0, -1))], axis=-1)


def numbers_of(g: GraphBuilder, operands: Operands) -> ir.Value:
    """Return the only column of the indices of an ND form."""
    if operands.f is None:
        return g.constant(operands.transformer.f[..., 0], "indices")
    return g.axes("Squeeze", tuples_of(g, operands), [-1])


def _spread(g: GraphBuilder, t: XTransformer, f: ir.Value, dims: Sequence[int]) -> ir.Value:
    """Broadcast f, which is over the dims of p1, over more dims, ascending."""
    order = sorted(range(len(t.p1)), key=t.p1.coordinates.__getitem__)
    f = g.transpose(f, [*order, len(order)])
    f = g.axes("Unsqueeze", f, [place for place, d in enumerate(dims) if d not in t.p1])
    width = t.f.shape[-1]
    shape = [t.shape[d] if d in t.p1 else 1 for d in dims]
    return g.expand(f, [*shape, width], [*(t.shape[d] for d in dims), width])


def data_of(g: GraphBuilder) -> tuple[XTransformer, ir.Value]:
    """Add the input data, with an axis if it has none; return the transformer for it, too."""
    t = g.request.transformer
    data = g.input("data", g.request.dtype, t.data_shape)
    if t.data_shape:
        return t, data
    f = np.zeros((*t.p1(t.shape), 1), np.int64)
    whole = replace(t, data_shape=(1,), f=f, p=Pick.identity(1))
    return whole, g.axes("Unsqueeze", data, [0])

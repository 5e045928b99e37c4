"""The ND form of a transformer: the form of ScatterND and GatherND, after transposes.

    updates.transpose(lead + slices)[L, S]  <->  data.transpose(named + sliced)[indices[L], S]

``lead`` and ``slices`` are the dims of updates (for a gathering, of the output), ``named`` and
``sliced`` the axes of data. A dim in ``slices`` moves to a whole axis of data, and no other axis
depends on this dim. The lead dims ascend, so that updates that collide keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnx_scatterx.export.request import GraphBuilder
from onnx_scatterx.theory.components import evaluate
from onnx_scatterx.theory.transformer import XTransformer


@dataclass(frozen=True)
class NdForm:
    """The dims and axes of an ND form.

    ``columns`` are the columns of the indices: each is a dim of updates, or None for the next
    column of f.
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


def nd_form(t: XTransformer) -> NdForm:
    """Return the ND form that a transformer has by its picks alone, so for any f.

    >>> from onnx_scatterx.theory.picks import Pick
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
        pairs = pairs[1:]  # at least one axis is named
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


def tuples_of(g: GraphBuilder, t: XTransformer, nd: NdForm) -> ir.Value:
    """Return the indices of an ND form: over its lead dims, a column for each named axis."""
    if g.request.constant:
        extents = tuple(1 if d in nd.slices else n for d, n in enumerate(t.shape))
        values = (evaluate(t.components[axis], extents) for axis in nd.named)
        columns = [np.broadcast_to(column, extents) for column in values]
        return g.constant(np.stack(columns, -1).squeeze(nd.slices), "indices")
    f = _spread(g, t, g.indices(t), nd.lead)
    counted = [d for d in nd.columns if d is not None]
    if not counted:
        return f
    extents = tuple(t.shape[d] for d in nd.lead)
    numbers = np.indices(extents)[[nd.lead.index(d) for d in counted]]
    return g.op("Concat", [f, g.constant(np.moveaxis(numbers, 0, -1))], axis=-1)


def _spread(g: GraphBuilder, t: XTransformer, f: ir.Value, dims: Sequence[int]) -> ir.Value:
    """Broadcast f from the dims of p1 to ``dims``, which ascend."""
    order = sorted(range(len(t.p1)), key=t.p1.coordinates.__getitem__)
    f = g.transpose(f, [*order, len(order)])
    f = g.axes("Unsqueeze", f, [axis for axis, d in enumerate(dims) if d not in t.p1])
    width = t.f.shape[-1]
    shape = [t.shape[d] if d in t.p1 else 1 for d in dims]
    return g.expand(f, [*shape, width], [*(t.shape[d] for d in dims), width])

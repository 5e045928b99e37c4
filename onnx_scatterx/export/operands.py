"""The standard operator for a transformer, and its indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnx_scatterx.export.graph import Graph
from onnx_scatterx.export.nd_form import (
    NdForm,
    elements_axis,
    nd_form,
    own_elements_axis,
    with_slices,
)
from onnx_scatterx.theory.components import evaluate
from onnx_scatterx.theory.transformer import XTransformer


@dataclass(frozen=True)
class Operands:
    """The operator that was chosen: along one axis, or else (None) the ND form."""

    transformer: XTransformer
    axis: int | None
    nd: NdForm
    f: ir.Value | None  # if it is an input


def choose(g: Graph, t: XTransformer) -> Operands:
    """Choose the operator: the fewest nodes, then the smallest indices, then the ND form."""
    request = g.request
    if request.constant:
        sliced = with_slices(t)
        nd, axis, f = nd_form(sliced), elements_axis(t), None
        smaller = axis is not None and _takes_less(t, axis, sliced)
    else:
        sliced = t
        nd, axis = nd_form(t), own_elements_axis(t)
        f = g.input("indices", ir.DataType.INT64, t.f.shape)
        smaller = set(nd.columns) != {None}
    along = request.form == "standard" and (smaller or not nd.moves_nothing)
    return Operands(sliced, axis if along else None, nd, f)


def _takes_less(t: XTransformer, axis: int, sliced: XTransformer) -> bool:
    """Whether the indices along an axis need no Expand and are fewer than those of the ND form."""
    values = evaluate(t.components[axis], t.shape)
    return values.shape == t.shape and values.size < sliced.f.size


def along_of(g: Graph, operands: Operands) -> ir.Value:
    """Return the indices along an axis, of the shape of updates."""
    t, axis = operands.transformer, operands.axis
    assert axis is not None
    if operands.f is not None:
        return g.axes("Squeeze", _spread(g, t, operands.f, range(len(t.shape))), [-1])
    values = evaluate(t.components[axis], t.shape)
    return g.expand(g.constant(values, "indices"), values.shape, t.shape)


def tuples_of(g: Graph, operands: Operands) -> ir.Value:
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


def numbers_of(g: Graph, operands: Operands) -> ir.Value:
    """Return the only column of the indices of an ND form."""
    if operands.f is None:
        return g.constant(operands.transformer.f[..., 0], "indices")
    return g.axes("Squeeze", tuples_of(g, operands), [-1])


def _spread(g: Graph, t: XTransformer, f: ir.Value, dims: Sequence[int]) -> ir.Value:
    """Broadcast f, which is over the dims of p1, over more dims, ascending."""
    order = sorted(range(len(t.p1)), key=t.p1.coordinates.__getitem__)
    f = g.transpose(f, [*order, len(order)])
    f = g.axes("Unsqueeze", f, [place for place, d in enumerate(dims) if d not in t.p1])
    width = t.f.shape[-1]
    shape = [t.shape[d] if d in t.p1 else 1 for d in dims]
    return g.expand(f, [*shape, width], [*(t.shape[d] for d in dims), width])

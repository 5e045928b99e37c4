"""Writes scatterings and gatherings as ONNX models: in standard operators, or as ScatterX nodes.

    scattering   ScatterND, or ScatterX with its fallback
    gathering    GatherND

The operator stands between transposes if the picks need them. ONNX does not define which of two
colliding updates wins. The model keeps the order of the updates, so in a runtime that writes them
one by one the last one wins, as in ``Scattering.run``. ScatterX guarantees that the last one wins.

The ND form of a transformer: the form of ScatterND and GatherND, after transposes.

    updates.transpose(lead + slices)[L, S]  <->  data.transpose(named + sliced)[indices[L], S]

``lead`` and ``slices`` are the dims of updates (for a gathering, of the output), ``named`` and
``sliced`` the axes of data. A dim in ``slices`` moves to a whole axis of data, and no other axis
depends on this dim. The lead dims ascend, so that updates that collide keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx
import onnx_ir as ir
from numpy.typing import DTypeLike

from onnx_scatterx.engine.write import FallbackSpec, add_fallbacks
from onnx_scatterx.export.request import ExportRequest, GraphBuilder, described
from onnx_scatterx.theory.components import evaluate
from onnx_scatterx.theory.picks import Pick
from onnx_scatterx.theory.scattering import Gathering, Reduction, Scattering
from onnx_scatterx.theory.transformer import XTransformer


def standard(request: ExportRequest) -> ir.Model:
    """Return the model of a scattering as a ScatterND, or of a gathering as a GatherND."""
    g = GraphBuilder(request)
    t, nd, data = _data_of(g)
    inputs = [g.transpose(data, nd.data_perm), tuples_of(g, t, nd)]
    if request.reduction is None:
        output = g.transpose(g.op("GatherND", inputs), _undone(nd.updates_perm))
        return g.model(output, t.shape)
    updates = g.input("updates", request.dtype, t.shape)
    inputs.append(g.transpose(updates, nd.updates_perm))
    attributes = (
        {} if request.reduction == Reduction.NONE else {"reduction": str(request.reduction)}
    )
    output = g.op("ScatterND", inputs, **attributes)
    return _written(g, g.transpose(output, _undone(nd.data_perm)))


def native(request: ExportRequest) -> ir.Model:
    """Return the model of a scattering as a ScatterX node with its fallback."""
    g = GraphBuilder(request)
    t, nd, data = _data_of(g)
    f = g.constant(t.f, "indices") if request.constant else g.indices(t)
    updates = g.input("updates", request.dtype, t.shape)
    p1 = tuple(nd.lead.index(d) for d in t.p1)
    whole = set(nd.columns) == {None} and p1 == tuple(range(len(nd.lead)))
    body = FallbackSpec("ScatterND", request.opset, str(request.reduction))
    if not whole:
        columns = tuple(d if d is None else nd.lead.index(d) for d in nd.columns)
        body = replace(body, p1=p1, index_rank=len(nd.lead), columns=columns)
    body = body.behind(_perm(nd.data_perm), _perm(nd.updates_perm))
    unique = request.constant and t.is_injective()
    picks = (t.p1.coordinates, t.p2.coordinates, t.p.coordinates)
    inputs = [data, f, updates]
    node = body.node(inputs, picks, request.dtype, "ScatterX", unique=unique)
    g.nodes.append(node)
    model = _written(g, node.outputs[0])
    add_fallbacks(model)
    return model


def _data_of(g: GraphBuilder) -> tuple[XTransformer, NdForm, ir.Value]:
    """Add the input data, as a vector if it is a scalar; return its transformer, form and value."""
    t = g.request.transformer
    data = g.input("data", g.request.dtype, t.data_shape)
    if not t.data_shape:
        f = np.zeros((*t.p1(t.shape), 1), np.int64)
        t = replace(t, data_shape=(1,), f=f, p=Pick.identity(1))
        data = g.axes("Unsqueeze", data, [0])
    t = t.normal() if g.request.constant else t
    return t, nd_form(t), data


def _written(g: GraphBuilder, data: ir.Value) -> ir.Model:
    """Return the model with the written data as output: as a scalar if the input is a scalar."""
    shape = g.request.transformer.data_shape
    return g.model(data if shape else g.axes("Squeeze", data, [0]), shape)


def _perm(perm: tuple[int, ...]) -> tuple[int, ...]:
    """Return a perm; () if it moves nothing."""
    return () if perm == tuple(range(len(perm))) else perm


def to_onnx(
    source: Scattering | Gathering | XTransformer,
    *,
    form: str = "standard",
    indices: str = "constant",
    dtype: DTypeLike | None = None,
    reduction: str | None = None,
    opset: int = 18,
) -> onnx.ModelProto:
    """Return the ONNX model of a scattering, a gathering, or the scatterings of a transformer.

    The model has the input ``data``, for a scattering also ``updates``, both of the source's
    shapes, and the output ``output``. ``form`` is "standard" for ScatterND or GatherND, or
    "scatterx" for a ScatterX with its fallback (only for a scattering). ``indices`` is "constant",
    or "input": then the model has an int64 input ``indices`` instead of the transformer's f, and is
    right for any f with the same picks. If the source is a transformer, ``dtype`` and ``reduction``
    set the element type and the reduction; by default they are float32 and "none". ``opset`` is the
    version of the standard operators, 13 or newer.

    Raises ValueError if this version of ONNX lacks the element type or the reduction, or if f
    cannot be an input.

    >>> import numpy as np
    >>> from onnx_scatterx.theory.conventions.onnx import scatter_nd
    >>> rows = scatter_nd(np.zeros((4, 2)), np.array([[1], [2]]), np.ones((2, 2)))
    >>> [node.op_type for node in to_onnx(rows).graph.node]
    ['ScatterND']
    """
    request = ExportRequest(*described(source, dtype, reduction), form, indices, opset)
    request.check()
    return ir.to_proto(native(request) if form == "scatterx" else standard(request))


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


def _undone(perm: Sequence[int]) -> tuple[int, ...]:
    """Return the perm that undoes a perm."""
    return Pick(perm).inverse().coordinates

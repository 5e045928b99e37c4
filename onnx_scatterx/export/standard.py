"""Scatterings and gatherings as ONNX models: in the standard operators, or as ScatterX nodes.

    scattering   ScatterND, ScatterElements, or ScatterX with its fallback
    gathering    GatherND, Gather, GatherElements, or no more than a Transpose

The operator is the one with the fewest transposes and the smallest indices. ONNX does not define
which of two colliding updates wins. The order of the updates is kept, so an implementation that
writes them one by one keeps the last one, as ``Scattering.run`` does; ScatterX guarantees it.
"""

from __future__ import annotations

from dataclasses import replace

import onnx
import onnx_ir as ir
from numpy.typing import DTypeLike

from onnx_scatterx.export.nd_form import (
    NdForm,
    along_of,
    choose,
    data_of,
    nd_form,
    numbers_of,
    slice_dims,
    tuples_of,
)
from onnx_scatterx.export.request import ExportRequest, GraphBuilder, described
from onnx_scatterx.optimizer.native.fallback import FallbackSpec, inverse
from onnx_scatterx.optimizer.native.nodes import make_node
from onnx_scatterx.optimizer.transforms.fit_target import attach_fallbacks
from onnx_scatterx.theory.scattering import Gathering, Reduction, Scattering
from onnx_scatterx.theory.transformer import XTransformer


def scattering(request: ExportRequest) -> ir.Model:
    """Return the model of a scattering in a standard operator."""
    g = GraphBuilder(request)
    t, data = data_of(g)
    operands = choose(g, t)
    updates = g.input("updates", request.dtype, t.shape)
    given = {} if request.reduction == Reduction.NONE else {"reduction": str(request.reduction)}
    if operands.axis is not None:
        inputs = [data, along_of(g, operands), updates]
        output = g.op("ScatterElements", inputs, axis=operands.axis, **given)
    else:
        nd = operands.nd
        moved = g.transpose(data, nd.data_perm)
        inputs = [moved, tuples_of(g, operands), g.transpose(updates, nd.updates_perm)]
        output = g.transpose(g.op("ScatterND", inputs, **given), inverse(nd.data_perm))
    return _written(g, output)


def gathering(request: ExportRequest) -> ir.Model:
    """Return the model of a gathering in a standard operator."""
    g = GraphBuilder(request)
    t, data = data_of(g)
    perm = _only_transposed(request, t)
    if perm is not None:
        return g.model(g.transpose(data, perm), t.shape)
    operands = choose(g, t)
    nd = operands.nd
    if _is_gather(request, nd):
        output = g.op("Gather", [data, numbers_of(g, operands)], axis=nd.named[0])
    elif operands.axis is not None:
        output = g.op("GatherElements", [data, along_of(g, operands)], axis=operands.axis)
    else:
        moved = g.transpose(data, nd.data_perm)
        output = g.op("GatherND", [moved, tuples_of(g, operands)])
        output = g.transpose(output, inverse(nd.updates_perm))
    return g.model(output, t.shape)


def _only_transposed(request: ExportRequest, t: XTransformer) -> tuple[int, ...] | None:
    """Return the perm if the output of a gathering is all of data, transposed."""
    taken = slice_dims(t)
    if request.form != "standard" or not request.constant or None in taken:
        return None
    return tuple(map(taken.index, range(len(t.shape)))) if len(taken) == len(t.shape) else None


def _is_gather(request: ExportRequest, nd: NdForm) -> bool:
    """Whether one axis is named, and the lead dims stand in its place.

    ONNX Runtime's Gather of strings gives empty strings.
    """
    if request.form != "standard" or len(nd.named) != 1 or request.dtype == ir.DataType.STRING:
        return False
    (axis,) = nd.named
    first = min(nd.lead, default=axis)
    dims = [*range(axis), *range(axis + len(nd.lead), len(nd.lead) + len(nd.slices))]
    axes = [*range(axis), *range(axis + 1, len(nd.sliced) + 1)]
    return first == axis and list(nd.slices) == dims and list(nd.sliced) == axes


def native(request: ExportRequest) -> ir.Model:
    """Return the model of a scattering as a ScatterX node with its fallback."""
    g = GraphBuilder(request)
    t, data = data_of(g)
    if request.constant:
        t = t.normal()
    nd = nd_form(t)
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
    name = "ScatterX"
    node = make_node(inputs, picks, str(request.reduction), unique, body, request.dtype, name, {})
    g.nodes.append(node)
    model = _written(g, node.outputs[0])
    attach_fallbacks(model)
    return model


def _written(g: GraphBuilder, data: ir.Value) -> ir.Model:
    """Finish with the written data, without the axis that they got if they had none."""
    shape = g.request.transformer.data_shape
    return g.model(data if shape else g.axes("Squeeze", data, [0]), shape)


def _perm(perm: tuple[int, ...]) -> tuple[int, ...]:
    """Return a perm, or nothing if it moves nothing."""
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

    Its inputs are ``data`` and, of a scattering, ``updates``, of the shapes that they have here;
    its output is ``output``. ``form`` is "standard" for the smallest standard operator, "nd" for
    ScatterND or GatherND in any case, or "scatterx" for the native operator with its fallback (a
    scattering only). ``indices`` is "constant", or "input" for a third input ``indices``, int64,
    that stands for the f of the transformer, with the same picks: then the model is right for any
    f. If the source is a transformer, ``dtype`` and ``reduction`` set the element type and the
    reduction; by default they are float32 and "none". ``opset`` is the version of the standard
    operators, 13 or newer.

    Raises ValueError if ONNX lacks the operator: if the version does not have the element type or
    the reduction, or if f cannot be an input.

    >>> import numpy as np
    >>> from onnx_scatterx.theory.conventions.onnx import scatter_nd
    >>> rows = scatter_nd(np.zeros((4, 2)), np.array([[1], [2]]), np.ones((2, 2)))
    >>> [node.op_type for node in to_onnx(rows).graph.node]
    ['ScatterND']
    """
    request = ExportRequest(*described(source, dtype, reduction), form, indices, opset)
    request.check()
    if isinstance(source, Gathering):
        model = gathering(request)
    elif form == "scatterx":
        model = native(request)
    else:
        model = scattering(request)
    return ir.to_proto(model)

"""Writes scatterings and gatherings as ONNX models: in standard operators, or as ScatterX nodes.

    scattering   ScatterND, or ScatterX with its fallback
    gathering    GatherND

The operator stands between transposes if the picks need them. ONNX does not define which of two
colliding updates wins. The model keeps the order of the updates, so in a runtime that writes them
one by one the last one wins, as in ``Scattering.run``. ScatterX guarantees that the last one wins.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import onnx_ir as ir
from numpy.typing import DTypeLike

from onnx_scatterx.export.nd_form import NdForm, nd_form, tuples_of
from onnx_scatterx.export.request import ExportRequest, GraphBuilder, described
from onnx_scatterx.optimizer.native.fallback import FallbackSpec, inverse
from onnx_scatterx.optimizer.native.nodes import make_node
from onnx_scatterx.optimizer.transforms.fit_target import add_fallbacks
from onnx_scatterx.theory.picks import Pick
from onnx_scatterx.theory.scattering import Gathering, Reduction, Scattering
from onnx_scatterx.theory.transformer import XTransformer


def standard(request: ExportRequest) -> ir.Model:
    """Return the model of a scattering as a ScatterND, or of a gathering as a GatherND."""
    g = GraphBuilder(request)
    t, nd, data = _data_of(g)
    inputs = [g.transpose(data, nd.data_perm), tuples_of(g, t, nd)]
    if request.reduction is None:
        output = g.transpose(g.op("GatherND", inputs), inverse(nd.updates_perm))
        return g.model(output, t.shape)
    updates = g.input("updates", request.dtype, t.shape)
    inputs.append(g.transpose(updates, nd.updates_perm))
    given = {} if request.reduction == Reduction.NONE else {"reduction": str(request.reduction)}
    output = g.op("ScatterND", inputs, **given)
    return _written(g, g.transpose(output, inverse(nd.data_perm)))


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
    node = make_node(inputs, picks, unique, body, request.dtype, "ScatterX")
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

"""Scatterings as ScatterX nodes, whose attributes are the picks."""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.export.graph import Graph, data_of
from onnx_scatterx.export.nd_form import nd_form
from onnx_scatterx.export.request import Request
from onnx_scatterx.optimizer.native.attach_fallbacks import attach_fallbacks
from onnx_scatterx.optimizer.native.fallback import FallbackSpec
from onnx_scatterx.optimizer.native.nodes import make_node


def native(request: Request) -> ir.Model:
    """Return the model of a scattering as a ScatterX node with its fallback."""
    g = Graph(request)
    t, data = data_of(g)
    if request.constant:
        t = t.normal()
    nd = nd_form(t)
    f = (
        g.constant(t.f, "indices")
        if request.constant
        else g.input("indices", ir.DataType.INT64, t.f.shape)
    )
    updates = g.input("updates", request.dtype, t.shape)
    p1 = tuple(nd.lead.index(d) for d in t.p1)
    whole = set(nd.columns) == {None} and p1 == tuple(range(len(nd.lead)))
    body = FallbackSpec(
        "ScatterND",
        request.opset,
        str(request.reduction),
        p1=() if whole else p1,
        index_rank=0 if whole else len(nd.lead),
        columns=() if whole else tuple(d if d is None else nd.lead.index(d) for d in nd.columns),
    ).behind(_perm(nd.data_perm), _perm(nd.updates_perm))
    unique = request.constant and t.is_injective()
    picks = (t.p1.coordinates, t.p2.coordinates, t.p.coordinates)
    inputs = [data, f, updates]
    name = "ScatterX"
    node = make_node(inputs, picks, str(request.reduction), unique, body, request.dtype, name, {})
    g.nodes.append(node)
    output = node.outputs[0]
    if not request.transformer.data_shape:
        output = g.axes("Squeeze", output, [0])
    model = g.model(output, request.transformer.data_shape)
    attach_fallbacks(model)
    return model


def _perm(perm: tuple[int, ...]) -> tuple[int, ...]:
    """Return a perm, or nothing if it moves nothing."""
    return () if perm == tuple(range(len(perm))) else perm

"""Scatterings and gatherings as ONNX models of one operator, with the transposes that it needs.

    scattering   ScatterND, ScatterElements, or ScatterX with its fallback
    gathering    GatherND, Gather, GatherElements, or no more than a Transpose

The operator is the one with the fewest transposes and the smallest indices. ONNX does not define
which of two colliding updates wins. The order of the updates is kept, so an implementation that
writes them one by one keeps the last one, as ``Scattering.run`` does; ScatterX guarantees it.
"""

from __future__ import annotations

import onnx
import onnx_ir as ir
from numpy.typing import DTypeLike

from onnx_scatterx.export.request import Request, described
from onnx_scatterx.export.standard import gathering, native, scattering
from onnx_scatterx.theory.scattering import Gathering, Scattering
from onnx_scatterx.theory.transformer import XTransformer


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
    request = Request(*described(source, dtype, reduction), form, indices, opset)
    request.check()
    if isinstance(source, Gathering):
        model = gathering(request)
    elif form == "scatterx":
        model = native(request)
    else:
        model = scattering(request)
    return ir.to_proto(model)

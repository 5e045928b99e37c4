"""The output shape of Resize where it is asked for by its sizes.

By its scales it is ``floor(scale * size)`` in 32-bit floats, which no formula of sizes follows.
"""

from __future__ import annotations

from onnx_scatterx.indexing.abstract import Abstract
from onnx_scatterx.indexing.call import Call


def resize(call: Call) -> list[Abstract] | None:
    x, sizes = call.inputs[0], call.input(3)
    vector = None if sizes is None else sizes.vector()
    if x is None or x.shape is None or vector is None or call.version < 11:
        return None
    if call.string("keep_aspect_ratio_policy", "stretch") != "stretch":
        return None
    rank = len(x.shape)
    axes = call.integers("axes") or list(range(rank))
    if len(vector) != len(axes):
        return None
    shape = list(x.shape)
    for axis, extent in zip(axes, vector, strict=True):
        shape[axis % rank] = extent
    return [Abstract(x.dtype, tuple(shape))]

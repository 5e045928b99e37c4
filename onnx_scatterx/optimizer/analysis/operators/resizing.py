"""Output shapes of Resize: the given sizes, or known dims times the scales."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnx_scatterx.optimizer.analysis.domain.call import Call, Result
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.symbolic.terms import Term, term

_SCALES, _SIZES = 2, 3  # the places of the inputs since operator set 11


def resize(call: Call) -> Result:
    """Sizes become the dims of their axes, and a scale of float32 is multiplied in float32.

    If the aspect ratio of an image is kept, the result's sizes differ from the given ones. A region
    of interest may change the effect of scales.
    """
    x = call.inputs[0]
    policy = call.string("keep_aspect_ratio_policy", "stretch")
    cropped = call.string("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize"
    if x is None or x.shape is None or call.version < 11 or policy != "stretch" or cropped:
        return None
    rank = len(x.shape)
    axes = [a + rank * (a < 0) for a in call.integers("axes") or range(rank)]
    by_scales = call.input(_SCALES)
    if by_scales is None or by_scales.static_shape == (0,):
        sizes = call.input(_SIZES)
        given: Sequence[Term | None] | None = None if sizes is None else sizes.vector()
    else:
        given = _scaled(by_scales, [x.shape[a] for a in axes])
    if given is None or len(given) != len(axes):
        return None
    shape, unknown = list(x.shape), call.unknown_shape(rank)
    for axis, extent in zip(axes, given, strict=True):
        shape[axis] = unknown[axis] if extent is None else extent
    return [TensorValue(x.dtype, tuple(shape))]


def _scaled(scales: TensorValue, extents: list[Term]) -> list[Term | None] | None:
    """Return the dims of these extents under known scales, None for the others."""
    known = scales.constant
    if known is None or known.size != len(extents) or not np.isfinite(known).all():
        return None
    return [
        None if n.constant is None else term(int(np.float32(scale) * np.float32(n.constant)))
        for scale, n in zip(known.ravel(), extents, strict=True)
    ]

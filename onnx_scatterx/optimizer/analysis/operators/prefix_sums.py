"""Transfer function of CumSum: sums of all elements before one along an axis."""

from __future__ import annotations

import numpy as np

from onnx_scatterx.optimizer.analysis.domain.call import Call, Result
from onnx_scatterx.optimizer.analysis.domain.origins import ElementOf
from onnx_scatterx.optimizer.analysis.domain.overflow import fits
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.symbolic.budget import budget
from onnx_scatterx.optimizer.symbolic.elements import Elements
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.optimizer.symbolic.prices import PRICES
from onnx_scatterx.optimizer.symbolic.terms import Term, coord, element

_LONGEST = 1 << 48  # elements of a tensor: no processor addresses more bytes


def cum_sum(call: Call) -> Result:
    x, axis = call.inputs[0], call.inputs[1]
    if x is None or axis is None or axis.constant is None or x.shape is None:
        return None
    if not x.is_integer or x.dtype is None:
        return [TensorValue(x.dtype, x.shape)]
    d = int(axis.constant.item()) % len(x.shape)
    exclusive, reverse = call.integer("exclusive", 0), call.integer("reverse", 0)
    if x.constant is not None and x.constant.size <= LIMITS.elements:
        budget().work(PRICES.of_array(x.constant.size))
        a = np.flip(x.constant, d) if reverse else x.constant
        total = np.cumsum(a, axis=d, dtype=a.dtype)
        total = total - a if exclusive else total
        return [TensorValue(x.dtype, x.shape, np.flip(total, d) if reverse else total)]
    if x.index_map is not None and d not in x.index_map.coords:
        place = x.shape[d] - 1 - coord(d) if reverse else coord(d)
        so_far = x.index_map * (place + (0 if exclusive else 1))
        return [
            TensorValue(x.dtype, x.shape, so_far if fits(so_far, x.dtype, call.facts) else None)
        ]
    return [TensorValue(x.dtype, x.shape, _sums(call, x, d))]


def _sums(call: Call, x: TensorValue, d: int) -> Term | None:
    """Return sums of nonnegative numbers, which never decrease, if they are known not to wrap."""
    if x.index_map is None or x.shape is None or x.dtype is None:
        return None
    low, high = x.index_map.interval()
    length = min(x.shape[d].interval()[1], _LONGEST)
    if low < 0 or not high * length < 1 << (x.dtype.bitwidth - 1):
        return None
    (value,) = call.node.outputs
    coords = [coord(c) for c in range(len(x.shape))]
    source = ElementOf(call.scope, value)
    if d == len(x.shape) - 1 and not call.integer("reverse", 0):
        call.facts.learn_elements(source, Elements(ordered=True))
    return element(source, coords, name=value.name or "?", low=0, high=high * length)

"""Decides whether floats differ only because a runtime fuses other nodes: by rounding.

Let u be half the distance from 1 to the next float. n roundings in a row change a result by about
``sqrt(n) * u`` of its size (Higham and Mary, "A new approach to probabilistic rounding error
analysis", 2019, with the constant 4 here). An element may be a small difference of large terms, so
its own size says little: the size is that of the largest element of the output. Float32 and float64
are rounded once for each term of a sum. Types of 16 bits are rounded once for each node, because
ONNX Runtime adds them in float32. Below the least normal number, floats have a fixed distance, and
a runtime may take them for 0.
"""

import math
from collections.abc import Iterable

import numpy as np
import onnx_ir as ir

from onnx_scatterx.graphs import all_nodes
from onnx_scatterx.operators import described

_CONSTANT = 4
_ROUNDINGS = 1 << 10  # the least number of roundings that is assumed

# By the name of a type: u, the most roundings, and what is lost near 0.
_TYPES = {
    "float64": (2.0**-53, math.inf, 2.0**-1022),
    "float32": (2.0**-24, math.inf, 2.0**-126),
    "float16": (2.0**-11, 16, 2.0**-20),  # 16 times its least number: the least normal one is large
    "bfloat16": (2.0**-8, 16, 2.0**-126),
}


def roundings(*models: ir.Model) -> int:
    """Return about how often an element of an output is rounded, in the model that rounds most.

    The terms of all products with constants are counted. All other nodes count as 1024 together, so
    the answer is at least 1024.
    """
    return max(_ROUNDINGS, *(sum(map(_terms, all_nodes(model))) for model in models))


def _terms(node: ir.Node) -> int:
    read = (node.inputs[at] for at in described(node).packs if at < len(node.inputs))
    shapes = (v.shape.numpy() for v in read if v is not None and v.is_initializer() and v.shape)
    return max(map(_largest_sum, shapes), default=0)


def _largest_sum(shape: Iterable[int]) -> int:
    """Return how many products an element may be the sum of, with weights of this shape."""
    dims = sorted(shape)
    return math.prod(dims) // max(dims[0], 1) if len(dims) > 1 else 0


def is_rounding(before: np.ndarray, after: np.ndarray, count: int = _ROUNDINGS) -> bool:
    """Return whether two outputs differ at most by the rounding of ``count`` roundings in a row.

    Infinities and NaN must be the same. If the arrays are not floats, the answer is False.

    >>> large, small = np.array([1e6, 0.0], "float32"), np.array([1e-7, 0.0], "float32")
    >>> is_rounding(large, large + np.float32(0.1)), is_rounding(small, small + np.float32(1e-7))
    (True, False)
    """
    if before.dtype != after.dtype or before.shape != after.shape:
        return False
    if before.dtype.name not in _TYPES:
        return False
    unit, most, lost = _TYPES[before.dtype.name]
    one, other = before.astype(np.float64), after.astype(np.float64)
    finite = np.isfinite(one)
    if not np.array_equal(one[~finite], other[~finite], equal_nan=True):
        return False
    one, other = one[finite], other[finite]
    if not np.isfinite(other).all():
        return False
    largest = max(np.abs(one).max(initial=0.0), np.abs(other).max(initial=0.0))
    relative = _CONSTANT * math.sqrt(min(count, most)) * unit
    with np.errstate(over="ignore"):
        return bool((np.abs(one - other) <= relative * largest + lost).all())

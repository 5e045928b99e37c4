"""A scatter that changes nothing: c is written into a tensor of c, at any positions."""

from __future__ import annotations

import numpy as np

from onnx_scatterx.optimizer.lift.lift_scatter import Scatter
from onnx_scatterx.optimizer.mosaic.constants import Constants
from onnx_scatterx.optimizer.mosaic.mosaic import Mosaic
from onnx_scatterx.optimizer.mosaic.regions import View

_REDUCE = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def is_noop_write(scatter: Scatter, data: Mosaic, fills: Constants) -> bool:
    """Return whether all elements of data and updates are one number that the reduction keeps.

    Then the indices need not be known, and updates may collide: ``0 + 0 = 0``, ``max(c, c) = c``.
    Numbers are compared by bits, since ``-0.0 * -0.0`` is another zero.
    """
    number = fills.splat(scatter.updates)
    if number is None or not data.cells or not _keeps(scatter.reduction, number):
        return False
    sources = {c.source.value if isinstance(c.source, View) else None for c in data.cells}
    found = [None if value is None else fills.splat(value) for value in sources]
    return all(f is not None and f.tobytes() == number.tobytes() for f in found)


def _keeps(reduction: str, number: np.ndarray) -> bool:
    """Return whether ``reduce(c, c)`` is c, bit for bit; False for NaN, which is not examined."""
    if reduction == "none":
        return True
    reduce = _REDUCE.get(reduction)
    if reduce is None or number.dtype.kind not in "fiub" or np.isnan(number):
        return False
    with np.errstate(over="ignore"):
        return bool(reduce(number, number).tobytes() == number.tobytes())

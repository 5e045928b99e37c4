"""Gathers of many floats along the axis that a compiler takes for the channels of an image.

    gather_as_rows    Gather(x, i)   =   Reshape(Gather<2>(Reshape(x, [1, a, n / l, l * b]), i / l))
                      i is a constant of runs of l positions, x has the shape [a, n, b]

The compiler makes a Conv of such a Gather, with a weight for each position and each element: most
of them are 0. The third axis is never that of the channels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope, required
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import attribute_of, constant, made_by

_FLOATS = (ir.DataType.FLOAT, ir.DataType.FLOAT16)
_MOST = 1 << 22
"""How many weights are left to the compiler."""


def gather_as_rows(at: Candidate) -> bool:
    """Write a Gather of many floats at constant positions along the third axis."""
    w, node, scope, constants, _ = at
    x, i = required(node.inputs[0]), required(node.inputs[1])
    shape, dims, kind = scope.of(x).static_shape, scope.of(i).static_shape, w.dtype_of(x)
    if not shape or not dims or 0 in (*shape, *dims) or kind not in _FLOATS:
        return False
    axis = attribute_of(node, "axis", 0) % len(shape)
    n = shape[axis]
    if math.prod(dims) * n <= _MOST or not _is_of_channels(shape, axis) or constants.is_constant(x):
        return False
    lines = _lines(i, n, scope)
    if lines is None:
        return False
    places, run = lines
    while (maker := made_by(x, "Reshape")) is not None:
        x = required(maker.inputs[0])  # or a Transpose between two is made a Gather
    whole = [1, math.prod(shape[:axis]), n // run, run * math.prod(shape[axis + 1 :])]

    def write() -> ir.Value:
        rows = w.node("Reshape", [x, w.constant(whole)], kind)
        y = w.node("Gather", [rows, w.constant(places)], kind, axis=2)
        result = [*shape[:axis], *dims, *shape[axis + 1 :]]
        return w.node("Reshape", [y, w.constant(result)], kind)

    return at.replace(node.outputs[0], write)


def _is_of_channels(shape: Sequence[int], axis: int) -> bool:
    """Return whether an axis is the second one of four, or the first one of one or two.

    >>> [_is_of_channels([1, 8, 4], axis) for axis in (0, 1, 2)]
    [False, True, False]
    """
    more = shape[: max(len(shape) - 4, 0)]  # ones among them are dropped
    ones = next((d for d, n in enumerate(more) if n != 1), len(more))
    return axis - ones == (1 if len(shape) > 2 else 0)


def _lines(i: ir.Value, n: int, scope: Scope) -> tuple[np.ndarray, int] | None:
    """Return rows of equal length that are read, of all rows along an axis, and this length.

    The positions are a constant, or the sum of one with the numbers of a row, which is too large to
    be folded.
    """
    total = made_by(i, "Add")
    tensors = [constant(v, scope.overridable) for v in ([i] if total is None else total.inputs)]
    arrays = [tensor.numpy() for tensor in tensors if tensor is not None]
    if len(arrays) < len(tensors):
        return None
    starts, length = arrays[0], 1
    if total is not None:
        both = next((pair for pair in (arrays, arrays[::-1]) if _is_row(*pair)), None)
        if both is None:
            return None
        starts, length = both[0], both[1].size
    line = starts.astype(np.int64).ravel()
    if line.min() < -n or line.max() > n - length or n % length or (line % length).any():
        return None  # it cannot run, or reads no whole rows
    rows = np.where(line < 0, line + n, line) // length
    run = _run(rows, n // length)
    return rows[::run] // run, run * length


def _is_row(starts: np.ndarray, steps: np.ndarray) -> bool:
    """Return whether the sum of starts and steps has the numbers of one row behind each start."""
    along_last = starts.shape[-1:] == (1,) and steps.shape[-1:] == (steps.size,)
    return along_last and np.array_equal(steps.ravel(), np.arange(steps.size))


def _run(line: np.ndarray, n: int) -> int:
    """Return the largest length of a run, if the positions are whole runs, and the axis, too.

    >>> _run(np.array([4, 5, 6, 7, 0, 1]), 8), _run(np.array([4, 5, 3, 4]), 8)
    (2, 1)
    """
    breaks = np.flatnonzero(np.diff(line) != 1) + 1
    starts = line[[0, *breaks]]
    return math.gcd(n, line.size, *breaks.tolist(), *starts.tolist())

"""Transposes that move the first axis: a compiler looks only at the sizes.

    transpose_of_equal_sizes    Transpose(x)   =   Reshape(Transpose(Reshape(x)))

The compiler takes the first axis of the right size, so it mistakes one of two equal axes for the
other. It does what it is told if the first axis stays. So an axis of one element is written in
front, and axes that move together become one axis.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from onnx_scatterx.engine.analysis import required
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import perm_of

_RANK = 5
"""The most dims that are written."""


def transpose_of_equal_sizes(at: Candidate) -> bool:
    """Keep the first axis of a Transpose in place, if its axes would be mistaken."""
    w, node, scope, _, _ = at
    x, y = required(node.inputs[0]), node.outputs[0]
    shape = scope.of(x).static_shape
    if not shape or 0 in shape or at.constants.is_constant(x):
        return False
    perm = perm_of(node, len(shape))
    if perm is None or perm[0] == 0 or _moved(shape, perm) == _moved(shape, _guessed(shape, perm)):
        return False
    sizes, order = _merged(shape, perm)
    if len(sizes) >= _RANK:
        return False
    kind, whole = w.dtype_of(x), [shape[d] for d in perm]

    def write() -> ir.Value:
        merged = w.node("Reshape", [x, w.constant([1, *sizes])], kind)
        turned = w.node("Transpose", [merged], kind, perm=[0, *(d + 1 for d in order)])
        return w.node("Reshape", [turned, w.constant(whole)], kind)

    return at.replace(y, write)


def _guessed(shape: Sequence[int], perm: Sequence[int]) -> list[int]:
    """Return the permutation that follows from the sizes: the first free one counts.

    >>> _guessed([2, 4, 4], [1, 2, 0]), _guessed([4, 4], [1, 0])
    ([1, 2, 0], [0, 1])
    """
    found = [-1] * len(perm)
    for axis, size in enumerate(shape):
        free = (i for i, d in enumerate(perm) if shape[d] == size and found[i] < 0)
        found[next(free)] = axis
    return found


def _moved(shape: Sequence[int], perm: Sequence[int]) -> list[int]:
    """Return the permutation of the axes of more than one element."""
    return [d for d in perm if shape[d] != 1]


def _merged(shape: Sequence[int], perm: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the sizes and the permutation of axes that move together, without those of 1.

    >>> _merged([1, 5, 3, 5, 4], [2, 0, 3, 1, 4])
    ([5, 15, 4], [1, 0, 2])
    """
    kept = [d for d, size in enumerate(shape) if size != 1]
    runs: list[list[int]] = []
    for axis in _moved(shape, perm):
        place = kept.index(axis)
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    firsts = sorted(run[0] for run in runs)
    sizes = [1] * len(runs)
    for run in runs:
        for place in run:
            sizes[firsts.index(run[0])] *= shape[kept[place]]
    return sizes, [firsts.index(run[0]) for run in runs]

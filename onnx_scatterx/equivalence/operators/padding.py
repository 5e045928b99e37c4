"""Pad, with a value or the element at the edge."""

from __future__ import annotations

import numpy as np

from onnx_scatterx.equivalence.core.arithmetic import ONE, ZERO, maximum, minimum
from onnx_scatterx.equivalence.core.logic import at_most, below, both, choose, equal, implies
from onnx_scatterx.equivalence.core.reading import Node
from onnx_scatterx.equivalence.core.tensor import Coordinates, Tensor
from onnx_scatterx.equivalence.core.terms import Term, UnsupportedError
from onnx_scatterx.equivalence.core.types import constant, sort_of
from onnx_scatterx.equivalence.core.world import World
from onnx_scatterx.equivalence.operators.registry import (
    Inputs,
    given,
    needed,
    numbers,
    operator,
    positive,
    scalar,
)


@operator("Pad")
def pad(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    if node.version < 11:
        raise UnsupportedError("Pad of operator sets before 11")
    mode = node.get("mode", b"constant").decode()
    amounts = needed(inputs, 1).elements()
    axes_input = given(inputs, 3)
    axes = list(range(a.rank))
    if axes_input is not None:
        axes = [positive(axis, a.rank) for axis in numbers(axes_input, "axes")]
    if len(amounts) != 2 * len(axes):
        world.need(equal(ZERO, ONE), "Pad: two amounts for each axis")
        raise UnsupportedError("Pad with amounts for other axes")
    before, after = [ZERO] * a.rank, [ZERO] * a.rank
    for i, axis in enumerate(axes):
        before[axis], after[axis] = amounts[i], amounts[i + len(axes)]
    dims = []
    for d, low, high in zip(a.shape, before, after, strict=True):
        dims.append(low + d + high)
        world.need(at_most(ZERO, dims[-1]), "Pad: no more is cut off than there is")
        if world.owing:  # ONNX Runtime refuses at least or at most these
            for amount in (low, high):
                rest = d + minimum(amount, ZERO)
                world.need(at_most(ZERO, rest), "Pad: no more is cut off than there is")
    filler = given(inputs, 2)
    if filler is not None:
        value = scalar(filler, world, "Pad: the value is a number")
    elif sort_of(a.dtype) == "data" and a.dtype not in ("float16", "float32", "float64"):
        raise UnsupportedError(f"Pad of {a.dtype} without a value")
    else:
        value = constant(np.dtype(a.dtype).type(0), a.dtype)

    def define(at: Coordinates) -> Term:
        own = [c - low for c, low in zip(at, before, strict=True)]
        inside = []
        for c, d, low, high in zip(own, a.shape, before, after, strict=True):
            if low is not ZERO:
                inside.append(at_most(ZERO, c))
            if high is not ZERO:
                inside.append(below(c, d))
        if mode == "constant":
            test = both(*inside)
            return value if test.op == "false" else choose(test, a.at(own), value)
        return a.at([_clamped(c, d) for c, d in zip(own, a.shape, strict=True)])

    if mode == "edge":
        for d, length in zip(a.shape, dims, strict=True):
            if d is not length:
                world.need(implies(below(ZERO, length), below(ZERO, d)), "Pad: there is an edge")
    elif mode != "constant":
        raise UnsupportedError(f"Pad of mode {mode}")
    return [Tensor(a.dtype, tuple(dims), define)]


def _clamped(c: Term, d: Term) -> Term:
    return minimum(maximum(c, ZERO), d - 1)

"""Slice, with the bounds clamped as ONNX Runtime clamps them."""

from __future__ import annotations

from onnx_scatterx.equivalence.core.arithmetic import (
    ONE,
    ZERO,
    add,
    integer,
    maximum,
    minimum,
    number,
    scale,
    subtract,
)
from onnx_scatterx.equivalence.core.division import divide
from onnx_scatterx.equivalence.core.logic import below, choose, either, equal
from onnx_scatterx.equivalence.core.reading import Node
from onnx_scatterx.equivalence.core.tensor import Coordinates, Tensor
from onnx_scatterx.equivalence.core.terms import Term, UnsupportedError
from onnx_scatterx.equivalence.core.world import World
from onnx_scatterx.equivalence.operators.registry import (
    Inputs,
    given,
    needed,
    numbers,
    operator,
    positive,
)

_LAST = (2**31 - 1, 2**63 - 1)  # with a negative step, these ends stand for "to the front"


@operator("Slice")
def cut(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    if node.version < 10:
        starts, ends = ([integer(v) for v in node.get(name)] for name in ("starts", "ends"))
        axes = list(node.get("axes") or range(len(starts)))
        steps = [1] * len(starts)
    else:
        starts, ends = needed(inputs, 1).elements(), needed(inputs, 2).elements()
        axes_given, steps_given = given(inputs, 3), given(inputs, 4)
        axes = list(range(len(starts)))
        if axes_given is not None:
            axes = numbers(axes_given, "axes")
        steps = [1] * len(starts)
        if steps_given is not None:
            steps = numbers(steps_given, "steps")
    twice = len({axis % max(a.rank, 1) for axis in axes}) < len(axes)
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps or twice:
        world.need(equal(ZERO, ONE), "Slice: as many starts, ends, axes and steps")
        raise UnsupportedError("Slice with starts, ends, axes and steps that do not fit")
    dims = list(a.shape)
    first, by = [ZERO] * a.rank, [1] * a.rank
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        axis = positive(axis, a.rank)
        first[axis], dims[axis] = bounds(a.shape[axis], start, end, step)
        by[axis] = step

    def define(at: Coordinates) -> Term:
        moved = (add(f, scale(c, k)) for f, c, k in zip(first, at, by, strict=True))
        return a.at(tuple(moved))

    return [Tensor(a.dtype, tuple(dims), define)]


def bounds(d: Term, start: Term, end: Term, step: int) -> tuple[Term, Term]:
    """Return the start of a slice of an axis of size d, and how many elements it has."""
    last = subtract(d, ONE)
    start = choose(below(start, ZERO), add(start, d), start)
    # With an empty axis and a negative step there is nothing to clamp to: no element is taken.
    start = minimum(maximum(start, ZERO), d if step > 0 else last)
    raw = end
    end = choose(below(end, ZERO), add(end, d), end)
    if step > 0:
        end = minimum(maximum(end, ZERO), d)
        length = divide(add(subtract(end, start), integer(step - 1)), integer(step))
        return start, maximum(length, ZERO)
    end = minimum(maximum(end, integer(-1)), d)
    to_front = either(*(equal(raw, integer(v)) for v in _LAST))
    end = choose(to_front, integer(-1), end)
    length = divide(add(subtract(start, end), integer(-step - 1)), integer(-step))
    if number(d) is None:
        return start, choose(equal(d, ZERO), ZERO, maximum(length, ZERO))
    return start, maximum(length, ZERO) if d is not ZERO else ZERO

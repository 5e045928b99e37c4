"""Operators that take parts of axes or extend axes: Split, Slice, Trilu and Pad.

The bounds of a Slice are clamped as ONNX Runtime clamps them.
"""

from __future__ import annotations

import numpy as np

from onnx_scatterx.proof.core.arithmetic import (
    ZERO,
    add,
    divide,
    integer,
    maximum,
    minimum,
    number,
)
from onnx_scatterx.proof.core.logic import (
    at_most,
    below,
    both,
    choose,
    either,
    equal,
    implies,
)
from onnx_scatterx.proof.core.reading import Node
from onnx_scatterx.proof.core.tensor import Coordinates, Tensor
from onnx_scatterx.proof.core.terms import Term, UnsupportedError
from onnx_scatterx.proof.core.types import constant, sort_of
from onnx_scatterx.proof.core.world import World
from onnx_scatterx.proof.operators.registry import (
    Inputs,
    never,
    operator,
    optional,
    optional_numbers,
    positive,
    required,
    scalar,
    sizes_of,
)


@operator("Split", moves=True)
def split(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    axis = positive(node.get("axis", 0), a.rank)
    count = len(node.outputs)
    sizes: list[Term]
    lengths, parts = optional(inputs, 1), node.get("num_outputs")
    if node.version >= 18 and (parts not in (None, count) or (parts is None) == (lengths is None)):
        raise UnsupportedError("Split of a form that ONNX Runtime refuses")
    if lengths is not None:
        sizes = sizes_of(lengths, world, "Split: no size is negative")
    else:
        total = number(a.shape[axis])
        if total is None or (total % count and node.version < 18):
            raise UnsupportedError("Split in equal parts of an axis of unknown size")
        each = -(-total // count)
        if total <= each * (count - 1):  # ONNX Runtime refuses empty parts
            raise UnsupportedError("Split into more parts than there are elements")
        sizes = [integer(each)] * (count - 1) + [integer(total - each * (count - 1))]
    if len(sizes) != count:
        raise UnsupportedError("Split into another number of parts than there are outputs")
    world.need(equal(add(*sizes), a.shape[axis]), "Split: the parts are as long as the axis")
    outputs, start = [], ZERO
    for length in sizes:
        outputs.append(_part(a, axis, start, length))
        start = start + length
    return outputs


def _part(a: Tensor, axis: int, start: Term, length: Term) -> Tensor:
    def define(at: Coordinates) -> Term:
        return a.at((*at[:axis], at[axis] + start, *at[axis + 1 :]))

    return Tensor(a.dtype, (*a.shape[:axis], length, *a.shape[axis + 1 :]), define)


_LAST = (2**31 - 1, 2**63 - 1)
"""With a negative step, a runtime takes these ends for "to the front", but ONNX infers an empty
result. ONNX Runtime's default options fold by the shape that ONNX infers.
"""


@operator("Slice", moves=True)
def cut(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    if a.rank == 0:
        never(world, "Slice of a scalar")
    starts, ends = required(inputs, 1).elements(), required(inputs, 2).elements()
    stated_axes = optional_numbers(inputs, 3, "axes")
    axes = list(range(len(starts))) if stated_axes is None else stated_axes
    stated_steps = optional_numbers(inputs, 4, "steps")
    steps = [1] * len(starts) if stated_steps is None else stated_steps
    twice = len({axis % max(a.rank, 1) for axis in axes}) < len(axes)
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps or twice:
        never(world, "Slice with starts, ends, axes and steps that do not fit")
    dims = list(a.shape)
    first, by = [ZERO] * a.rank, [1] * a.rank
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        axis = positive(axis, a.rank)
        first[axis], dims[axis] = bounds(a.shape[axis], start, end, step)
        by[axis] = step

    def define(at: Coordinates) -> Term:
        moved = (f + c * k for f, c, k in zip(first, at, by, strict=True))
        return a.at(tuple(moved))

    return [Tensor(a.dtype, tuple(dims), define)]


def bounds(d: Term, start: Term, end: Term, step: int) -> tuple[Term, Term]:
    """Return the start and the length of a slice of an axis of size d."""
    last = d - 1
    start = choose(below(start, ZERO), start + d, start)
    # If the axis is empty and the step negative, the start is clamped to -1: no element is taken.
    start = minimum(maximum(start, ZERO), d if step > 0 else last)
    raw = end
    end = choose(below(end, ZERO), end + d, end)
    if step > 0:
        end = minimum(maximum(end, ZERO), d)
        length = divide(end - start + (step - 1), integer(step))
        return start, maximum(length, ZERO)
    end = minimum(maximum(end, integer(-1)), d)
    if number(raw) in _LAST:
        raise UnsupportedError("Slice backwards to the greatest end, which has two meanings")
    to_front = either(*(equal(raw, integer(v)) for v in _LAST))
    end = choose(to_front, integer(-1), end)
    length = divide(start - end + (-step - 1), integer(-step))
    if number(d) is None:
        return start, choose(equal(d, ZERO), ZERO, maximum(length, ZERO))
    return start, maximum(length, ZERO) if d is not ZERO else ZERO


def _zero(dtype: str, op: str) -> Term:
    if sort_of(dtype) == "data" and dtype not in ("float16", "float32", "float64"):
        raise UnsupportedError(f"{op} of {dtype} without a value")
    return constant(np.dtype(dtype).type(0), dtype)


@operator("Trilu", moves=True)
def triangle(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a, diagonal = required(inputs, 0), optional(inputs, 1)
    if a.rank < 2:
        never(world, "Trilu of less than two axes")
    first = ZERO if diagonal is None else scalar(diagonal, world, "Trilu: k is a number")
    zero, upper = _zero(a.dtype, "Trilu"), node.get("upper", 1)
    if (k := number(first)) is None or abs(k) >= 1 << 31:
        raise UnsupportedError("Trilu along a diagonal that is not constant")

    def define(at: Coordinates) -> Term:
        ends = (at[-2] + first, at[-1]) if upper else (at[-1], at[-2] + first)
        return choose(at_most(*ends), a.at(at), zero)

    return [Tensor(a.dtype, a.shape, define)]


@operator("Pad", moves=True)
def pad(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    if a.rank == 0:
        never(world, "Pad of a scalar")
    mode = node.get("mode", b"constant").decode()
    amounts = required(inputs, 1).elements()
    chosen = optional_numbers(inputs, 3, "axes")
    axes = list(range(a.rank)) if chosen is None else [positive(axis, a.rank) for axis in chosen]
    if len(amounts) != 2 * len(axes):
        never(world, "Pad with amounts for other axes")
    before, after = [ZERO] * a.rank, [ZERO] * a.rank
    for i, axis in enumerate(axes):
        before[axis], after[axis] = amounts[i], amounts[i + len(axes)]
    dims = []
    for d, low, high in zip(a.shape, before, after, strict=True):
        dims.append(low + d + high)
        world.need(at_most(ZERO, dims[-1]), "Pad: no more is cut off than there is")
        if world.owing:  # ONNX Runtime may refuse this even if the other side is padded
            for amount in (low, high):
                rest = d + minimum(amount, ZERO)
                world.need(at_most(ZERO, rest), "Pad: no more is cut off than there is")
    filler = optional(inputs, 2)
    if filler is not None:
        value = scalar(filler, world, "Pad: the value is a number")
    else:
        value = _zero(a.dtype, "Pad")

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
        clamped = (minimum(maximum(c, ZERO), d - 1) for c, d in zip(own, a.shape, strict=True))
        return a.at(tuple(clamped))

    if mode == "edge":
        for d, length in zip(a.shape, dims, strict=True):
            if d is not length:
                world.need(implies(below(ZERO, length), below(ZERO, d)), "Pad: there is an edge")
        for d, low, high in zip(a.shape, before, after, strict=True):
            rest = d + minimum(low, ZERO) + minimum(high, ZERO)
            if world.owing and rest is not d:  # ONNX Runtime refuses to cut off all elements
                world.need(below(ZERO, rest), "Pad: an edge is left")
    elif mode != "constant":
        raise UnsupportedError(f"Pad of mode {mode}")
    return [Tensor(a.dtype, tuple(dims), define)]

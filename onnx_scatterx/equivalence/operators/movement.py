"""Operators that move elements: Transpose, Concat, Split, Unsqueeze, Squeeze, Expand, Tile, Slice.

The bounds of a Slice are clamped as ONNX Runtime clamps them.
"""

from __future__ import annotations

from onnx_scatterx.equivalence.core.arithmetic import (
    ONE,
    ZERO,
    add,
    divide,
    integer,
    maximum,
    minimum,
    modulo,
    number,
)
from onnx_scatterx.equivalence.core.logic import below, choose, either, equal
from onnx_scatterx.equivalence.core.reading import Node
from onnx_scatterx.equivalence.core.tensor import Coordinates, Tensor
from onnx_scatterx.equivalence.core.terms import Term, UnsupportedError
from onnx_scatterx.equivalence.core.world import World
from onnx_scatterx.equivalence.operators import broadcasting
from onnx_scatterx.equivalence.operators.creation import sizes_of
from onnx_scatterx.equivalence.operators.registry import (
    Inputs,
    axes_of,
    given,
    needed,
    numbers,
    operator,
    positive,
)


@operator("Transpose")
def transpose(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    order = node.get("perm") or list(reversed(range(a.rank)))
    if sorted(order) != list(range(a.rank)):
        raise UnsupportedError("Transpose of other axes than there are")

    def define(at: Coordinates) -> Term:
        own = [ZERO] * a.rank
        for c, axis in zip(at, order, strict=True):
            own[axis] = c
        return a.at(own)

    return [Tensor(a.dtype, tuple(a.shape[axis] for axis in order), define)]


@operator("Concat")
def concat(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    tensors = [needed(inputs, i) for i in range(len(inputs))]
    first = tensors[0]
    axis = positive(node.get("axis"), first.rank)
    dims = list(first.shape)
    for t in tensors[1:]:
        if t.rank != first.rank:
            world.need(equal(ZERO, ONE), "Concat: the ranks agree")
            raise UnsupportedError("Concat of different ranks")
        for k, (d, e) in enumerate(zip(first.shape, t.shape, strict=True)):
            if k != axis:
                world.need(equal(d, e), "Concat: the other dims agree")
                if d is not e and not world.owing:
                    world.assume("Concat joins tensors that agree in all other dims, empty or not")
                if number(dims[k]) is None and number(e) is not None:
                    dims[k] = e
    ends = [ZERO]
    for t in tensors:
        ends.append(ends[-1] + t.shape[axis])
    dims[axis] = ends[-1]

    def define(at: Coordinates) -> Term:
        def own(i: int) -> Term:
            moved = list(at)
            moved[axis] = at[axis] - ends[i]
            return tensors[i].at(moved)

        parts: list[tuple[Term, int]] = []
        for i in range(len(tensors)):
            before = below(at[axis], ends[i + 1])
            if before.op == "false" or number(tensors[i].shape[axis]) == 0:
                continue
            parts.append((before, i))
            if before.op == "true":
                break
        if not parts:
            return first.at(at)
        made = own(parts[-1][1])
        for before, i in reversed(parts[:-1]):
            made = choose(before, own(i), made)
        return made

    return [Tensor(first.dtype, tuple(dims), define)]


@operator("Split")
def split(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    axis = positive(node.get("axis", 0), a.rank)
    count = len(node.outputs)
    sizes: list[Term]
    lengths = given(inputs, 1)
    if lengths is not None:
        sizes = sizes_of(lengths, world, "Split: no size is negative")
    elif node.get("split"):
        sizes = [integer(s) for s in node.get("split")]
    else:
        total = number(a.shape[axis])
        if total is None or (total % count and node.version < 18):
            raise UnsupportedError("Split in equal parts of an axis of unknown size")
        each = -(-total // count)
        if total <= each * (count - 1):  # which ONNX Runtime refuses
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


@operator("Unsqueeze")
def unsqueeze(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    axes = axes_of(node, inputs, 1)
    if axes is None:
        raise UnsupportedError("Unsqueeze without axes")
    rank = a.rank + len(axes)
    new = {positive(axis, rank) for axis in axes}
    if len(new) != len(axes):
        world.need(equal(ZERO, ONE), "Unsqueeze: no axis twice")
        raise UnsupportedError("Unsqueeze of one axis twice")
    dims: list[Term] = []
    own = iter(a.shape)
    for axis in range(rank):
        dims.append(ONE if axis in new else next(own))
    old = [axis for axis in range(rank) if axis not in new]
    return [Tensor(a.dtype, tuple(dims), lambda at: a.at([at[axis] for axis in old]))]


@operator("Squeeze")
def squeeze(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    axes = axes_of(node, inputs, 1)
    if axes is None:
        if any(number(d) is None for d in a.shape):
            raise UnsupportedError("Squeeze of all axes of size 1, where sizes are not known")
        gone = {axis for axis, d in enumerate(a.shape) if d is ONE}
    else:
        gone = {positive(axis, a.rank) for axis in axes}
    for axis in gone:
        world.need(equal(a.shape[axis], ONE), "Squeeze: the axis has size 1")

    def define(at: Coordinates) -> Term:
        own = iter(at)
        return a.at([ZERO if axis in gone else next(own) for axis in range(a.rank)])

    dims = tuple(d for axis, d in enumerate(a.shape) if axis not in gone)
    return [Tensor(a.dtype, dims, define)]


@operator("Expand")
def expand(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    wanted = sizes_of(needed(inputs, 1), world, "Expand: no size is negative")
    dims = broadcasting.shape([a.shape, wanted], world, "Expand: the shapes fit")
    return [broadcasting.stretched(a, dims, world)]


@operator("Tile")
def tile(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    times = sizes_of(needed(inputs, 1), world, "Tile: no count is negative")
    if len(times) != a.rank:
        world.need(equal(ZERO, ONE), "Tile: one count for each axis")
        raise UnsupportedError("Tile with a count too many or too few")
    dims = tuple(d * n for d, n in zip(a.shape, times, strict=True))

    def define(at: Coordinates) -> Term:
        own = []
        for c, d, n in zip(at, a.shape, times, strict=True):
            own.append(ZERO if d is ONE else c if n is ONE else modulo(c, d))
        return a.at(own)

    return [Tensor(a.dtype, dims, define)]


@operator("Identity")
def identity(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    return [needed(inputs, 0)]


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
        moved = (f + c * k for f, c, k in zip(first, at, by, strict=True))
        return a.at(tuple(moved))

    return [Tensor(a.dtype, tuple(dims), define)]


def bounds(d: Term, start: Term, end: Term, step: int) -> tuple[Term, Term]:
    """Return the start of a slice of an axis of size d, and how many elements it has."""
    last = d - 1
    start = choose(below(start, ZERO), start + d, start)
    # With an empty axis and a negative step there is nothing to clamp to: no element is taken.
    start = minimum(maximum(start, ZERO), d if step > 0 else last)
    raw = end
    end = choose(below(end, ZERO), end + d, end)
    if step > 0:
        end = minimum(maximum(end, ZERO), d)
        length = divide(end - start + (step - 1), integer(step))
        return start, maximum(length, ZERO)
    end = minimum(maximum(end, integer(-1)), d)
    to_front = either(*(equal(raw, integer(v)) for v in _LAST))
    end = choose(to_front, integer(-1), end)
    length = divide(start - end + (-step - 1), integer(-step))
    if number(d) is None:
        return start, choose(equal(d, ZERO), ZERO, maximum(length, ZERO))
    return start, maximum(length, ZERO) if d is not ZERO else ZERO

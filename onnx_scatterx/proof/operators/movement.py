"""Operators that move or repeat elements: Transpose, Concat, Expand, Tile, Reshape and others."""

from __future__ import annotations

from onnx_scatterx.proof.core.arithmetic import (
    ONE,
    ZERO,
    divide,
    exact_quotient,
    modulo,
    multiply,
    number,
)
from onnx_scatterx.proof.core.logic import at_most, below, choose, equal, negation
from onnx_scatterx.proof.core.reading import Node
from onnx_scatterx.proof.core.tensor import Coordinates, Dims, Tensor, remapped
from onnx_scatterx.proof.core.terms import Term, UnsupportedError
from onnx_scatterx.proof.core.world import World
from onnx_scatterx.proof.operators.registry import (
    Inputs,
    axes_of,
    common_shape,
    never,
    operator,
    positive,
    read,
    required,
    sizes_of,
)


@operator("Transpose", moves=True)
def transpose(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    order = node.get("perm", list(reversed(range(a.rank))))
    if sorted(order) != list(range(a.rank)):
        raise UnsupportedError("Transpose of other axes than there are")

    def define(at: Coordinates) -> Term:
        own = [ZERO] * a.rank
        for c, axis in zip(at, order, strict=True):
            own[axis] = c
        return a.at(own)

    return [Tensor(a.dtype, tuple(a.shape[axis] for axis in order), define)]


@operator("Concat", moves=True)
def concat(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    tensors = [required(inputs, i) for i in range(len(inputs))]
    first = tensors[0]
    axis = positive(node.get("axis"), first.rank)
    dims = list(first.shape)
    for t in tensors[1:]:
        if t.rank != first.rank:
            never(world, "Concat of different ranks")
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


@operator("Unsqueeze", moves=True)
def unsqueeze(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    axes = axes_of(node, inputs, 1)
    if axes is None:
        raise UnsupportedError("Unsqueeze without axes")
    rank = a.rank + len(axes)
    new = {positive(axis, rank) for axis in axes}
    if len(new) != len(axes):
        never(world, "Unsqueeze of one axis twice")
    dims: list[Term] = []
    own = iter(a.shape)
    for axis in range(rank):
        dims.append(ONE if axis in new else next(own))
    old = [axis for axis in range(rank) if axis not in new]
    return [Tensor(a.dtype, tuple(dims), lambda at: a.at([at[axis] for axis in old]))]


@operator("Squeeze", moves=True)
def squeeze(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    axes = axes_of(node, inputs, 1)
    if axes == []:
        raise UnsupportedError("Squeeze of no axes, which ONNX Runtime may take for all")
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


@operator("Expand", moves=True)
def expand(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    wanted = sizes_of(required(inputs, 1), world, "Expand: no size is negative")
    dims = common_shape([a.shape, wanted], world, "Expand: the shapes fit")
    return [Tensor(a.dtype, dims, lambda at: read(a, dims, at, world))]


@operator("Tile", moves=True)
def tile(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    times = sizes_of(required(inputs, 1), world, "Tile: no count is negative")
    if len(times) != a.rank:
        never(world, "Tile with a count too many or too few")
    dims = tuple(d * n for d, n in zip(a.shape, times, strict=True))

    def define(at: Coordinates) -> Term:
        own = []
        for c, d, n in zip(at, a.shape, times, strict=True):
            own.append(ZERO if d is ONE else c if n is ONE else modulo(c, d))
        return a.at(own)

    return [Tensor(a.dtype, dims, define)]


@operator("Identity", moves=True)
def identity(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    return [required(inputs, 0)]


def reshaped(a: Tensor, dims: Dims, world: World) -> Tensor:
    """Return a tensor in another shape of the same size."""
    there = remapped(dims, a.shape, world.same)
    return Tensor(a.dtype, dims, lambda at: a.at(there(at)))


@operator("Reshape", moves=True)
def reshape(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    wanted = required(inputs, 1).elements()
    if not node.get("allowzero", 0):
        wanted = [_copied(d, i, a, world) for i, d in enumerate(wanted)]
    free = [i for i, d in enumerate(wanted) if number(d) == -1]
    for i, d in enumerate(wanted):
        if i not in free and d.low < 0:
            if free:  # with a -1 in the shape, no other size may be -1
                world.need(at_most(ZERO, d), "Reshape: no size is negative")
            elif not world.known(at_most(ZERO, d)):
                raise UnsupportedError("Reshape to a size that may be -1")
    if len(free) > 1:
        never(world, "Reshape with two open sizes")
    if free:
        others = [d for i, d in enumerate(wanted) if i not in free]
        wanted[free[0]] = _open(a, others, world, bool(node.get("allowzero", 0)))
    else:
        world.need(equal(a.size, multiply(*wanted)), "Reshape: the sizes agree")
    return [reshaped(a, tuple(wanted), world)]


def _copied(d: Term, axis: int, a: Tensor, world: World) -> Term:
    """Return a size of a Reshape; if it is 0, the size of the same axis of the input."""
    if d.low > 0 or d.high < 0:
        return d
    zero = equal(d, ZERO)
    known = world.decide(zero)
    if known is False:
        return d
    if axis >= a.rank:
        world.need(negation(zero), "Reshape: 0 stands for a dim that there is")
        return d
    own = a.shape[axis]
    if known is True or world.same(d, own):
        return own
    return choose(zero, own, d)


def _open(a: Tensor, others: list[Term], world: World, allowzero: bool) -> Term:
    """Return the size for -1: the number of elements divided by the other sizes.

    Sizes that the input and the new shape have in common are cancelled first. With ``allowzero``,
    ONNX Runtime cancels common sizes of 0, too. None of the remaining sizes may be 0.
    """
    product = multiply(*others)
    if not allowzero:
        world.need(negation(equal(product, ZERO)), "Reshape: the open size is determined")
    left = list(a.shape)
    rest = []
    for d in others:
        match = next((e for e in left if world.same(d, e)), None)
        if match is None:
            rest.append(d)
        else:
            left.remove(match)
    if (
        allowzero
        and not world.known(below(ZERO, product))
        and not all(world.known(below(ZERO, d)) for d in (*left, *rest))
    ):
        raise UnsupportedError("Reshape with an open size and one that may be 0")
    total, part = multiply(*left), multiply(*rest)
    if part is ONE:
        return total
    whole = exact_quotient(total, part)
    if whole is not None:
        return whole
    open_size = divide(total, part)
    world.need(equal(total, open_size * part), "Reshape: the open size is whole")
    return open_size


@operator("Flatten", moves=True)
def flatten(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    axis = node.get("axis", 1)
    if not -a.rank <= axis <= a.rank:
        raise UnsupportedError("Flatten at an axis that is not there")
    axis = axis + a.rank if axis < 0 else axis
    dims = (multiply(*a.shape[:axis]), multiply(*a.shape[axis:]))
    return [reshaped(a, dims, world)]

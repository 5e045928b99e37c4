"""Reshape and Flatten, and special cases of Reshape: DepthToSpace, SpaceToDepth."""

from __future__ import annotations

from onnx_scatterx.equivalence.core.arithmetic import ONE, ZERO, integer, multiply, number
from onnx_scatterx.equivalence.core.division import divide, exact_quotient
from onnx_scatterx.equivalence.core.logic import at_most, below, choose, equal, negation
from onnx_scatterx.equivalence.core.reading import Node
from onnx_scatterx.equivalence.core.reshaping import Dims, remapped
from onnx_scatterx.equivalence.core.tensor import Tensor
from onnx_scatterx.equivalence.core.terms import Term, UnsupportedError
from onnx_scatterx.equivalence.core.world import World
from onnx_scatterx.equivalence.operators.registry import Inputs, needed, operator


def reshaped(a: Tensor, dims: Dims, world: World) -> Tensor:
    """Return a tensor in another shape of the same size."""
    there = remapped(dims, a.shape, world.same)
    return Tensor(a.dtype, dims, lambda at: a.at(there(at)))


@operator("Reshape")
def reshape(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    wanted = needed(inputs, 1).elements()
    if not node.get("allowzero", 0):
        wanted = [_copied(d, i, a, world) for i, d in enumerate(wanted)]
    free = [i for i, d in enumerate(wanted) if number(d) == -1]
    for i, d in enumerate(wanted):
        if i not in free and d.low < 0:
            if free:  # it might be a second -1
                world.need(at_most(ZERO, d), "Reshape: no size is negative")
            elif not world.known(at_most(ZERO, d)):
                raise UnsupportedError("Reshape to a size that may be -1")
    if len(free) > 1:
        world.need(equal(ZERO, ONE), "Reshape: at most one size is -1")
        raise UnsupportedError("Reshape with two open sizes")
    if free:
        others = [d for i, d in enumerate(wanted) if i not in free]
        wanted[free[0]] = _open(a, others, world, bool(node.get("allowzero", 0)))
    else:
        world.need(equal(a.size, multiply(*wanted)), "Reshape: the sizes agree")
    return [reshaped(a, tuple(wanted), world)]


def _copied(d: Term, axis: int, a: Tensor, world: World) -> Term:
    """Return a size; for a 0, that of the input."""
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

    With ``allowzero``, ONNX Runtime leaves out sizes of 0 on both sides. Sizes that are on both
    sides are left out here, whatever they are; of the rest, none may be 0.
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
    if allowzero and not all(d.low > 0 or world.known(below(ZERO, d)) for d in (*left, *rest)):
        raise UnsupportedError("Reshape with an open size and one that may be 0")
    total, part = multiply(*left), multiply(*rest)
    if part is ONE:
        return total
    whole = exact_quotient(total, part)
    if whole is not None:
        return whole
    found = divide(total, part)
    world.need(equal(total, multiply(found, part)), "Reshape: the open size is whole")
    return found


@operator("Flatten")
def flatten(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    axis = node.get("axis", 1)
    axis = axis + a.rank if axis < 0 else axis
    dims = (multiply(*a.shape[:axis]), multiply(*a.shape[axis:]))
    return [reshaped(a, dims, world)]


@operator("DepthToSpace", "SpaceToDepth")
def blocks(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    n, c, h, w = a.shape
    size = node.get("blocksize")
    block, square = integer(size), integer(size * size)
    if node.op == "DepthToSpace":
        depth = exact_quotient(c, square)
        if depth is None:
            raise UnsupportedError("DepthToSpace of an unknown number of channels")
        if node.get("mode", b"DCR") == b"DCR":
            shape, order = (n, block, block, depth, h, w), (0, 3, 4, 1, 5, 2)
        else:
            shape, order = (n, depth, block, block, h, w), (0, 1, 4, 2, 5, 3)
        result = (n, depth, multiply(h, block), multiply(w, block))
    else:
        rows, columns = exact_quotient(h, block), exact_quotient(w, block)
        if rows is None or columns is None:
            raise UnsupportedError("SpaceToDepth of unknown sizes")
        shape, order = (n, c, rows, block, columns, block), (0, 3, 5, 1, 2, 4)
        result = (n, multiply(c, square), rows, columns)
    apart = reshaped(a, shape, world)

    def define(at: Dims) -> Term:
        own = [ZERO] * 6
        for coordinate, axis in zip(at, order, strict=True):
            own[axis] = coordinate
        return apart.at(own)

    turned = Tensor(a.dtype, tuple(shape[axis] for axis in order), define)
    return [reshaped(turned, result, world)]

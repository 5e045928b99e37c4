"""Reshape and Flatten."""

from __future__ import annotations

from onnx_scatterx.equivalence.core.arithmetic import (
    ONE,
    ZERO,
    divide,
    exact_quotient,
    multiply,
    number,
)
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
    found = divide(total, part)
    world.need(equal(total, found * part), "Reshape: the open size is whole")
    return found


@operator("Flatten")
def flatten(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    axis = node.get("axis", 1)
    if not -a.rank <= axis <= a.rank:
        raise UnsupportedError("Flatten at an axis that is not there")
    axis = axis + a.rank if axis < 0 else axis
    dims = (multiply(*a.shape[:axis]), multiply(*a.shape[axis:]))
    return [reshaped(a, dims, world)]

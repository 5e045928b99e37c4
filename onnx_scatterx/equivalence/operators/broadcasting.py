"""Broadcasting: dims that are joined, and the coordinate of an operand that one of them reads."""

from __future__ import annotations

from collections.abc import Sequence

from onnx_scatterx.equivalence.core.arithmetic import ONE, ZERO, number
from onnx_scatterx.equivalence.core.logic import choose, either, equal
from onnx_scatterx.equivalence.core.tensor import Coordinates, Tensor
from onnx_scatterx.equivalence.core.terms import Term
from onnx_scatterx.equivalence.core.world import World


def join(a: Term, b: Term, world: World, what: str) -> Term:
    """Return the dim that two dims are broadcast to, which must fit."""
    if a is b or b is ONE:
        return a
    if a is ONE:
        return b
    world.need(either(equal(a, b), equal(a, ONE), equal(b, ONE)), what)
    known, other = number(a), number(b)
    if known is not None and other is None:
        return a
    if other is not None and known is None:
        return b
    if world.same(a, b):
        return a
    if world.known(equal(a, ONE)):
        return b
    if world.known(equal(b, ONE)):
        return a
    return choose(equal(a, ONE), b, a)


def shape(shapes: Sequence[Sequence[Term]], world: World, what: str) -> Coordinates:
    """Return the shape that several are broadcast to."""
    rank = max(map(len, shapes), default=0)
    joined = [ONE] * rank
    for dims in shapes:
        for axis, d in enumerate(dims, rank - len(dims)):
            joined[axis] = join(joined[axis], d, world, what)
    return tuple(joined)


def read(tensor: Tensor, dims: Coordinates, at: Coordinates, world: World) -> Term:
    """Return the element of an operand that is broadcast to these dims."""
    skipped = len(dims) - tensor.rank
    own: list[Term] = []
    for d, whole, c in zip(tensor.shape, dims[skipped:], at[skipped:], strict=True):
        if d is ONE:
            own.append(ZERO)
        elif d is whole or (number(d) or 0) > 1 or world.same(d, whole):
            own.append(c)
        else:
            own.append(choose(equal(d, ONE), ZERO, c))
    return tensor.at(own)


def stretched(tensor: Tensor, dims: Coordinates, world: World) -> Tensor:
    """Return a tensor broadcast to these dims."""
    return Tensor(tensor.dtype, dims, lambda at: read(tensor, dims, at, world))

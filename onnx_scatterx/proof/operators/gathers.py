"""Gather, GatherElements and GatherND: elements at computed positions; OneHot: computed ones."""

from __future__ import annotations

from onnx_scatterx.proof.core.arithmetic import ZERO, integer, number
from onnx_scatterx.proof.core.logic import (
    TRUE,
    at_most,
    below,
    both,
    choose,
    equal,
    implies,
    some,
)
from onnx_scatterx.proof.core.reading import Node
from onnx_scatterx.proof.core.tensor import Coordinates, Tensor
from onnx_scatterx.proof.core.terms import Term, UnsupportedError
from onnx_scatterx.proof.core.types import sort_of
from onnx_scatterx.proof.core.world import World
from onnx_scatterx.proof.operators.registry import (
    Inputs,
    never,
    operator,
    positive,
    required,
    scalar,
)


def counted_from_front(index: Term, d: Term, world: World) -> Term:
    """Return an index counted from the front."""
    negative = below(index, ZERO)
    if world.decide(negative) is False:
        return index
    return choose(negative, index + d, index)


def in_range(index: Term, d: Term) -> Term:
    """Return the condition that an element exists at an index."""
    if index.sort != "integer":
        raise UnsupportedError("indices whose type is not known")
    return both(at_most(-d, index), below(index, d))


def need_in_range(
    indices: Tensor,
    d: Term,
    world: World,
    what: str,
    column: int | None = None,
    read: Term = TRUE,
) -> None:
    """Require that all indices of a tensor, or of one column, are in range.

    The requirement holds only if ``read`` is true: otherwise no index is read.
    """
    if indices.array is not None:
        part = indices.array if column is None else indices.array[..., column]
        if part.size:
            for extreme in (part.min(), part.max()):
                world.need(implies(read, in_range(integer(int(extreme)), d)), what)
        return
    points = list(indices.points("index"))
    if column is not None:
        points[-1] = integer(column)
    index = indices.at(points)
    world.need_all(tuple(points), implies(read, in_range(index, d)), what)
    if world.owing or world.masks.points_along(index) is d:
        return

    def fact(at: Coordinates, element: Term) -> Term:
        own = TRUE if column is None else equal(at[-1], integer(column))
        return implies(both(own, read), in_range(element, d))

    world.hold(indices, fact)
    # The first and the last index are in range, too: this gives facts about the sizes.
    for last in (False, True):
        at = [
            c if number(c) is not None else (n - 1 if last else ZERO)
            for c, n in zip(points, indices.shape, strict=True)
        ]
        exist = both(read, some(indices.shape))
        world.solver.assume(implies(exist, in_range(indices.at(at), d)))


@operator("Gather", moves=True)
def gather(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a, indices = required(inputs, 0), required(inputs, 1)
    axis = positive(node.get("axis", 0), a.rank)
    d = a.shape[axis]
    need_in_range(indices, d, world, "Gather: the indices are in range")
    dims = (*a.shape[:axis], *indices.shape, *a.shape[axis + 1 :])

    def define(at: Coordinates) -> Term:
        index = indices.at(at[axis : axis + indices.rank])
        own = counted_from_front(index, d, world)
        return a.at((*at[:axis], own, *at[axis + indices.rank :]))

    return [Tensor(a.dtype, dims, define)]


@operator("GatherElements", moves=True)
def gather_elements(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a, indices = required(inputs, 0), required(inputs, 1)
    axis = positive(node.get("axis", 0), a.rank)
    if indices.rank != a.rank:
        raise UnsupportedError("GatherElements of different ranks")
    d = a.shape[axis]
    for k, (n, m) in enumerate(zip(indices.shape, a.shape, strict=True)):
        if k != axis:
            world.need(at_most(n, m), "GatherElements: no more than there are")
    need_in_range(indices, d, world, "GatherElements: the indices are in range")

    def define(at: Coordinates) -> Term:
        own = counted_from_front(indices.at(at), d, world)
        return a.at((*at[:axis], own, *at[axis + 1 :]))

    return [Tensor(a.dtype, indices.shape, define)]


@operator("GatherND", moves=True)
def gather_nd(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a, indices = required(inputs, 0), required(inputs, 1)
    batch = node.get("batch_dims", 0)
    columns = number(indices.shape[-1]) if indices.rank else None
    if columns is None or columns + batch > a.rank or not 0 <= batch < indices.rank:
        raise UnsupportedError("GatherND with an unknown number of columns")
    for k in range(batch):
        alike = equal(a.shape[k], indices.shape[k])
        if not world.owing and not world.known(alike):  # ONNX Runtime takes a multiple, too
            raise UnsupportedError("GatherND of batches that may differ")
        world.need(alike, "GatherND: the batches agree")
    whole = some(a.shape[batch + columns :])
    for k in range(columns):
        d = a.shape[batch + k]
        need_in_range(indices, d, world, "GatherND: the indices are in range", k, whole)
    outer = indices.rank - 1

    def define(at: Coordinates) -> Term:
        own = [
            counted_from_front(indices.at((*at[:outer], integer(k))), a.shape[batch + k], world)
            for k in range(columns)
        ]
        return a.at((*at[:batch], *own, *at[outer:]))

    return [Tensor(a.dtype, (*indices.shape[:-1], *a.shape[batch + columns :]), define)]


@operator("OneHot", moves=True)
def one_hot(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    indices, depth, values = (required(inputs, i) for i in range(3))
    if any(sort_of(t.dtype) != "integer" for t in (indices, depth)):
        raise UnsupportedError("OneHot of floats")
    if values.rank != 1:
        never(world, "OneHot with other than a vector of two values")
    world.need(equal(values.shape[0], integer(2)), "OneHot: there are two values")
    length = scalar(depth, world, "OneHot: the depth is a number")
    world.need(below(ZERO, length), "OneHot: the depth is positive")
    axis = positive(node.get("axis", -1), indices.rank + 1)
    off, on = (values.at((integer(i),)) for i in range(2))

    def define(at: Coordinates) -> Term:
        index = indices.at((*at[:axis], *at[axis + 1 :]))
        return choose(equal(counted_from_front(index, length, world), at[axis]), on, off)

    return [Tensor(values.dtype, (*indices.shape[:axis], length, *indices.shape[axis:]), define)]

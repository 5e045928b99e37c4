"""ScatterND, ScatterElements, TensorScatter, ScatterX: an element is its update, or that of data.

A ScatterX means what its attributes say, as for the kernel. The update at I goes to the element
``J = p(f(p1(I)) ++ p2(I))`` of data. Here f(p1(I)) is the row of f at some coordinates of I, p2(I)
are other coordinates of I, and p is their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnx_scatterx.proof.core.arithmetic import ZERO, integer, modulo, number
from onnx_scatterx.proof.core.folds import Fold, Part
from onnx_scatterx.proof.core.inversion import Inversion, Origin, Target
from onnx_scatterx.proof.core.logic import (
    TRUE,
    at_most,
    below,
    both,
    choose,
    either,
    equal,
    implies,
    some,
)
from onnx_scatterx.proof.core.reading import Node
from onnx_scatterx.proof.core.tensor import Coordinates, Tensor
from onnx_scatterx.proof.core.terms import (
    Term,
    UnsupportedError,
    substitute,
    variable,
    walk,
)
from onnx_scatterx.proof.core.types import COMPUTED, sort_of
from onnx_scatterx.proof.core.world import World
from onnx_scatterx.proof.operators.elementwise import binary, compared
from onnx_scatterx.proof.operators.gathers import counted_from_front, need_in_range
from onnx_scatterx.proof.operators.registry import (
    Inputs,
    never,
    operator,
    optional,
    positive,
    required,
)


def reduced(node: Node, dtype: str, old: Term, new: Term, world: World) -> Term:
    """Return the value of an element after a reduction with an update."""
    mode = node.get("reduction", b"none").decode()
    if mode == "none":
        return new
    if old.sort == "condition":
        return either(old, new) if mode == "add" else both(old, new)
    if mode in ("add", "mul"):
        return binary({"add": "Add", "mul": "Mul"}[mode], dtype, old, new, world)
    if old.sort == "integer":
        keeps = below(new, old) if mode == "max" else below(old, new)
    else:
        keeps = compared({"max": "Greater", "min": "Less"}[mode], old, new)
    return choose(keeps, old, new)


def written(
    node: Node,
    data: Tensor,
    inversion: Inversion,
    target: Callable[[Coordinates], Sequence[Term]],
    update: Callable[[Origin, Coordinates], Term],
    world: World,
) -> Tensor:
    """Return the data after the updates are written."""
    mode = node.get("reduction", b"none")
    reduces = mode != b"none"
    if reduces:
        if mode not in (b"add", b"mul", b"max", b"min"):
            raise UnsupportedError("a reduction that ONNX Runtime may take for none")
        if data.dtype == "bool" and mode in (b"max", b"min"):
            raise UnsupportedError("the greatest or least of conditions")  # runs only if empty
        if data.dtype not in COMPUTED:  # ONNX Runtime refuses to run most of these types
            raise UnsupportedError(f"a reduction of {data.dtype}")
        if not inversion.unique and sort_of(data.dtype) == "data":
            world.assume("updates that collide are reduced in their order")
    # max(x, v, v) = max(x, v): if all updates of an element are equal, any one of them suffices.
    once = not reduces or (
        node.get("reduction") in (b"max", b"min") and _equal_updates(data, inversion, update)
    )
    if not once and not inversion.unique and not inversion.layers:
        return _folded(node, data, inversion, update, world)

    def define(at: Coordinates) -> Term:
        made = data.at(at)
        last = once and not inversion.masked
        origins = (lambda c: [inversion.origin(c)]) if last else inversion.all_origins
        for origin in origins(target(at)):
            if origin.hit.op == "false":
                continue
            new = reduced(node, data.dtype, made, update(origin, at), world)
            made = choose(origin.hit, substitute(new, origin.simpler), made)
        return made

    return Tensor(data.dtype, data.shape, define)


def _equal_updates(
    data: Tensor, inversion: Inversion, update: Callable[[Origin, Coordinates], Term]
) -> bool:
    """Return whether all updates of an element of data are the same."""
    point = Origin(TRUE, inversion.points)
    own = {p for p in inversion.points if p is not ZERO}
    return not own & set(walk([update(point, data.points("any"))]))


def _folded(
    node: Node,
    data: Tensor,
    inversion: Inversion,
    update: Callable[[Origin, Coordinates], Term],
    world: World,
) -> Tensor:
    """Return data reduced with updates, if it is not known which updates collide.

    The element at c is reduced with all updates I for which ``T(I) = c``. If an axis of I is the
    j-th column of T, I is ``c[j]`` on this axis.
    """
    inner = len(inversion.dims)
    box = (*inversion.dims, *data.shape[len(inversion.columns) :])

    def goes(point: Coordinates) -> Coordinates:
        return (*inversion.target(point[:inner]), *point[inner:])

    any_point = tuple(variable(("update", k), limit=d) for k, d in enumerate(box))
    columns = goes(any_point)
    copied = {j: columns.index(p) for j, p in enumerate(any_point) if p in columns}
    left = [j for j in range(len(box)) if j not in copied]

    def part(at: Coordinates, points: Coordinates) -> Part:
        free = dict(zip(left, points, strict=True))
        point = tuple(at[copied[j]] if j in copied else free[j] for j in range(len(box)))
        there = (below(at[k], box[j]) for j, k in copied.items())
        target = goes(point)
        holds = both(*there, *map(equal, target, at))
        return holds, update(Origin(TRUE, point[:inner]), target)

    def combine(old: Term, new: Term) -> Term:
        return reduced(node, data.dtype, old, new, world)

    own_box = tuple(box[j] for j in left)
    op = node.get("reduction").decode()
    value = world.folds.function(Fold(op, data.dtype, data.shape, own_box, part, combine))

    def define(at: Coordinates) -> Term:
        if op == "add" and sort_of(data.dtype) == "integer":  # the order is free: add data last
            return combine(value(at, ZERO), data.at(at))
        return value(at, data.at(at))

    return Tensor(data.dtype, data.shape, define)


@operator("ScatterND", moves=True)
def scatter_nd(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    data, indices, updates = (required(inputs, i) for i in range(3))
    columns = number(indices.shape[-1]) if indices.rank else None
    if columns is None or not 0 < columns <= data.rank:
        raise UnsupportedError("ScatterND with an unknown number of columns")
    expected = (*indices.shape[:-1], *data.shape[columns:])
    if updates.rank != len(expected):
        never(world, "ScatterND with updates of another rank")
    for d, e in zip(updates.shape, expected, strict=True):
        world.need(equal(d, e), "ScatterND: the updates fit")
    for k in range(columns):
        need_in_range(indices, data.shape[k], world, "ScatterND: the indices are in range", k)

    def target(point: Sequence[Term]) -> tuple[Term, ...]:
        return tuple(
            counted_from_front(indices.at((*point, integer(k))), data.shape[k], world)
            for k in range(columns)
        )

    inversion = Inversion(
        indices.shape[:-1], target, f"{node.op} {world.name(indices, data.shape)}", world
    )

    def update(origin: Origin, at: Coordinates) -> Term:
        return updates.at((*origin.point, *at[columns:]))

    return [written(node, data, inversion, lambda at: at[:columns], update, world)]


@operator("ScatterElements", moves=True)
def scatter_elements(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    data, indices, updates = (required(inputs, i) for i in range(3))
    axis = positive(node.get("axis", 0), data.rank)
    if not data.rank == indices.rank == updates.rank:
        never(world, "ScatterElements of different ranks")
    for k, (n, m, d) in enumerate(zip(indices.shape, updates.shape, data.shape, strict=True)):
        world.need(equal(n, m), "ScatterElements: the updates fit")
        if k != axis:
            world.need(at_most(n, d), "ScatterElements: no more than there are")
    need_in_range(indices, data.shape[axis], world, "ScatterElements: the indices are in range")

    def target(point: Sequence[Term]) -> tuple[Term, ...]:
        own = counted_from_front(indices.at(tuple(point)), data.shape[axis], world)
        return (*point[:axis], own, *point[axis + 1 :])

    name = f"{node.op} {world.name(indices, (*data.shape, integer(axis)))}"
    inversion = Inversion(indices.shape, target, name, world)
    return [written(node, data, inversion, lambda at: at, lambda o, _: updates.at(o.point), world)]


@operator("TensorScatter", moves=True)
def tensor_scatter(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    data, updates = required(inputs, 0), required(inputs, 1)
    starts = optional(inputs, 2)
    axis = positive(node.get("axis", -2), data.rank)
    circular = node.get("mode", b"linear") == b"circular"
    length, extent = updates.shape[axis], data.shape[axis]
    if updates.rank != data.rank or axis == 0:
        raise UnsupportedError("TensorScatter of different ranks")
    for k, (d, e) in enumerate(zip(data.shape, updates.shape, strict=True)):
        if k != axis:
            world.need(equal(d, e), "TensorScatter: the updates fit")
    world.need(at_most(length, extent), "TensorScatter: no more than there are")
    if starts is not None:
        world.need(equal(starts.shape[0], data.shape[0]), "TensorScatter: a start each")

        def fits(_: Coordinates, start: Term) -> Term:
            through = TRUE if circular else at_most(start + length, extent)
            return both(at_most(ZERO, start), through)

        points = starts.points("start")
        what = "TensorScatter: the starts are in range"
        world.need_all(points, fits(points, starts.at(points)), what)
        if not world.owing:
            world.hold(starts, fits)

    def define(at: Coordinates) -> Term:
        start = ZERO if starts is None else starts.at((at[0],))
        offset = at[axis] - start
        if circular:
            offset = modulo(offset, extent)
        hit = both(at_most(ZERO, offset), below(offset, length))
        new = updates.at((*at[:axis], offset, *at[axis + 1 :]))
        return choose(hit, new, data.at(at))

    return [Tensor(data.dtype, data.shape, define)]


_DEEPEST = 16  # the most axes that the kernel takes


def scatterx(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    """Return the result of the kernel, and require what the kernel checks."""
    data, table, updates = (required(inputs, i) for i in range(3))
    p1, p2, p = (list(node.get(name) or ()) for name in ("p1", "p2", "p"))
    columns = data.rank - len(p2)
    if max(data.rank, table.rank, updates.rank) > _DEEPEST:
        raise UnsupportedError("ScatterX of more axes than the kernel takes")
    picked = all(0 <= d < updates.rank for d in (*p1, *p2))
    if not picked or sorted(p) != list(range(data.rank)) or table.rank != len(p1) + 1:
        raise UnsupportedError("ScatterX with picks that do not fit")
    if number(table.shape[-1]) != columns:
        raise UnsupportedError("ScatterX with another number of columns")
    for position, d in enumerate(p1):
        world.need(equal(table.shape[position], updates.shape[d]), "ScatterX: f fits the updates")
    exist = some(updates.shape)
    for axis, source in enumerate(p):
        length = data.shape[axis]
        if source < columns:
            what = "ScatterX: the indices are in range"
            need_in_range(table, length, world, what, source, exist)
        else:
            copied = updates.shape[p2[source - columns]]
            fits = implies(exist, at_most(copied, length))
            world.need(fits, "ScatterX: no more than there are")

    def target(point: Sequence[Term]) -> tuple[Term, ...]:
        row = [point[d] for d in p1]
        coordinates = []
        for axis, source in enumerate(p):
            if source < columns:
                index = table.at((*row, integer(source)))
                coordinates.append(counted_from_front(index, data.shape[axis], world))
            else:
                coordinates.append(point[p2[source - columns]])
        return tuple(coordinates)

    key = (*data.shape, *updates.shape, *map(integer, (*p1, -1, *p2, -1, *p)))
    inversion = Inversion(updates.shape, target, f"ScatterX {world.name(table, key)}", world)
    if node.get("unique") and not inversion.unique:
        if not world.owing:
            raise UnsupportedError("ScatterX that states that no updates collide")
        world.need(_unique(updates, target), "ScatterX: no two updates collide")
    return [written(node, data, inversion, lambda at: at, lambda o, _: updates.at(o.point), world)]


def _unique(updates: Tensor, target: Target) -> Term:
    """Return the condition that no two updates go to one element."""
    one, other = updates.points("one update "), updates.points("another update ")
    same = (equal(a, b) for a, b in zip(target(one), target(other), strict=True))
    return implies(both(*same), both(*(equal(a, b) for a, b in zip(one, other, strict=True))))

"""ScatterX by its attributes, as the kernel obeys them.

The update at I goes to the element ``J = p(f(p1(I)) ++ p2(I))`` of data: a row of f, which is read
at some coordinates of I, and copied coordinates of I, in the order p.
"""

from __future__ import annotations

from collections.abc import Sequence

from onnx_scatterx.equivalence.core.arithmetic import ZERO, integer, number
from onnx_scatterx.equivalence.core.inversion import Inversion
from onnx_scatterx.equivalence.core.logic import at_most, below, both, equal, implies
from onnx_scatterx.equivalence.core.reading import Node
from onnx_scatterx.equivalence.core.searching import Target
from onnx_scatterx.equivalence.core.tensor import Tensor
from onnx_scatterx.equivalence.core.terms import Term, UnsupportedError
from onnx_scatterx.equivalence.core.world import World
from onnx_scatterx.equivalence.operators.gathers import counted_from_front, need_in_range
from onnx_scatterx.equivalence.operators.registry import Inputs, needed
from onnx_scatterx.equivalence.operators.scatters import written


def scatterx(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    """Return the result of the kernel; what it needs to run is required."""
    data, table, updates = (needed(inputs, i) for i in range(3))
    p1, p2, p = (list(node.get(name) or ()) for name in ("p1", "p2", "p"))
    columns = data.rank - len(p2)
    picked = all(0 <= d < updates.rank for d in (*p1, *p2))
    if not picked or sorted(p) != list(range(data.rank)) or table.rank != len(p1) + 1:
        raise UnsupportedError("ScatterX with picks that do not fit")
    if number(table.shape[-1]) != columns:
        raise UnsupportedError("ScatterX with another number of columns")
    for place, d in enumerate(p1):
        world.need(equal(table.shape[place], updates.shape[d]), "ScatterX: f fits the updates")
    exist = both(*(below(ZERO, n) for n in updates.shape))
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
        found = []
        for axis, source in enumerate(p):
            if source < columns:
                index = table.at((*row, integer(source)))
                found.append(counted_from_front(index, data.shape[axis], world))
            else:
                found.append(point[p2[source - columns]])
        return tuple(found)

    key = (*data.shape, *map(integer, (*p1, -1, *p2, -1, *p)))
    inversion = Inversion(updates.shape, target, f"ScatterX {world.name(table, key)}", world)
    if node.get("unique") and not inversion.unique:
        if not world.owing:
            raise UnsupportedError("ScatterX that states that no updates collide")
        world.need(_unique(updates, target), "ScatterX: no two updates collide")
    return [written(node, data, inversion, lambda at: at, lambda o, _: updates.at(o.point), world)]


def _unique(updates: Tensor, target: Target) -> Term:
    """Return that no two updates go to one element."""
    one, other = updates.points("one update "), updates.points("another update ")
    same = (equal(a, b) for a, b in zip(target(one), target(other), strict=True))
    return implies(both(*same), both(*(equal(a, b) for a, b in zip(one, other, strict=True))))

"""Steps that read by indices: a Gather, a GatherElements or a GatherND."""

import numpy as np

from tests.helpers.drawing.drawing import Drawing, Value, enter
from tests.helpers.drawing.indices import At
from tests.helpers.drawing.moves import axis_of


@enter("moves")
@enter("reads")
def gather(d: Drawing, x: Value) -> Value | None:
    """Read places of an axis, by one index, some, or a table of them."""
    axis = axis_of(d, x)
    if axis is None:
        return None
    at: At = d.draw("indices", x, axis)
    signed = axis - len(x.dims) * d.does(0.2)
    before, after = x.dims[:axis], x.dims[axis + 1 :]
    shapes: list[tuple[int | str, ...]] = [(at.count,), (at.count,), (at.count,)]
    if isinstance(at.count, int) and at.name in d.stored:
        shapes += [(at.count, 1), (1, at.count), ()] if at.count == 1 else [(at.count, 1)]
    dims = d.rng.choice(shapes)
    name = at.name
    if len(dims) != 1:
        name = d.constant(d.stored[name].reshape([d.size(n) for n in dims]))
    elif d.does(0.2):
        stored = d.stored.get(name)
        name = d.cast(name, "int32") if stored is None else d.constant(stored, "int32")
    return d.of("Gather", x, name, axis=signed, dims=(*before, *dims, *after))


@enter("reads")
def gather_elements(d: Drawing, x: Value) -> Value | None:
    """Read with indices that are the same in all rows, as take_along_dim makes them."""
    axis = axis_of(d, x)
    if axis is None:
        return None
    at: At = d.draw("indices", x, axis)
    shape, count = d.node("Shape", x.name), d.node("Shape", at.name)
    rank = len(x.dims)
    parts = [count if a == axis else d.node("Gather", shape, d.constant([a])) for a in range(rank)]
    others = d.constant([a for a in range(rank) if a != axis])
    full = d.node("Unsqueeze", at.name, others)
    full = d.node("Expand", full, d.node("Concat", *parts, axis=0))
    dims = (*x.dims[:axis], at.count, *x.dims[axis + 1 :])
    return d.of("GatherElements", x, full, axis=axis, dims=dims)


@enter("reads")
def gather_nd(d: Drawing, x: Value) -> Value | None:
    """Read by tuples of one or two axes, behind batch dims where their sizes are numbers."""
    rank, batch = len(x.dims), 0
    while batch < rank - 1 and isinstance(x.dims[batch], int) and d.does(0.4):
        batch += 1
    if not rank:
        return None
    depth = d.rng.randint(1, min(2, rank - batch))
    columns = []
    for dim in x.dims[batch : batch + depth]:
        size = d.size(dim)
        count = d.rng.choice((0, 1, 1, 2, 2, 3, 4)) if size else 0
        line = d.rng.randrange(max(size, 1)) + d.rng.choice((1, 1, -1, 2, 0)) * np.arange(count)
        columns.append(line[(line >= 0) & (line < size)] - size * d.does(0.3))
    grid = np.stack(np.meshgrid(*columns, indexing="ij"), -1)
    lead = d.shape(x.dims[:batch])
    at = d.constant(np.broadcast_to(grid, (*lead, *grid.shape)))
    dims = (*x.dims[:batch], *(len(c) for c in columns), *x.dims[batch + depth :])
    return d.of("GatherND", x, at, batch_dims=batch, dims=dims)

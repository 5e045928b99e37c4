"""Random arguments of ONNX's scatters and gathers, of types that ONNX Runtime has kernels for."""

import numpy as np

from tests.theory.golden.draws import Array, Draws
from tests.theory.golden.replay import Arguments

INTEGERS = ["int8", "uint8", "int16", "int32", "int64", "uint64"]
TYPES = ["float32", "float32", "float64", *INTEGERS, "float16", "bool"]
REDUCTIONS = ["none", "none", "add", "mul", "min", "max"]


def reduction(d: Draws, dtype: str, half: list[str]) -> str:
    return d.choice({"bool": ["none", "add", "mul"], "float16": half}.get(dtype, REDUCTIONS))


def tuples(d: Draws, outer: tuple[int, ...], sizes: tuple[int, ...]) -> Array:
    sizes_of_axes = np.array(sizes, np.int64)
    return d.indices((*outer, len(sizes)), sizes_of_axes, negative=d.chance(2), wrong=5)


def scatter_nd(d: Draws) -> Arguments:
    dtype, shape = d.choice(TYPES), d.shape(1, 4)
    k, outer = d.integer(0, len(shape)), d.shape(0, 2, 5)
    indices = tuples(d, outer, shape[:k])
    updates_shape = outer + shape[k:]
    updates = d.values(d.other(updates_shape) if d.chance(10) else updates_shape, dtype)
    data = d.values(shape, dtype)
    kind = reduction(d, dtype, ["none"])
    return {"data": data, "indices": indices, "updates": updates, "reduction": kind}


def elements(d: Draws) -> tuple[Array, Array, int]:
    """Draw data, indices with a number for every element, and the axis."""
    shape = d.shape(1, 3)
    axis = d.axis(len(shape))
    at = axis % len(shape)
    shaped = [d.extent(5) if c == at else d.integer(min(n, 1), n) for c, n in enumerate(shape)]
    index_shape = d.other(shaped) if d.chance(8) else shaped
    kind = d.choice(["int64", "int64", "int32"])
    indices = d.indices(index_shape, shape[at], kind, negative=d.chance(2), wrong=6)
    return d.values(shape, d.choice(TYPES)), indices, axis


def scatter_elements(d: Draws) -> Arguments:
    data, indices, axis = elements(d)
    updates_shape = d.other(indices.shape) if d.chance(10) else indices.shape
    updates = d.values(updates_shape, data.dtype.name)
    kind = reduction(d, data.dtype.name, ["none", "min", "max"])
    arguments = {"data": data, "indices": indices, "updates": updates}
    return {**arguments, "axis": axis, "reduction": kind}


def tensor_scatter(d: Draws) -> Arguments:
    shape, dtype = d.shape(2, 4), d.choice(TYPES)
    axis = d.axis(len(shape)) if d.chance(6) else d.integer(1, len(shape) - 1)
    at, mode = axis % len(shape), d.choice(["linear", "circular"])
    size = shape[at]
    length = d.integer(0, size + d.chance(10))
    update_shape = tuple(length if c == at else n for c, n in enumerate(shape))
    starts = None
    if not d.chance(4):
        most = size - length + 1 if mode == "linear" else 3 * size + 1
        count = (shape[0] + d.chance(15),)
        starts = d.indices(count, max(most, 1), wrong=6)
    update = d.values(d.other(update_shape) if d.chance(12) else update_shape, dtype)
    arguments = {"past_cache": d.values(shape, dtype), "update": update, "write_indices": starts}
    return {**arguments, "axis": axis, "mode": "ring" if d.chance(25) else mode}


def gather(d: Draws) -> Arguments:
    shape = d.shape(0 if d.chance(12) else 1, 4)
    axis = d.axis(len(shape))
    size = shape[axis % len(shape)] if shape else 1
    kind = d.choice(["int64", "int64", "int32"])
    indices = d.indices(d.shape(0, 3), size, kind, negative=d.chance(2), wrong=5)
    return {"data": d.values(shape, d.choice(TYPES)), "indices": indices, "axis": axis}


def gather_elements(d: Draws) -> Arguments:
    data, indices, axis = elements(d)
    return {"data": data, "indices": indices, "axis": axis}


def gather_nd(d: Draws) -> Arguments:
    shape = d.shape(1, 4)
    batch = d.integer(0, len(shape) - 1) if d.chance(2) else 0
    k = d.integer(0 if d.chance(8) else 1, len(shape) - batch)
    outer = shape[:batch] + d.shape(0, 2, 3)
    indices = tuples(d, outer, shape[batch : batch + k])
    if d.chance(12):
        too_deep = np.zeros((*outer, len(shape) + 1), np.int64)
        indices = d.choice([indices.astype(np.int32), too_deep, np.zeros((), np.int64)])
    batch_dims = len(shape) + len(outer) + 1 if d.chance(12) else batch
    return {"data": d.values(shape, d.choice(TYPES)), "indices": indices, "batch_dims": batch_dims}


DRAWS = {
    draw.__name__: draw
    for draw in (scatter_nd, scatter_elements, tensor_scatter, gather, gather_elements, gather_nd)
}

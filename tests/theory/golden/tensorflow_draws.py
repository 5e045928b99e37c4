"""Random arguments of TensorFlow's scatters and gathers: mostly right, and wrong in each."""

import numpy as np

from tests.theory.golden.draws import Array, Draws
from tests.theory.golden.replay import Arguments, Draw

TYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
TYPES = [*TYPES, "float16", "bfloat16", "float32", "float32", "float64", "complex64"]


def index_type(d: Draws) -> str:
    if d.chance(15):
        return d.choice(["int16", "uint8", "int8", "float32", "uint32"])
    return d.choice(["int64", "int64", "int32"])


def tuples(d: Draws, outer: tuple[int, ...], sizes: tuple[int, ...]) -> Array:
    """Draw index tuples into axes of these sizes."""
    return d.indices((*outer, len(sizes)), np.array(sizes, np.int64), index_type(d), wrong=8)


def full(d: Draws, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Take most zeros out of a shape: TensorFlow refuses most empty updates."""
    return shape if d.chance(5) else tuple(max(n, 1) for n in shape)


def scatter(d: Draws) -> Arguments:
    dtype = d.choice(TYPES)
    shape = full(d, d.shape(0 if d.chance(10) else 1, 4))
    k = d.integer(0 if d.chance(15) else min(1, len(shape)), len(shape))
    outer = full(d, d.shape(1, 2, 5))
    indices = tuples(d, outer, shape[:k])
    if d.chance(20):
        indices = indices.reshape(d.choice([(-1,), indices.shape, (*indices.shape, 1)]))
    updates_shape = outer + shape[k:]
    if d.chance(8):
        updates_shape = d.other(updates_shape)
    while len(updates_shape) < indices.ndim - 1:
        updates_shape = (*updates_shape, 2)  # TensorFlow ends the process for less dims
    updates = d.values(updates_shape, d.choice(TYPES) if d.chance(20) else dtype)
    return {"tensor": d.values(shape, dtype), "indices": indices, "updates": updates}


def scatter_nd(d: Draws) -> Arguments:
    arguments = scatter(d)
    shape = np.array(arguments.pop("tensor").shape, np.int64)
    if d.chance(12) and shape.size:
        shape = d.choice([-shape, shape.reshape(1, -1), shape - 1])
    kind = arguments["indices"].dtype if arguments["indices"].dtype.kind == "i" else np.int64
    return {**arguments, "shape": shape.astype(np.float32 if d.chance(30) else kind)}


def batched(d: Draws) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Draw a shape of params, the first dims of indices, and how many of them are a batch."""
    shape = d.shape(0 if d.chance(10) else 1, 4)
    batch = d.integer(0, len(shape)) if d.chance(2) else 0
    outer = shape[:batch] + d.shape(0, 2, 3)
    return shape, d.other(outer) if d.chance(15) else outer, batch


def counted(d: Draws, batch: int, rank: int) -> int:
    """Draw a spelling of batch_dims."""
    if d.chance(12):
        return batch + d.choice([1, -1, 3])
    return batch - rank if d.chance(6) and batch < rank else batch


def gather(d: Draws) -> Arguments:
    shape, outer, batch = batched(d)
    axis = None if d.chance(3) else d.axis(len(shape))
    if axis is not None and shape and not d.chance(8):
        axis = d.choice([d.integer(min(batch, len(shape) - 1), len(shape) - 1), axis])
    at = batch if axis is None else axis % max(len(shape), 1)
    size = shape[at] if at < len(shape) else 1
    indices = d.indices(outer, size, index_type(d), wrong=8)
    params = d.values(shape, d.choice(TYPES))
    batch_dims = counted(d, batch, len(outer))
    return {"params": params, "indices": indices, "axis": axis, "batch_dims": batch_dims}


def gather_nd(d: Draws) -> Arguments:
    shape, outer, batch = batched(d)
    k = d.integer(0 if d.chance(8) else min(1, len(shape) - batch), len(shape) - batch)
    indices = tuples(d, outer, shape[batch : batch + k])
    if d.chance(20):
        indices = indices.reshape(d.choice([(-1,), indices.shape, (*indices.shape, 1)]))
    params = d.values(shape, d.choice(TYPES))
    return {"params": params, "indices": indices, "batch_dims": counted(d, batch, len(outer))}


KINDS = ("update", "add", "sub", "min", "max")
DRAWS: dict[str, Draw] = {f"tensor_scatter_nd_{kind}": scatter for kind in KINDS}
DRAWS |= {"scatter_nd": scatter_nd, "gather": gather, "gather_nd": gather_nd}

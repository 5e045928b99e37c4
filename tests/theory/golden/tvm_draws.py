"""Random arguments of TVM's scatters and reads.

TVM checks little. Nothing is drawn that makes it read or write elsewhere: no index outside, no
tensor that is too small. What is wrong here is what it refuses to build.
"""

from typing import Any

import numpy as np

from tests.theory.golden.draws import Draws
from tests.theory.golden.replay import Arguments

FLOATS = ["float16", "float32", "float32", "float64"]
INTEGERS = ["int8", "uint8", "int16", "int32", "int64"]
TYPES = [*FLOATS, *INTEGERS, "bool", "bfloat16"]
REDUCTIONS = ["update", "update", "add", "mul", "min", "max"]
WRONG = ["mean value", "none", ""]
INDICES = ["int32", "int64", "int64"]


def extents(d: Draws, low: int, high: int) -> tuple[int, ...]:
    """Draw a shape without extents of 0."""
    return tuple(d.integer(1, 4) for _ in range(d.integer(low, high)))


def index_type(d: Draws) -> str:
    return d.choice(["float32", "float64"]) if d.chance(12) else d.choice(INDICES)


def scatter_elements(d: Draws) -> Arguments:
    dtype, shape = d.choice(TYPES), extents(d, 0 if d.chance(15) else 1, 3)
    rank = len(shape)
    axis = d.integer(-rank, rank - 1) if rank else 0
    at = axis % max(rank, 1)
    sizes = tuple(d.integer(1, 5) if i == at else n for i, n in enumerate(shape))
    size = shape[at] if shape else 1
    indices = d.indices(sizes, size, index_type(d), negative=d.chance(3), wrong=0)
    if d.chance(12):
        axis = rank
    return {
        "data": d.values(shape, dtype),
        "indices": indices,
        "updates": d.values(sizes, dtype),
        "axis": axis,
        "reduction": d.choice(WRONG) if d.chance(10) else d.choice(REDUCTIONS),
    }


def scatter(d: Draws) -> Arguments:
    arguments = scatter_elements(d)
    del arguments["reduction"]
    return arguments


def scatter_nd(d: Draws) -> Arguments:
    dtype, shape = d.choice(TYPES), extents(d, 1, 3)
    k = len(shape) + 1 if d.chance(10) else d.integer(0 if d.chance(9) else 1, len(shape))
    lead = extents(d, 0, 2)
    if d.chance(15):
        lead = (*lead, 0)
    sizes = np.array([*shape, 1][:k]).reshape((k,) + (1,) * len(lead))
    rest = shape[k:]
    if rest and d.chance(10):
        rest = (*rest[:-1], rest[-1] + 1)
    elif lead and d.chance(8):
        lead = (*lead[:-1], lead[-1] + 1)
        updates_lead = (*lead[:-1], lead[-1] - 1)
        indices = d.indices((k, *lead), sizes, index_type(d), wrong=0)
        return nd(d, dtype, shape, indices, updates_lead + rest)
    return nd(d, dtype, shape, d.indices((k, *lead), sizes, index_type(d), wrong=0), lead + rest)


def nd(d: Draws, dtype: str, shape: Any, indices: Any, updates: Any) -> Arguments:
    return {
        "data": d.values(shape, dtype),
        "indices": indices,
        "updates": d.values(updates, dtype),
        "mode": d.choice(WRONG) if d.chance(10) else d.choice(REDUCTIONS),
    }


def slice_scatter(d: Draws) -> Arguments:
    dtype, shape = d.choice(TYPES), extents(d, 1, 3)
    axis = d.integer(-len(shape), len(shape) - 1)
    size, step = shape[axis], d.choice([1, 1, 2, 3, -1])
    start, end = d.integer(-2, size + 1), d.integer(-1, size + 2)
    i = np.arange(size)
    written = i[(i >= start) & (i < end) & ((i - start) % step == 0)]
    read = np.clip((written - start + step - 1) // step, 0, size - 1)
    whole = (start, end, step) == (0, size, 1)
    least = size if whole else int(read.max(initial=0)) + 1
    along = least if whole else least + d.choice([0, 0, 1])
    shaped = [n if whole or not d.chance(6) else 1 for n in shape]
    shaped[axis] = along
    wide = [i for i, n in enumerate(shaped) if n > 1 and i != axis % len(shape)]
    if wide and d.chance(6) and not whole:
        shaped[d.choice(wide)] += 1
    src = d.values(tuple(shaped), dtype)
    if d.chance(10) and not whole and dtype in FLOATS:
        src = np.zeros(src.shape, np.int32)
    if d.chance(12):
        step = 0
    if d.chance(10):
        axis = len(shape)
    return {
        "input_tensor": d.values(shape, dtype),
        "src": src,
        "start": start,
        "end": end,
        "step": step,
        "axis": axis,
    }


def strided_set(d: Draws) -> Arguments:
    dtype, shape = d.choice(TYPES), extents(d, 1, 3)
    count = d.integer(0 if d.chance(8) else 1, len(shape))
    strides = [d.choice([1, 1, 2, 3, -1, -2, -3]) for _ in range(count)]
    begin, end = [], []
    for size, stride in zip(shape, strides, strict=False):
        low, high = d.integer(0, size - 1), d.integer(0, size)
        first, last = (low, high) if stride > 0 else (high - (high == size), low - 1)
        begin.append(first - size if d.chance(3) else first)
        end.append(last - size if last < 0 or d.chance(3) else last + d.choice([0, 0, 0, 2]))
    if d.chance(3):
        strides = [1] * count
    vectors: dict[str, Any] = {"begin": begin, "end": end, "strides": strides}
    if d.chance(2) and all(s == 1 for s in strides):
        vectors["strides"] = None
    arrays = {n: None if v is None else np.array(v, np.int32) for n, v in vectors.items()}
    wrong = d.choice(["begin", "end"])
    array = arrays[wrong]
    assert array is not None
    if d.chance(9):
        arrays[wrong] = array.astype(np.int64)
    elif d.chance(9):
        arrays[wrong] = array[None]
    rank = len(shape) + (1 if d.chance(10) else 0)
    a, v = d.values(shape, dtype), d.values((9,) * rank, dtype)
    return {"a": a, "v": v, **arrays}


def gather(d: Draws) -> Arguments:
    shape = extents(d, 0 if d.chance(12) else 1, 3)
    rank = len(shape)
    axis = d.integer(-rank, rank - 1) if rank else 0
    at = axis % max(rank, 1)
    sizes = tuple(d.integer(1, 5 if i == at else n) for i, n in enumerate(shape))
    if rank and d.chance(12):
        sizes = (*sizes[:at], 0, *sizes[at + 1 :])
    if d.chance(12):
        sizes = d.choice([(*sizes, 1), sizes[1:]])
    indices = d.indices(sizes, shape[at] if shape else 1, index_type(d), wrong=0)
    if d.chance(12):
        axis = d.choice([rank, -rank - 1])
    return {"data": d.values(shape, d.choice(TYPES)), "axis": axis, "indices": indices}


def gather_nd(d: Draws) -> Arguments:
    shape = extents(d, 1, 4)
    batch = d.choice([0, 0, 1, 2])
    batch = min(batch, len(shape))
    k = d.integer(0 if d.chance(9) else min(1, len(shape) - batch), len(shape) - batch)
    lead = (*shape[:batch], *extents(d, 0, 2))
    if batch and d.chance(5):
        lead = (1, *lead[1:])
    sizes = np.array(shape[batch : batch + k]).reshape((k,) + (1,) * len(lead))
    indices = d.indices((k, *lead), sizes, d.choice([*INDICES, "float32", "uint8"]), wrong=0)
    if d.chance(5):
        extra = len(shape) - batch - k + 1
        indices = np.concatenate([indices, np.zeros((extra, *lead), indices.dtype)])
    elif d.chance(9):
        indices = d.indices((), 1, wrong=0)
    elif d.chance(9):
        batch = len(lead) + 1
    return {"a": d.values(shape, d.choice(TYPES)), "indices": indices, "batch_dims": batch}


def take(d: Draws) -> Arguments:
    shape = extents(d, 0 if d.chance(12) else 1, 3)
    rank = len(shape)
    mode = d.choice(["fast", "clip", "wrap", "nan"])
    axis = None if d.chance(6) else d.integer(-rank, rank - 1) if rank else 0
    at = (axis or 0) % max(rank, 1)
    batch = 0 if axis is None or (mode != "clip" and not d.chance(4)) else d.integer(0, at)
    lead = shape[:batch] + extents(d, 0, 2)
    size = int(np.prod(shape)) if axis is None else shape[at] if shape else 1
    inside = mode in ("fast", "nan")
    numbers = d.indices(lead, size if inside else 3 * size, negative=not inside, wrong=0)
    indices = numbers.astype(index_type(d))
    if batch and d.chance(5):
        indices = d.indices((0, *lead[1:]), 1)
    if batch and d.chance(4):
        batch -= indices.ndim
    if axis is not None and d.chance(9):
        axis = d.choice([rank, -rank - 1])
    elif axis is not None and d.chance(10):
        batch = d.choice([rank, indices.ndim + 1, -indices.ndim - 1])
    dtype = d.choice(FLOATS) if mode == "nan" and not d.chance(4) else d.choice(TYPES)
    if mode == "nan" and dtype == "bfloat16":
        dtype = "float32"
    return {
        "a": d.values(shape, dtype),
        "indices": indices,
        "axis": axis,
        "batch_dims": batch,
        "mode": mode,
    }


DRAWS = {
    "scatter_elements": scatter_elements,
    "scatter": scatter,
    "scatter_add": scatter,
    "scatter_nd": scatter_nd,
    "slice_scatter": slice_scatter,
    "strided_set": strided_set,
    "gather": gather,
    "gather_nd": gather_nd,
    "take": take,
}

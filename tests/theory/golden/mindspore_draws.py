"""Random arguments of MindSpore's scatters and gathers, right and wrong.

Nothing is drawn for which MindSpore promises nothing: no index outside, and no two updates that
meet, but where they are added and the order is of no account.
"""

import numpy as np

from tests.theory.golden.draws import FINITE, Draws
from tests.theory.golden.replay import Arguments

TYPES = ["float16", "float32", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32"]
TYPES = [*TYPES, "uint32", "int64", "uint64", "bool"]
EXACT = [0.0, 1.0, -1.0, 2.0, 0.5, 3.0]


def elements(d: Draws, *, adds: bool, empty: bool) -> tuple[Arguments, str]:
    """Draw data, axis and index; indices that do not meet unless they are added."""
    dtype = d.choice(TYPES)
    shape = tuple(d.integer(1, 4) for _ in range(d.integer(0 if d.chance(12) else 1, 4)))
    rank = len(shape)
    axis = d.integer(-rank, rank - 1) if rank else 0
    at = axis % max(rank, 1)
    sizes = tuple(d.integer(1, n) for n in shape)
    if empty and rank and d.chance(8):
        sizes = (*sizes[:at], 0, *sizes[at + 1 :])
    if adds and rank:
        sizes = (*sizes[:at], d.integer(1, 6), *sizes[at + 1 :])
        index = d.indices(sizes, shape[at], negative=d.chance(2), wrong=0)
    else:
        index = d.distinct(sizes, at, shape[at]) if rank else np.zeros((), np.int64)
        if d.chance(2) and rank:
            index = index - np.where(d.indices(sizes, 3, wrong=0) == 0, shape[at], 0)
    if rank > 1 and d.chance(10):
        wide = at - 1 if at else 1
        index = np.zeros((*sizes[:wide], shape[wide] + 1, *sizes[wide + 1 :]), np.int64)
        index = index[(slice(None),) * at + (slice(1),)]
    if rank and d.chance(12):
        index = index[..., None] if d.chance(2) or 0 in index.shape else index.take(0, 0)
    index = np.asarray(index).astype("float32" if d.chance(20) else d.choice(["int32", "int64"]))
    if d.chance(10):
        axis = d.choice([rank, -rank - 1])
    return {"data": numbers(d, shape, dtype, adds=adds), "axis": axis, "index": index}, dtype


def numbers(d: Draws, shape: tuple[int, ...], dtype: str, *, adds: bool) -> np.ndarray:
    """Draw the values of a tensor; sums of floats are exact."""
    return d.values(shape, dtype, EXACT if adds and dtype.startswith("float") else None)


def source(d: Draws, index_shape: tuple[int, ...], dtype: str, *, adds: bool) -> np.ndarray:
    """Draw the updates, now and then of another shape or type."""
    shape = d.other(index_shape) if d.chance(10) else index_shape
    return numbers(d, shape, d.choice(TYPES) if d.chance(12) else dtype, adds=adds)


def scatter(d: Draws) -> Arguments:
    given, dtype = elements(d, adds=False, empty=True)
    index = given["index"]
    arguments = {"input": given["data"], "axis": given["axis"], "index": index}
    if d.chance(3):
        if index.size == 0:
            arguments["index"] = index = np.zeros([1] * index.ndim, np.int64)
        number = d.choice(FINITE)
        if dtype != "bool" and dtype[0] in "iu":
            number = d.choice([0.0, 1.0, 2.0, 2.75, 100.0])
        arguments["src"] = d.choice([1, True]) if d.chance(8) else number
    else:
        arguments["src"] = source(d, index.shape, dtype, adds=False)
    return arguments


def tensor_scatter_elements(d: Draws) -> Arguments:
    adds = d.chance(2)
    given, dtype = elements(d, adds=adds, empty=True)
    reduction = "add" if adds else "none"
    return {
        "input_x": given["data"],
        "indices": given["index"],
        "updates": source(d, given["index"].shape, dtype, adds=adds),
        "axis": given["axis"],
        "reduction": d.choice(["mul", "max"]) if d.chance(15) else reduction,
    }


def index_type(d: Draws) -> str:
    return "float32" if d.chance(20) else d.choice(["int32", "int64"])


def gather(d: Draws) -> Arguments:
    shape = tuple(d.integer(1, 4) for _ in range(d.integer(1, 4)))
    axis = d.integer(0, len(shape) - 1)
    batch = d.integer(0, axis) if d.chance(2) else 0
    outer = (*shape[:batch], *(d.integer(1, 3) for _ in range(d.integer(0 if batch < 1 else 1, 2))))
    indices = d.indices(outer, shape[axis], index_type(d), negative=d.chance(3), wrong=0)
    if batch and d.chance(6):
        indices = np.concatenate([indices, indices])
    if d.chance(8):
        axis = d.choice([len(shape), -len(shape) - 1, batch - 1])
    elif d.chance(3):
        axis -= len(shape)
    if batch and d.chance(8):
        batch = d.choice([len(outer), -len(outer) - 1])
    elif len(outer) and d.chance(4):
        batch -= len(outer)
    data = d.values(shape, d.choice(TYPES))
    return {"input_params": data, "input_indices": indices, "axis": axis, "batch_dims": batch}


def gather_elements(d: Draws) -> Arguments:
    shape = tuple(d.integer(1, 4) for _ in range(d.integer(1, 4)))
    dim = d.integer(0, len(shape) - 1)
    sizes = tuple(d.integer(1, n + 3 * (a == dim)) for a, n in enumerate(shape))
    if d.chance(12):
        sizes = (*sizes[:dim], 0, *sizes[dim + 1 :])
    if d.chance(8):
        wider = tuple(n + 3 * (a != dim) for a, n in enumerate(sizes))
        sizes = d.choice([(*sizes, 1), sizes[1:] or (1, 1), wider])
    index = d.indices(sizes, shape[dim], index_type(d), negative=d.chance(2), wrong=0)
    if d.chance(10):
        dim = d.choice([len(shape), -len(shape) - 1])
    elif d.chance(2):
        dim -= len(shape)
    return {"input": d.values(shape, d.choice(TYPES)), "dim": dim, "index": index}


def gather_nd(d: Draws) -> Arguments:
    shape = tuple(d.integer(1, 4) for _ in range(d.integer(1, 4)))
    k = d.integer(1, len(shape) + d.chance(6))
    outer = tuple(d.integer(1, 4) for _ in range(d.integer(0, 2)))
    sizes = np.array((*shape, 1)[:k], np.int64)
    indices = d.indices((*outer, k), sizes, index_type(d), wrong=8)
    return {"input_x": d.values(shape, d.choice(TYPES)), "indices": indices}


DRAWS = {
    "scatter": scatter,
    "tensor_scatter_elements": tensor_scatter_elements,
    "gather": gather,
    "gather_elements": gather_elements,
    "gather_nd": gather_nd,
}

"""Random arguments of StableHLO's operations: mostly right, and wrong in each."""

import numpy as np

from tests.theory.golden.draws import Array, Draws
from tests.theory.golden.replay import Arguments, Draw

TYPES = ["bool", "int8", "int32", "uint32", "int64", "float32", "float32", "float64"]
INDICES = ["int64", "int32", "int32", "uint32", "uint8"]
COMPUTATIONS = ["replace", "replace", "add", "multiply", "minimum", "maximum"]


def some(d: Draws, of: list[int], one_in: int) -> list[int]:
    return [i for i in of if d.chance(one_in)]


def spoiled(d: Draws, dims: list[int]) -> list[int]:
    """Change one list of dimension numbers in 40."""
    if not d.chance(40):
        return dims
    match d.integer(0, 3):
        case 0:
            return [*dims, d.integer(0, 3)]
        case 1:
            return dims[1:]
        case 2:
            return dims[::-1]
        case _:
            return [*dims[:-1], d.choice([-1, 0, 1, 5])] if dims else [0]


def draw(d: Draws, names: tuple[str, ...]) -> Arguments:
    """Draw dimension numbers, the operand's shape, the indices, and the sizes of the windows."""
    shape = d.shape(0 if d.chance(10) else 1, 4)
    axes = list(range(len(shape)))
    batching = some(d, axes, 4)
    rest = [a for a in axes if a not in batching]
    indexed = d.random.permutation(some(d, rest, 2)).tolist()
    dropped = [a for a in rest if d.chance(2) and (shape[a] or d.chance(9))]
    more = d.shape(0, 2, 3)
    if names is SCATTER and not indexed:  # XLA (jax 0.10.2) fails if no axis is indexed
        indexed, more = rest[:1], more if rest or batching else ()
    lead = [*(shape[a] for a in batching), *more]
    order = d.random.permutation(len(lead)).tolist()
    lead_shape = [lead[i] for i in order]
    of_indices = [order.index(i) for i in range(len(batching))]
    vector = d.integer(0, len(lead_shape))
    of_indices = [i + (i >= vector) for i in of_indices]
    kept = [a for a in rest if a not in dropped]
    sizes = [d.integer(min(1, shape[a]), shape[a]) if d.chance(2) else shape[a] for a in kept]
    rank = len(lead_shape) + len(kept)
    window = sorted(d.random.permutation(rank)[: len(kept)].tolist())
    last = np.array([max(shape[a], 1) for a in indexed], np.int64)
    starts = d.indices((*lead_shape, len(indexed)), last, d.choice(INDICES), wrong=4)
    if len(indexed) == 1 and vector == len(lead_shape) and d.chance(2):
        starts = starts[..., 0]
    else:
        starts = np.ascontiguousarray(np.moveaxis(starts, -1, vector))
    lists = (window, dropped, batching, of_indices, indexed)
    numbers = {name: tuple(spoiled(d, dims)) for name, dims in zip(names, lists, strict=False)}
    outer, inner = iter(lead_shape), iter(sizes)
    result = tuple(next(inner if i in window else outer) for i in range(rank))
    slices = [1] * len(shape)
    for a, size in zip(kept, sizes, strict=True):
        slices[a] = size
    return {
        "shape": shape,
        "starts": starts,
        "numbers": numbers | {"index_vector_dim": vector + (d.chance(60) and 3)},
        "result": result,
        "slices": tuple(slices),
    }


GATHER = (
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
    "index_vector_dim",
)
SCATTER = (
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
    "index_vector_dim",
)


def gather(d: Draws) -> Arguments:
    drawn = draw(d, GATHER)
    slices = d.other(drawn["slices"]) if d.chance(12) else drawn["slices"]
    return {
        "operand": d.values(drawn["shape"], d.choice(TYPES)),
        "start_indices": drawn["starts"],
        **drawn["numbers"],
        "slice_sizes": slices,
    }


def values(d: Draws, shape: tuple[int, ...], dtype: str, computation: str) -> Array:
    """Draw numbers without zeros of two signs, between which an extreme may choose either."""
    pool = [1.0, -1.0, 2.0, -2.5, 0.5, 3.0, np.nan] if computation in COMPUTATIONS[4:] else None
    return d.values(shape, dtype, pool if dtype.startswith("float") else None)


def scatter(d: Draws) -> Arguments:
    drawn = draw(d, SCATTER)
    dtype, computation = d.choice(TYPES), d.choice(COMPUTATIONS)
    shape = d.other(drawn["result"]) if d.chance(12) else drawn["result"]
    other = d.chance(25) and 0 not in shape  # XLA does not look at the types of no updates
    return {
        "input": values(d, drawn["shape"], dtype, computation),
        "scatter_indices": drawn["starts"],
        "updates": values(d, shape, d.choice(TYPES) if other else dtype, computation),
        **drawn["numbers"],
        "update_computation": computation,
    }


def dynamic_update_slice(d: Draws) -> Arguments:
    shape, dtype = d.shape(0, 4), d.choice(TYPES)
    box = tuple(d.integer(min(1, n), n) for n in shape)
    starts = tuple(d.integer(-2, n + 1) for n in (d.other(shape) if d.chance(8) else shape))
    return {
        "operand": d.values(shape, dtype),
        "update": d.values(
            d.other(box) if d.chance(6) else box, d.choice(TYPES) if d.chance(12) else dtype
        ),
        "start_indices": starts,
    }


DRAWS: dict[str, Draw] = {
    "gather": gather,
    "scatter": scatter,
    "dynamic_update_slice": dynamic_update_slice,
}

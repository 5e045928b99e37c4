"""Random arguments of PyTorch's scatters and gathers: mostly right, and wrong in every argument."""

from typing import Any

import numpy as np

from tests.theory.golden.draws import Draws
from tests.theory.golden.replay import Arguments

REAL = ["bool", "int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32"]
REAL = [*REAL, "float32", "float64"]
TENSORS = [*REAL, "complex64"]
SCALARS: list[Any] = [
    0,
    1,
    -1,
    2.5,
    -2.5,
    True,
    7,
    300,
    -200,
    70000.0,
    1e300,
    float("nan"),
    float("inf"),
]
SCALARS = [*SCALARS, -0.0, 2**40, -(2**31), 2**63, 1 + 0j, 2 + 1j]


INEXACT = [0.1, -0.3, 1e-3, 1000.7, 2049, -0.7, 3.3, 1 / 3]


def numbers(d: Draws, shape: tuple[int, ...], dtype: str) -> Any:
    """Draw numbers; the sums of some floats are rounded."""
    real = dtype in ("float16", "bfloat16", "float32", "float64")
    return d.values(shape, dtype, INEXACT if real and d.chance(3) else None)


def dtype_of(d: Draws, choices: list[str] = TENSORS) -> str:
    return d.choice(["uint16", "uint32", "uint64"]) if d.chance(40) else d.choice(choices)


def second(d: Draws, dtype: str) -> str:
    """Draw the type of a second tensor: now and then another one."""
    return d.choice(TENSORS) if d.chance(25) else dtype


def copied(d: Draws, shape: tuple[int, ...], dtype: str) -> Any:
    """Draw a second tensor that is converted, if need be: from what every type holds."""
    other = second(d, dtype)
    if other == dtype:
        return numbers(d, shape, dtype)
    return d.values(shape, other, [0, 1, 2, 2.5, 3])


def index_type(d: Draws, usual: list[str]) -> str:
    return (
        d.choice(["int16", "uint8", "bool", "float32", "int32"])
        if d.chance(20)
        else d.choice(usual)
    )


def scalar(d: Draws) -> Any:
    return d.choice(SCALARS) if d.chance(3) else d.choice([0, 1, 2, -3, 0.5, True])


def elements(d: Draws, dtype: str) -> Arguments:
    """Draw input, dim and index where index has a number for every element."""
    shape = d.shape(0, 3)
    dim = d.axis(len(shape))
    at = dim % max(len(shape), 1)
    shaped = [d.integer(0 if d.chance(10) else 1, max(n, 1)) for n in shape]
    if shape and at < len(shape):
        shaped[at] = d.extent(5)
    index_shape = tuple(shaped)
    if not shape or len(shape) == 1:
        index_shape = d.choice([(d.extent(),), index_shape, (1,), ()])
    if d.chance(15):
        index_shape = d.other(index_shape)
    size = shape[at] if shape and at < len(shape) else 1
    index = d.indices(
        index_shape, size, index_type(d, ["int64", "int64", "int32"]), negative=d.chance(30)
    )
    return {"input": numbers(d, shape, dtype), "dim": dim, "index": index}


def source(d: Draws, index_shape: tuple[int, ...], dtype: str) -> Any:
    """Draw src, which may be larger than index."""
    shape = tuple(n + d.choice([0, 0, 1]) for n in index_shape)
    if len(shape) <= 1 and d.chance(6):
        shape = d.choice([(), (1,), (3,)])
    return numbers(d, d.other(shape) if d.chance(15) else shape, second(d, dtype))


def scatter(d: Draws) -> Arguments:
    dtype = dtype_of(d)
    arguments = elements(d, dtype)
    if d.chance(3):
        arguments["value"] = scalar(d)
    else:
        arguments["src"] = source(d, arguments["index"].shape, dtype)
    if d.chance(2):
        arguments["reduce"] = "sum" if d.chance(20) else d.choice(["add", "multiply"])
    return arguments


def scatter_add(d: Draws) -> Arguments:
    dtype = dtype_of(d)
    arguments = elements(d, dtype)
    return {**arguments, "src": source(d, arguments["index"].shape, dtype)}


def scatter_reduce(d: Draws) -> Arguments:
    arguments = scatter_add(d)
    reduce = d.choice(["sum", "prod", "mean", "amax", "amin"])
    arguments["reduce"] = d.choice(["max", "add", ""]) if d.chance(40) else reduce
    arguments["include_self"] = d.chance(2)
    return arguments


def gather(d: Draws) -> Arguments:
    return elements(d, dtype_of(d))


def take_along_dim(d: Draws) -> Arguments:
    shape = d.shape(0, 3)
    dim = None if d.chance(6) else d.axis(len(shape))
    at = (dim or 0) % max(len(shape), 1)
    shaped = [d.choice([n, n, 1]) for n in shape]
    if shape and at < len(shape):
        shaped[at] = d.extent(5)
    size = int(np.prod(shape)) if dim is None else shape[at] if shape else 1
    index_shape = d.other(shaped) if d.chance(12) else tuple(shaped)
    indices = d.indices(index_shape, size, index_type(d, ["int64"]), negative=d.chance(4))
    data = d.values([1 if n != at and d.chance(8) else e for n, e in enumerate(shape)], dtype_of(d))
    return {"input": data, "indices": indices, "dim": dim}


def take(d: Draws) -> Arguments:
    shape = d.shape(0, 3)
    size = int(np.prod(shape))
    index = d.indices(d.shape(0, 3), size, index_type(d, ["int64"]), negative=d.chance(2))
    return {"input": d.values(shape, dtype_of(d)), "index": index}


def rows(d: Draws, dtype: str, usual: list[str]) -> Arguments:
    shape = d.shape(0, 3)
    dim = d.axis(len(shape))
    at = dim % max(len(shape), 1)
    size = shape[at] if shape else 1
    index_shape = (d.extent(5),) if not d.chance(5) else d.choice([(), (1,), (1, 1), (2, 1)])
    index = d.indices(index_shape, size, index_type(d, usual), negative=d.chance(12))
    return {"input": d.values(shape, dtype), "dim": dim, "index": index}


def row_source(d: Draws, arguments: Arguments, dtype: str) -> Any:
    shape, dim, index = arguments["input"].shape, arguments["dim"], arguments["index"]
    at = dim % max(len(shape), 1)
    full = (*shape[:at], index.size, *shape[at + 1 :]) if shape else (index.size,)
    if index.size == 1 and d.chance(3):
        full = d.choice([(), (1,), full])
    return d.values(d.other(full) if d.chance(10) else full, second(d, dtype))


def index_copy(d: Draws) -> Arguments:
    dtype = dtype_of(d)
    arguments = rows(d, dtype, ["int64"])
    return {**arguments, "source": row_source(d, arguments, dtype)}


def index_add(d: Draws) -> Arguments:
    dtype = dtype_of(d, REAL)  # complex infinities times alpha differ between PyTorch's kernels
    arguments = rows(d, dtype, ["int64", "int32"])
    arguments["source"] = row_source(d, arguments, dtype)
    if d.chance(2):
        arguments["alpha"] = scalar(d)  # times numbers whose products are exact
    else:
        arguments["source"] = numbers(d, arguments["source"].shape, arguments["source"].dtype.name)
    return arguments


def index_fill(d: Draws) -> Arguments:
    dtype = dtype_of(d)
    arguments = rows(d, dtype, ["int64"])
    arguments["value"] = filling(d, dtype)
    return arguments


def filling(d: Draws, dtype: str) -> Any:
    if d.chance(2):
        return scalar(d)
    return d.values((1,) if d.chance(10) else (), dtype)


def index_select(d: Draws) -> Arguments:
    return rows(d, dtype_of(d), ["int64", "int32"])


def tensor_index(d: Draws, shape: tuple[int, ...], common: tuple[int, ...]) -> Any:
    """Draw an index tensor for the first axis, or a mask of the first axes."""
    if d.chance(5) and len(shape) and common in ((), (1,)):
        covered = shape[: d.integer(1, min(2, len(shape)))]
        mask = d.values(d.other(covered) if d.chance(15) else covered, "bool")
        return mask.astype(d.choice(["bool", "bool", "uint8"]))
    part = tuple(1 if d.chance(5) else n for n in common)
    if d.chance(20):
        part = d.other(part)
    dtype = (
        d.choice(["float32", "int16"]) if d.chance(40) else d.choice(["int64", "int64", "int32"])
    )
    return d.indices(part, shape[0] if shape else 1, dtype, negative=d.chance(2), wrong=15)


def values_for(d: Draws, data: Any, index: Any, dtype: str) -> Any:
    """Draw values that broadcast to what NumPy takes, if it takes anything."""
    try:
        whole = np.asarray(data)[index].shape
    except (IndexError, ValueError):
        whole = d.shape(0, 2)
    shape = tuple(1 if d.chance(5) else n for n in whole)[
        d.integer(0, len(whole)) if d.chance(4) else 0 :
    ]
    if d.chance(12):
        shape = d.choice([(1, *shape), (1, 1, *shape), d.other(shape)])
    return copied(d, shape, dtype)


def index_put(d: Draws) -> Arguments:
    dtype = dtype_of(d)
    data = d.values(d.shape(0, 4), dtype)
    common = d.shape(0, 2, 3)
    indices: list[Any] = []
    left = data.shape
    too_many = d.chance(15)
    for _ in range(count_of(d, data.ndim)):
        drawn = None if d.chance(5) else tensor_index(d, left, common)
        if axes_of(drawn) > len(left) and (not too_many or len(indices) < data.ndim):
            break  # PyTorch does not see that masks are of too many axes
        indices.append(drawn)
        if drawn is not None and axes_of(drawn) == 0:
            indices = [drawn]  # beside other tensors, PyTorch ignores a mask of rank 0
            break
        left = left[1 if drawn is None else axes_of(drawn) :]
    if all(index is None for index in indices) and not data.size:
        data = d.values((2, 3), dtype)  # where nothing is written, PyTorch needs no tensor
    by_numpy = tuple(slice(None) if i is None else as_numpy(i) for i in indices)
    accumulate = d.chance(2)
    return {
        "input": data,
        "indices": tuple(indices),
        "values": values_for(d, data, by_numpy, dtype),
        "accumulate": accumulate,
    }


def count_of(d: Draws, rank: int) -> int:
    """Draw how many items an index has."""
    if d.chance(20):
        return d.choice([0, rank + 1])
    return d.integer(min(rank, 1), rank)


def as_numpy(index: Any) -> Any:
    return (
        index.astype(bool) if isinstance(index, np.ndarray) and index.dtype == np.uint8 else index
    )


def axes_of(index: Any) -> int:
    if isinstance(index, np.ndarray):
        return int(index.ndim) if index.dtype.name in ("bool", "uint8") else 1
    return int(isinstance(index, slice) or type(index) is int)


def setitem(d: Draws) -> Arguments:
    dtype = dtype_of(d)
    data = d.values(d.shape(0, 4), dtype)
    common = d.shape(0, 2, 3)
    items: list[Any] = []
    left = data.shape
    for _ in range(count_of(d, data.ndim)):
        items.append(item(d, left, common))
        left = left[axes_of(items[-1]) :]
    if d.chance(4):
        items.insert(d.integer(0, len(items)), Ellipsis)
    index = items[0] if len(items) == 1 and d.chance(2) else tuple(items)
    by_numpy = tuple(map(as_numpy, items))
    value = scalar(d) if d.chance(4) else values_for(d, data, by_numpy, dtype)
    return {"input": data, "index": index, "value": value}


def item(d: Draws, left: tuple[int, ...], common: tuple[int, ...]) -> Any:
    size = left[0] if left else 1
    match d.integer(0, 9):
        case 0 | 1:
            return d.integer(-size, max(size - 1, 0)) + (9 if d.chance(15) else 0)
        case 2 | 3 | 4:
            bounds = [None, *range(-size - 1, size + 2)]
            step = d.choice([None, 1, 2, 3]) if not d.chance(15) else d.choice([-1, 0])
            return slice(d.choice(bounds), d.choice(bounds), step)
        case 5:
            return None
        case 6 if d.chance(3):
            return d.choice([True, False])
        case _:
            return tensor_index(d, left, common)


def masked(d: Draws, dtype: str) -> Arguments:
    shape = d.shape(0, 3)
    narrow = tuple(1 if d.chance(5) else n for n in shape)
    mask_shape = narrow[d.integer(0, len(narrow)) if d.chance(3) else 0 :]
    if d.chance(15):
        mask_shape = d.other(mask_shape)
    data_shape = tuple(1 if d.chance(8) else n for n in shape)
    mask = d.values(mask_shape, "bool").astype(
        d.choice(["uint8", "int64"]) if d.chance(15) else "bool"
    )
    return {"input": d.values(data_shape, dtype), "mask": mask}


def masked_scatter(d: Draws) -> Arguments:
    dtype = dtype_of(d)
    arguments = masked(d, dtype)
    try:
        count = int(np.broadcast_arrays(*arguments.values())[1].sum())
    except ValueError:
        count = 3
    shape = d.choice([(count,), (count + 2,), (2, count), (max(count, 1), 1)])
    if d.chance(12):
        shape = d.choice([(), (max(count - 1, 0),), (0,)])
    return {**arguments, "source": d.values(shape, second(d, dtype))}


def masked_fill(d: Draws) -> Arguments:
    dtype = dtype_of(d)
    return {**masked(d, dtype), "value": filling(d, dtype)}


def slice_scatter(d: Draws) -> Arguments:
    dtype = dtype_of(d)
    shape = d.shape(0 if d.chance(15) else 1, 3, 6)
    dim = d.axis(len(shape))
    at = dim % max(len(shape), 1)
    size = shape[at] if shape else 1
    bounds = [None, *range(-size - 2, size + 3)]
    start, end = d.choice(bounds), d.choice(bounds)
    step = d.choice([0, -1]) if d.chance(20) else d.choice([1, 1, 2, 3])
    length = len(range(size)[slice(start, end, max(step, 1))])
    src_shape = (*shape[:at], length, *shape[at + 1 :])
    if d.chance(10):
        src_shape = d.other(src_shape)
    src = copied(d, src_shape, dtype)
    return {
        **{"input": d.values(shape, dtype), "src": src, "dim": dim},
        **{"start": start, "end": end, "step": step},
    }


def select_scatter(d: Draws) -> Arguments:
    dtype = dtype_of(d)
    shape = d.shape(0 if d.chance(15) else 1, 3)
    dim = d.axis(len(shape))
    at = dim % max(len(shape), 1)
    size = shape[at] if shape else 1
    index = d.choice([size, -size - 1]) if d.chance(12) else d.integer(-size, max(size - 1, 0))
    src_shape = shape[:at] + shape[at + 1 :]
    if d.chance(10):
        src_shape = d.other(src_shape)
    src = copied(d, src_shape, dtype)
    return {"input": d.values(shape, dtype), "src": src, "dim": dim, "index": index}


def diagonal_scatter(d: Draws) -> Arguments:
    dtype = dtype_of(d)
    shape = d.shape(0 if d.chance(20) else 2, 4)
    dims = [d.axis(len(shape)), d.axis(len(shape))]
    if len(shape) > 1 and not d.chance(10):
        dims[1] = (dims[0] + d.integer(1, len(shape) - 1)) % len(shape)
    offset = d.integer(-3, 3) if d.chance(2) else 0
    a, b = (n % max(len(shape), 1) for n in dims)
    src_shape = d.shape(0, 2)
    if len(shape) > 1:
        length = max(min(shape[a] + min(offset, 0), shape[b] - max(offset, 0)), 0)
        src_shape = (*(n for c, n in enumerate(shape) if c not in (a, b)), length)
    if d.chance(10):
        src_shape = d.other(src_shape)
    return {
        **{"input": d.values(shape, dtype), "src": copied(d, src_shape, dtype)},
        **{"offset": offset, "dim1": dims[0], "dim2": dims[1]},
    }


DRAWS = {
    draw.__name__: draw
    for draw in (
        *(scatter, scatter_add, scatter_reduce, gather, take_along_dim, take),
        *(index_copy, index_add, index_fill, index_select, index_put, setitem),
        *(masked_scatter, masked_fill, slice_scatter, select_scatter, diagonal_scatter),
    )
}

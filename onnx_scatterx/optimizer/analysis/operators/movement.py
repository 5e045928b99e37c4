"""Transfer functions of the operators that move elements: their effect on coordinates.

Each returns the new shape, and for every new coordinate the old one that it reads. NumPy itself
moves arrays. A transfer function returns None if nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from onnx_scatterx.optimizer.analysis.domain.broadcast_shapes import (
    broadcast_coords,
    broadcast_shapes,
)
from onnx_scatterx.optimizer.analysis.domain.call import Call, Result
from onnx_scatterx.optimizer.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.optimizer.symbolic.prove import Facts
from onnx_scatterx.optimizer.symbolic.terms import Number, Term, coord, modulo, step, term, where


def moved(
    x: TensorValue,
    shape: Shape,
    coords: Mapping[int, Number],
    array: Callable[[np.ndarray], np.ndarray | None],
) -> list[TensorValue]:
    """Return a tensor whose element ``(x0, x1, ...)`` is the old one at ``coords``."""
    content: np.ndarray | Term | None = None
    if isinstance(x.content, np.ndarray):
        content = array(x.content)
    if content is None and x.index_map is not None:
        content = x.index_map.at(coords)
    return [TensorValue(x.dtype, shape, content)]


def identity(call: Call) -> Result:
    x = call.inputs[0]
    return None if x is None else [x]


def wrapped(index: Term, extent: Term) -> Term:
    """Return an index with a negative one counted from the end."""
    low, high = index.interval()
    if low >= 0:
        return index
    return index + extent if high < 0 else where(step(index), index, index + extent)


def transpose(call: Call) -> Result:
    x = call.known(0)
    perm = call.integers("perm") or list(range(len(x.dims)))[::-1]
    shape = tuple(x.dims[p] for p in perm)
    coords = {p: coord(d) for d, p in enumerate(perm)}
    return moved(x, shape, coords, lambda a: a.transpose(perm))


def unsqueeze(call: Call) -> Result:
    x = call.inputs[0]
    axes = call.numbers(1, "axes")
    if x is None or x.shape is None or axes is None:
        return None
    rank = len(x.shape) + len(axes)
    new = {a % rank for a in axes}
    old = [d for d in range(rank) if d not in new]
    dims = dict(zip(old, x.shape, strict=True))
    shape = tuple(dims.get(d, term(1)) for d in range(rank))
    coords = {i: coord(d) for i, d in enumerate(old)}
    # The dots keep a scalar without new axes an array.
    index = (*(None if d in new else slice(None) for d in range(rank)), ...)
    return moved(x, shape, coords, lambda a: a[index])


def beyond(size: Term) -> Term:
    """Return a term that is >= 0 exactly if a size, which is >= 0, is not 1."""
    return size * (size - 2)


def is_never_one(size: Term, facts: Facts) -> bool:
    """Return whether a size is proven not to be 1."""
    return facts.is_nonnegative(size - 2) or facts.is_nonnegative(beyond(size))


def squeeze(call: Call) -> Result:
    x = call.known(0)
    axes = call.numbers(1, "axes")
    if not axes:
        if any(d.constant != 1 and not is_never_one(d, call.facts) for d in x.dims):
            return [TensorValue(x.dtype, None)]  # unknown which dims are removed
        axes = [d for d, extent in enumerate(x.dims) if extent.constant == 1]
    return [without(x, axes)]


def without(x: TensorValue, axes: Sequence[int]) -> TensorValue:
    """Return a tensor without some dims of size 1."""
    gone = {a % len(x.dims) for a in axes}
    kept = [d for d in range(len(x.dims)) if d not in gone]
    coords: dict[int, Number] = {d: coord(i) for i, d in enumerate(kept)}
    coords.update(dict.fromkeys(gone, 0))

    def array(a: np.ndarray) -> np.ndarray | None:
        return a.squeeze(tuple(gone)) if all(a.shape[d] == 1 for d in gone) else None

    (found,) = moved(x, tuple(x.dims[d] for d in kept), coords, array)
    return found


def vector(x: TensorValue | None) -> list[Term] | None:
    """Return the elements of a small tensor, if it is present and known."""
    return None if x is None else x.vector()


def expand(call: Call) -> Result:
    x, target = call.known(0), call.known(1)
    dims = target.vector()
    if dims is None:
        rank = target.static_shape
        if rank is None or rank[0] < len(x.dims):
            return None
        return [TensorValue(x.dtype, call.unknown_shape(rank[0]))]
    shape = broadcast_shapes([x.dims, tuple(dims)])
    coords = broadcast_coords(x.dims, shape, call.facts)

    def array(a: np.ndarray) -> np.ndarray | None:
        numbers = [d.constant for d in shape if d.constant is not None]
        if len(numbers) < len(shape) or math.prod(numbers) > LIMITS.elements:
            return None
        return np.broadcast_to(a, numbers)

    return moved(x, shape, coords, array)


def tile(call: Call) -> Result:
    x, repeats = call.inputs[0], vector(call.input(1))
    if x is None or x.shape is None or repeats is None:
        return None
    if len(repeats) != len(x.shape):
        return None
    shape = tuple(d * r for d, r in zip(x.shape, repeats, strict=True))
    coords: dict[int, Number] = {}
    for d, (extent, times) in enumerate(zip(x.shape, repeats, strict=True)):
        if extent.constant == 1:
            coords[d] = 0
        else:
            coords[d] = coord(d) if times.constant == 1 else modulo(coord(d), extent)
    return moved(x, shape, coords, lambda a: None)

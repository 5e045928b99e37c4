"""Transfer functions of the operators that move, join and split: their effect on coordinates.

Each returns the new shape, and for every new coordinate the old one that it reads. NumPy itself
moves arrays. A transfer function returns None if nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from onnx_scatterx.engine.analysis.domain.broadcast_shapes import (
    broadcast_coords,
    broadcast_shapes,
)
from onnx_scatterx.engine.analysis.domain.call import Call, Result, require, required
from onnx_scatterx.engine.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.engine.budget import LIMITS, PRICES, budget
from onnx_scatterx.engine.terms import Facts, Number, Term, coord, step, term, where


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
    return [call.present(0)]


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
    x, axes = call.known(0), required(call.numbers(1, "axes"))
    rank = len(x.dims) + len(axes)
    new = {a % rank for a in axes}
    old = [d for d in range(rank) if d not in new]
    dims = dict(zip(old, x.dims, strict=True))
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

    (squeezed,) = moved(x, tuple(x.dims[d] for d in kept), coords, array)
    return squeezed


def expand(call: Call) -> Result:
    x, target = call.known(0), call.known(1)
    dims = target.vector()
    if dims is None:
        (rank,) = required(target.static_shape)
        require(rank >= len(x.dims))
        return [TensorValue(x.dtype, call.unknown_shape(rank))]
    shape = broadcast_shapes([x.dims, tuple(dims)])
    coords = broadcast_coords(x.dims, shape, call.facts)

    def array(a: np.ndarray) -> np.ndarray | None:
        numbers = [d.constant for d in shape if d.constant is not None]
        if len(numbers) < len(shape) or math.prod(numbers) > LIMITS.elements:
            return None
        return np.broadcast_to(a, numbers)

    return moved(x, shape, coords, array)


def tile(call: Call) -> Result:
    x, repeats = call.known(0), call.vector(1)
    shape = tuple(d * r for d, r in zip(x.dims, repeats, strict=True))
    coords: dict[int, Number] = {}
    for d, (extent, times) in enumerate(zip(x.dims, repeats, strict=True)):
        if extent.constant == 1:
            coords[d] = 0
        else:
            coords[d] = coord(d) if times.constant == 1 else coord(d) % extent
    return moved(x, shape, coords, lambda a: None)


def concat(call: Call) -> Result:
    parts = [call.known(i) for i in range(len(call.inputs))]
    shapes = [p.dims for p in parts]
    if len({len(s) for s in shapes}) > 1:
        return [TensorValue(parts[0].dtype, _of_other_ranks(call, shapes))]
    axis = call.integer("axis", 1) % len(shapes[0])
    total = Term.sum(s[axis] for s in shapes)
    shape = _concatenated(call, shapes, axis, total)
    dtype = parts[0].dtype
    arrays = [p.content if isinstance(p.content, np.ndarray) else p.element_exprs for p in parts]
    if (
        all(a is not None for a in arrays)
        and (size := sum(a.size for a in arrays if a is not None)) < LIMITS.folded
    ):
        budget().charge_part(PRICES.of_array(size))
        joined = np.concatenate([a for a in arrays if a is not None], axis=axis)
        if joined.dtype == object and dtype is not None:
            return [TensorValue.explicit(joined, dtype)]
        return [TensorValue(dtype, shape, joined)]
    formulas = [p.index_map for p in parts]
    if any(f is None for f in formulas) or len(formulas) > LIMITS.pieces:
        return [TensorValue(dtype, shape)]
    x = coord(axis)
    start = total
    content: Term | None = None
    for formula, extents in zip(reversed(formulas), reversed(shapes), strict=True):
        assert formula is not None
        end, start = start, start - extents[axis]
        piece = formula.at({axis: x - start})
        content = piece if content is None else where(step(end - 1 - x), piece, content)
    return [TensorValue(dtype, shape, content)]


def _of_other_ranks(call: Call, shapes: list[Shape]) -> Shape:
    """Return the shape of a Concat of inputs of different ranks, possible only if some are empty.

    ONNX Runtime takes the shape of the first input with elements, else of the first input, and adds
    up the dims on its axis.
    """
    filled = [s for s in shapes if all(d.constant != 0 for d in s)]  # as far as is known
    chosen = filled[0] if filled else shapes[0]
    alone = filled in ([], shapes[:1])
    require(alone or all(call.facts.is_nonnegative(d - 1) for d in chosen))
    axis = call.integer("axis", 1)
    axis += len(chosen) if axis < 0 else 0
    require(all(0 <= axis < len(s) for s in shapes))
    total = Term.sum(s[axis] for s in shapes)
    return (*chosen[:axis], total, *chosen[axis + 1 :])


def _concatenated(call: Call, shapes: list[Shape], axis: int, total: Term) -> Shape:
    """Return the shape of a Concat: its other dims are those of the nonempty inputs.

    ONNX Runtime lets an input without elements have any other dims.
    """
    dims = list(zip(*shapes, strict=True))
    if all(d == axis or all(t is each[0] for t in each) for d, each in enumerate(dims)):
        chosen = shapes[0]
    else:
        full = [s for s in shapes if all(call.facts.is_nonnegative(d - 1) for d in s)]
        fresh = call.unknown_shape(len(dims))
        chosen = tuple(
            each[0]
            if all(t is each[0] for t in each)
            else min((s[d] for s in full), key=lambda t: t.constant is None, default=fresh[d])
            for d, each in enumerate(dims)
        )
    return tuple(total if d == axis else extent for d, extent in enumerate(chosen))


def split(call: Call) -> Result:
    x = call.known(0)
    axis = call.integer("axis", 0) % len(x.dims)
    numbers = call.integers("split")
    if call.input(1) is not None:
        sizes = call.vector(1)
    elif numbers is not None:
        sizes = [term(n) for n in numbers]
    else:
        count = len(call.node.outputs)
        require(call.integer("num_outputs", count) == count)
        part = (x.dims[axis] + count - 1) // count
        last = x.dims[axis] - (count - 1) * part
        sizes = [part] * (count - 1) + [last]
    results, start = [], term(0)
    for part in sizes:
        results.append(sliced(x, axis, start, part))
        start = start + part
    return results


def sliced(x: TensorValue, axis: int, start: Term, part: Term) -> TensorValue:
    """Return the part of a tensor that begins at a position of an axis."""
    shape = (*x.dims[:axis], part, *x.dims[axis + 1 :])
    rows = (start.constant, (start + part).constant)

    def array(a: np.ndarray) -> np.ndarray | None:
        return None if None in rows else a[(slice(None),) * axis + (slice(*rows),)]

    (cut,) = moved(x, shape, {axis: coord(axis) + start}, array)
    return cut

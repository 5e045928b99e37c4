"""Transfer functions of the operators that move elements: what they do to coordinates.

Each gives the new shape, and for every new coordinate the old one that it reads; arrays are moved by
NumPy itself. A transfer function returns None where nothing can be said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from onnx_scatterx.indexing.abstract import (
    Abstract,
    Shape,
    broadcast_coords,
    broadcast_shapes,
)
from onnx_scatterx.indexing.call import Call
from onnx_scatterx.indexing.prove import Facts
from onnx_scatterx.indexing.terms import (
    Monomial,
    Number,
    Term,
    as_term,
    coord,
    equals,
    floor_div,
    maximum,
    minimum,
    modulo,
    pos,
    step,
    term,
    where,
)

Result = list[Abstract] | None


def moved(
    x: Abstract,
    shape: Shape,
    coords: Mapping[int, Number],
    array: Callable[[np.ndarray], np.ndarray | None],
) -> list[Abstract]:
    """Return a tensor of which element ``(x0, x1, ...)`` is the old one at ``coords``."""
    content: np.ndarray | Term | None = None
    if isinstance(x.content, np.ndarray):
        content = array(x.content)
    if content is None and x.formula is not None:
        content = x.formula.at(coords)
    return [Abstract(x.dtype, shape, content)]


def identity(call: Call) -> Result:
    x = call.inputs[0]
    return None if x is None else [x]


def transpose(call: Call) -> Result:
    x = call.inputs[0]
    if x is None or x.shape is None:
        return None
    perm = call.integers("perm") or list(range(len(x.shape)))[::-1]
    shape = tuple(x.shape[p] for p in perm)
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
    return moved(x, shape, coords, lambda a: np.expand_dims(a, tuple(new)))


def squeeze(call: Call) -> Result:
    x = call.inputs[0]
    if x is None or x.shape is None:
        return None
    axes = call.numbers(1, "axes")
    if axes is None:
        if any(d.interval()[0] < 2 and d.constant != 1 for d in x.shape):
            return None  # which dims go is not known
        axes = [d for d, extent in enumerate(x.shape) if extent.constant == 1]
    gone = {a % len(x.shape) for a in axes}
    kept = [d for d in range(len(x.shape)) if d not in gone]
    coords: dict[int, Number] = {d: coord(i) for i, d in enumerate(kept)}
    coords.update(dict.fromkeys(gone, 0))

    def array(a: np.ndarray) -> np.ndarray | None:
        return a.squeeze(tuple(gone)) if all(a.shape[d] == 1 for d in gone) else None

    return moved(x, tuple(x.shape[d] for d in kept), coords, array)


def _vector(x: Abstract | None) -> list[Term] | None:
    return None if x is None else x.vector()


def expand(call: Call) -> Result:
    x, target = call.inputs[0], call.inputs[1]
    if x is None or x.shape is None or target is None or target.shape is None:
        return None
    dims = target.vector()
    if dims is None:
        rank = target.static_shape
        if rank is None or rank[0] < len(x.shape):
            return None
        return [Abstract(x.dtype, call.unknown_shape(rank[0]))]
    shape = broadcast_shapes([x.shape, tuple(dims)])
    coords = broadcast_coords(x.shape, shape, call.facts)

    def array(a: np.ndarray) -> np.ndarray | None:
        numbers = [d.constant for d in shape]
        if any(n is None for n in numbers):
            return None
        return np.broadcast_to(a, [n for n in numbers if n is not None])

    return moved(x, shape, coords, array)


def tile(call: Call) -> Result:
    x, repeats = call.inputs[0], _vector(call.input(1))
    if x is None or x.shape is None or repeats is None:
        return None
    shape = tuple(d * r for d, r in zip(x.shape, repeats, strict=True))
    coords: dict[int, Number] = {}
    for d, (extent, times) in enumerate(zip(x.shape, repeats, strict=True)):
        if extent.constant == 1:
            coords[d] = 0
        else:
            coords[d] = coord(d) if times.constant == 1 else modulo(coord(d), extent)
    return moved(x, shape, coords, lambda a: None)


def concat(call: Call) -> Result:
    parts = [p for p in call.inputs if p is not None]
    if len(parts) < len(call.inputs) or any(p.shape is None for p in parts):
        return None
    shapes = [p.shape for p in parts if p.shape is not None]
    axis = call.integer("axis", 1) % len(shapes[0])
    total = sum((s[axis] for s in shapes), start=term(0))
    # The other dims agree, or the original does not run: take a constant where there is one.
    shape = tuple(
        total if d == axis else min(dims, key=lambda t: t.constant is None)
        for d, dims in enumerate(zip(*shapes, strict=True))
    )
    dtype = parts[0].dtype
    arrays = [p.content if isinstance(p.content, np.ndarray) else p.elements for p in parts]
    if all(a is not None for a in arrays) and sum(a.size for a in arrays if a is not None) < 1 << 16:
        joined = np.concatenate([a for a in arrays if a is not None], axis=axis)
        if joined.dtype == object and dtype is not None:
            return [Abstract.explicit(joined, dtype)]
        return [Abstract(dtype, shape, joined)]
    formulas = [p.formula for p in parts]
    if any(f is None for f in formulas):
        return [Abstract(dtype, shape)]
    x = coord(axis)
    start = total
    content: Term | None = None
    for formula, extents in zip(reversed(formulas), reversed(shapes), strict=True):
        assert formula is not None
        end, start = start, start - extents[axis]
        piece = formula.at({axis: x - start})
        content = piece if content is None else where(step(end - 1 - x), piece, content)
    return [Abstract(dtype, shape, content)]


def split(call: Call) -> Result:
    x = call.inputs[0]
    if x is None or x.shape is None:
        return None
    axis = call.integer("axis", 0) % len(x.shape)
    given = call.input(1)
    sizes = given.vector() if given is not None else None
    if sizes is None and given is None:
        numbers = call.integers("split")
        sizes = None if numbers is None else [term(n) for n in numbers]
        if sizes is None:
            count = call.integer("num_outputs", len(call.node.outputs))
            part = floor_div(x.shape[axis] + count - 1, count)
            last = x.shape[axis] - (count - 1) * part
            sizes = [part] * (count - 1) + [last]
    if sizes is None:
        return None
    results, start = [], term(0)
    for part in sizes:
        shape = (*x.shape[:axis], part, *x.shape[axis + 1 :])
        first, count_here = start.constant, part.constant

        def array(a: np.ndarray, first=first, count=count_here) -> np.ndarray | None:  # type: ignore[no-untyped-def]
            if first is None or count is None:
                return None
            return a[(slice(None),) * axis + (slice(first, first + count),)]

        results += moved(x, shape, {axis: coord(axis) + start}, array)
        start = start + part
    return results


def slice_bounds(start: Term, end: Term, stride: int, extent: Term) -> tuple[Term, Term]:
    """Return (first, count) of a Slice along one axis: negative ends wrapped, then clamped.

    ``first`` is exact wherever ``count`` is not 0.
    """
    far = 2**31 - 1
    first = _wrapped(start, extent)
    if stride > 0:
        first = maximum(first, 0)
        last = extent if (end.constant or 0) >= far else minimum(_wrapped(end, extent), extent)
        return first, pos(floor_div(last - first + stride - 1, stride))
    if (start.constant or 0) >= far:
        first = extent - 1
    # Not as NumPy: a start before the axis is clamped into it (unless the axis is empty).
    first = maximum(minimum(first, extent - 1), 0)
    last = term(-1) if (end.constant or 0) <= -far else maximum(_wrapped(end, extent), -1)
    return first, minimum(pos(floor_div(first - last - stride - 1, -stride)), extent)


def _wrapped(index: Term, extent: Term) -> Term:
    low, high = index.interval()
    if low >= 0:
        return index
    return index + extent if high < 0 else where(step(index), index, index + extent)


def slice_arguments(call: Call) -> list[tuple[int, Term, Term, int]] | None:
    """Return (axis, start, end, step) for every axis that a Slice cuts, or None."""
    x = call.inputs[0]
    if x is None or x.shape is None:
        return None
    rank = len(x.shape)
    if call.version < 10:
        starts = [term(i) for i in call.integers("starts") or []]
        ends = [term(i) for i in call.integers("ends") or []]
        axes = call.integers("axes") or list(range(len(starts)))
        steps = [1] * len(starts)
    else:
        given_starts, given_ends = _vector(call.input(1)), _vector(call.input(2))
        if given_starts is None or given_ends is None:
            return None
        starts, ends = given_starts, given_ends
        axes = list(range(len(starts)))
        steps = [1] * len(starts)
        for i, into in ((3, axes), (4, steps)):
            given = call.input(i)
            if given is not None:
                if given.known is None:
                    return None
                into[:] = [int(v) for v in given.known.ravel()]
    return [(a % rank, s, e, k) for a, s, e, k in zip(axes, starts, ends, steps, strict=True)]


def slice_(call: Call) -> Result:
    x, cuts = call.inputs[0], slice_arguments(call)
    if x is None or x.shape is None:
        return None
    if cuts is None:
        given = call.input(3)
        axes = range(len(x.shape)) if given is None else given.known
        if axes is None:
            return None
        cut = {int(a) % len(x.shape) for a in np.ravel(np.asarray(axes))}
        sizes = call.unknown_shape(len(x.shape))
        dims = (s if d in cut else x.shape[d] for d, s in enumerate(sizes))
        return [Abstract(x.dtype, tuple(dims))]
    shape, coords = list(x.shape), {}
    slices: list[slice | None] = [slice(None)] * len(shape)
    for axis, start, end, stride in cuts:
        first, shape[axis] = slice_bounds(start, end, stride, x.shape[axis])
        coords[axis] = first + stride * coord(axis)
        known = (start.constant, end.constant)
        slices[axis] = None if None in known else slice(*known, stride)

    def array(a: np.ndarray) -> np.ndarray | None:
        if any(s is None for s in slices):
            return None
        return a[tuple(s for s in slices if s is not None)]

    return moved(x, tuple(shape), coords, array)


def gather(call: Call) -> Result:
    x, indices = call.inputs[0], call.inputs[1]
    if x is None or indices is None or x.shape is None or indices.shape is None:
        return None
    axis = call.integer("axis", 0) % len(x.shape)
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    picked = indices.known
    if isinstance(x.content, np.ndarray) and picked is not None:
        if ((picked < -x.content.shape[axis]) | (picked >= x.content.shape[axis])).any():
            return None
        taken = np.asarray(x.content.take(picked, axis=axis), dtype=x.content.dtype)
        if taken.dtype == object and x.dtype is not None:
            return [Abstract.explicit(taken, x.dtype)]
        return [Abstract(x.dtype, shape, taken)]
    if x.formula is None or indices.formula is None:
        return [Abstract(x.dtype, shape)]
    index = _wrapped(
        indices.formula.at({d: coord(axis + d) for d in range(len(indices.shape))}), x.shape[axis]
    )
    after = len(indices.shape) - 1
    coords: dict[int, Number] = {d: coord(d + after) for d in range(axis + 1, len(x.shape))}
    return [Abstract(x.dtype, shape, x.formula.at({**coords, axis: index}))]


def gather_nd(call: Call) -> Result:
    x, indices = call.inputs[0], call.inputs[1]
    if x is None or indices is None or indices.known is None or call.integer("batch_dims", 0):
        return None
    if not isinstance(x.content, np.ndarray) or indices.known.ndim == 0:
        return None
    at = tuple(np.moveaxis(indices.known, -1, 0))
    try:
        taken = x.content[at]
    except IndexError:
        return None
    return [Abstract(x.dtype, tuple(map(term, taken.shape)), taken)]


def reshape(call: Call) -> Result:
    x, given = call.inputs[0], call.inputs[1]
    if x is None or x.shape is None or given is None:
        return None
    target = given.vector()
    if target is None:
        if given.static_shape is None:
            return None
        return [Abstract(x.dtype, call.unknown_shape(given.static_shape[0]))]
    if not call.integer("allowzero", 0):
        target = [
            _copied(t, x.shape[i]) if i < len(x.shape) else t for i, t in enumerate(target)
        ]
    total = math.prod(x.shape, start=term(1))
    others = math.prod((t for t in target if t.constant != -1), start=term(1))
    shape = tuple(floor_div(total, others) if t.constant == -1 else t for t in target)
    return reshaped(x, shape)


def _copied(target: Term, extent: Term) -> Term:
    """``0`` in a Reshape's shape copies the input's dim."""
    if target.constant == 0:
        return extent
    if target is extent or target.interval()[0] > 0 or target.constant is not None:
        return target
    if target.interval()[1] < 1 or (extent.constant is None and _multiple(target, extent)):
        return target  # 0 only where the copied dim is 0 too
    return where(equals(target, 0), extent, target)


def _multiple(target: Term, extent: Term) -> bool:
    if not extent.items:
        return False
    monomial, c = extent.items[-1]
    times = dict(target.items).get(monomial, 0) // c
    return times > 0 and target is times * extent


def flatten(call: Call) -> Result:
    x = call.inputs[0]
    if x is None or x.shape is None:
        return None
    axis = call.integer("axis", 1)
    axis += len(x.shape) if axis < 0 else 0
    rows = math.prod(x.shape[:axis], start=term(1))
    columns = math.prod(x.shape[axis:], start=term(1))
    return reshaped(x, (rows, columns))


def reshaped(x: Abstract, shape: Shape) -> list[Abstract]:
    """Return a tensor with its elements, in row-major order, in another shape."""
    assert x.shape is not None

    def array(a: np.ndarray) -> np.ndarray | None:
        dims = [d.constant for d in shape]
        if any(d is None for d in dims) or math.prod(d or 0 for d in dims) != a.size:
            return None
        return a.reshape([d for d in dims if d is not None])

    if not isinstance(x.content, np.ndarray) and (x.formula is None or not x.formula.coords):
        return moved(x, shape, {}, array)
    coords: dict[int, Number] = {}
    for old, new in axis_groups(x.shape, shape) or [(range(len(x.shape)), range(len(shape)))]:
        flat = term(0)
        for d in new:
            flat = flat * shape[d] + (coord(d) if shape[d].constant != 1 else 0)
        facts = Facts({d: shape[d] for d in new})
        live = [d for d in old if x.shape[d].constant != 1]
        coords.update({d: 0 for d in old if x.shape[d].constant == 1})
        for place, d in enumerate(live):
            stride = math.prod((x.shape[e] for e in live[place + 1 :]), start=term(1))
            extent = x.shape[d] if place else None  # the first needs no modulus
            coords[d] = _digit(flat, stride, extent, facts)
    return moved(x, shape, coords, array)


def _digit(flat: Term, stride: Term, extent: Term | None, facts: Facts) -> Term:
    """Return ``(flat // stride) % extent``, as simply as the facts allow."""
    quotient, rest = term(0), term(0)
    for monomial, c in flat.items:
        part = floor_div(_item(monomial, c), stride)
        if part * stride is _item(monomial, c):
            quotient = quotient + part
        else:
            rest = rest + _item(monomial, c)
    if not (facts.proves(rest) and facts.proves(stride - 1 - rest)):
        quotient = floor_div(flat, stride)
    if extent is None:
        return quotient
    kept = term(0)
    for monomial, c in quotient.items:
        if modulo(_item(monomial, c), extent).constant != 0:
            kept = kept + _item(monomial, c)
    if facts.proves(kept) and facts.proves(extent - 1 - kept):
        return kept
    return modulo(quotient, extent)


def _item(monomial: Monomial, c: int) -> Term:
    return math.prod((as_term(a) for a in monomial), start=term(c))


def axis_groups(old: Shape, new: Shape) -> list[tuple[range, range]] | None:
    """Return the groups of dims that a Reshape splits or merges, or None where they are not seen.

    >>> n = term(5)
    >>> axis_groups((n, term(6)), (n, term(2), term(3)))
    [(range(0, 1), range(0, 1)), (range(1, 2), range(1, 3))]
    """
    groups: list[tuple[range, range]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        start_i, start_j = i, j
        a, b = term(1), term(1)
        if i < len(old):
            a, i = old[i], i + 1
        if j < len(new):
            b, j = new[j], j + 1
        while a is not b:
            numbers = (a.constant, b.constant)
            grow_old = (
                numbers[0] < numbers[1]
                if numbers[0] is not None and numbers[1] is not None
                else len(a.items[-1][0] if a.items else ()) < len(b.items[-1][0] if b.items else ())
                or (numbers[0] is not None and numbers[1] is None)
                or j == len(new)
            )
            if grow_old and i < len(old):
                a, i = a * old[i], i + 1
            elif j < len(new):
                b, j = b * new[j], j + 1
            elif i < len(old):
                a, i = a * old[i], i + 1
            else:
                return None
        groups.append((range(start_i, i), range(start_j, j)))
    return groups


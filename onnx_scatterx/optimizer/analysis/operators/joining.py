"""Transfer functions of Concat and Split: tensors that are put together along an axis, and cut."""

from __future__ import annotations

import numpy as np

from onnx_scatterx.optimizer.analysis.domain.call import Call, Result
from onnx_scatterx.optimizer.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.optimizer.analysis.operators.movement import moved
from onnx_scatterx.optimizer.symbolic.budget import budget
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.optimizer.symbolic.prices import PRICES
from onnx_scatterx.optimizer.symbolic.terms import Term, coord, floor_div, step, summed, term, where


def concat(call: Call) -> Result:
    parts = [p for p in call.inputs if p is not None]
    if len(parts) < len(call.inputs) or any(p.shape is None for p in parts):
        return None
    shapes = [p.shape for p in parts if p.shape is not None]
    if len({len(s) for s in shapes}) > 1:
        found = _of_other_ranks(call, shapes)
        return None if found is None else [TensorValue(parts[0].dtype, found)]
    axis = call.integer("axis", 1) % len(shapes[0])
    total = summed(s[axis] for s in shapes)
    shape = _concatenated(call, shapes, axis, total)
    dtype = parts[0].dtype
    arrays = [p.content if isinstance(p.content, np.ndarray) else p.element_exprs for p in parts]
    if (
        all(a is not None for a in arrays)
        and (size := sum(a.size for a in arrays if a is not None)) < LIMITS.folded
    ):
        budget().work(PRICES.of_array(size))
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


def _of_other_ranks(call: Call, shapes: list[Shape]) -> Shape | None:
    """Return the shape of a Concat of inputs of different ranks, possible only if some are empty.

    ONNX Runtime takes the shape of the first input with elements, else of the first input, and adds
    up the dims on its axis.
    """
    filled = [s for s in shapes if all(d.constant != 0 for d in s)]  # as far as is known
    chosen = filled[0] if filled else shapes[0]
    if not (filled in ([], shapes[:1]) or all(call.facts.is_nonnegative(d - 1) for d in chosen)):
        return None
    axis = call.integer("axis", 1)
    axis += len(chosen) if axis < 0 else 0
    if not all(0 <= axis < len(s) for s in shapes):
        return None
    total = summed(s[axis] for s in shapes)
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
    given = call.input(1)
    sizes = given.vector() if given is not None else None
    if sizes is None and given is None:
        numbers = call.integers("split")
        sizes = None if numbers is None else [term(n) for n in numbers]
        if sizes is None:
            count = call.integer("num_outputs", len(call.node.outputs))
            part = floor_div(x.dims[axis] + count - 1, count)
            last = x.dims[axis] - (count - 1) * part
            sizes = [part] * (count - 1) + [last]
    if sizes is None:
        return None
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

    (found,) = moved(x, shape, {axis: coord(axis) + start}, array)
    return found

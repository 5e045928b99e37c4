"""Transfer functions of Reshape and Flatten: row-major positions in other digits."""

from __future__ import annotations

import math

import numpy as np

from onnx_scatterx.optimizer.analysis.domain.call import Call, Result
from onnx_scatterx.optimizer.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.optimizer.analysis.operators.movement import moved
from onnx_scatterx.optimizer.analysis.operators.reshape_target import target_shape
from onnx_scatterx.optimizer.symbolic.prove import Facts
from onnx_scatterx.optimizer.symbolic.terms import (
    Monomial,
    Number,
    Term,
    as_term,
    coord,
    divided,
    floor_div,
    modulo,
    term,
)


def reshape(call: Call) -> Result:
    x, given = call.inputs[0], call.inputs[1]
    if x is None or x.shape is None or given is None:
        return None
    target = given.vector()
    if target is None:
        if given.static_shape is None:
            return None
        return [TensorValue(x.dtype, call.unknown_shape(given.static_shape[0]))]
    return reshaped(x, target_shape(x.shape, target, call))


def flatten(call: Call) -> Result:
    x = call.known(0)
    axis = call.integer("axis", 1)
    axis += len(x.dims) if axis < 0 else 0
    rows = math.prod(x.dims[:axis], start=term(1))
    columns = math.prod(x.dims[axis:], start=term(1))
    return reshaped(x, (rows, columns))


def reshaped(x: TensorValue, shape: Shape) -> list[TensorValue]:
    """Return a tensor with its elements, in row-major order, in another shape."""

    def array(a: np.ndarray) -> np.ndarray | None:
        dims = [d.constant for d in shape]
        if any(d is None for d in dims) or math.prod(d or 0 for d in dims) != a.size:
            return None
        return a.reshape([d for d in dims if d is not None])

    if not isinstance(x.content, np.ndarray) and (x.index_map is None or not x.index_map.coords):
        return moved(x, shape, {}, array)
    coords: dict[int, Number] = {}
    for old, new in axis_groups(x.dims, shape) or [(range(len(x.dims)), range(len(shape)))]:
        flat = term(0)
        for d in new:
            flat = flat * shape[d] + (coord(d) if shape[d].constant != 1 else 0)
        if len(old) == len(new) == 1:
            coords[old[0]] = flat if x.dims[old[0]].constant != 1 else 0
            continue
        facts = Facts({d: shape[d] for d in new})
        live = [d for d in old if x.dims[d].constant != 1]
        coords.update({d: 0 for d in old if x.dims[d].constant == 1})
        for place, d in enumerate(live):
            stride = math.prod((x.dims[e] for e in live[place + 1 :]), start=term(1))
            extent = x.dims[d] if place else None  # the first needs no modulus
            coords[d] = _digit(flat, stride, extent, facts)
    return moved(x, shape, coords, array)


def _digit(flat: Term, stride: Term, extent: Term | None, facts: Facts) -> Term:
    """Return ``(flat // stride) % extent``, as simply as the facts allow."""
    quotient, rest = divided(flat, stride)
    if not (facts.is_nonnegative(rest) and facts.is_nonnegative(stride - 1 - rest)):
        quotient = floor_div(flat, stride)
    if extent is None:
        return quotient
    kept = term(0)
    for monomial, c in quotient.items:
        if modulo(_item(monomial, c), extent).constant != 0:
            kept = kept + _item(monomial, c)
    if facts.is_nonnegative(kept) and facts.is_nonnegative(extent - 1 - kept):
        return kept
    return modulo(quotient, extent)


def _item(monomial: Monomial, c: int) -> Term:
    return math.prod((as_term(a) for a in monomial), start=term(c))


def axis_groups(old: Shape, new: Shape) -> list[tuple[range, range]] | None:
    """Return the groups of dims that a Reshape splits or merges, or None if they are not known.

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

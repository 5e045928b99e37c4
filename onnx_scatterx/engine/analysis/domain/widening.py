"""Widening: if the term of a tensor's elements is too long, the elements become a symbol."""

from __future__ import annotations

import math
from operator import is_not

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.tensor import ElementOf, LongSize, Shape, TensorValue
from onnx_scatterx.engine.budget import LIMITS, budget
from onnx_scatterx.engine.terms import Facts, FloorDiv, Indicator, Term, coord, element, keeps, size

ANY_NUMBER = (-math.inf, math.inf)
_ASKED = 8  # elements of a long list: whether facts decide any of their cases


def _is_light(t: Term) -> bool:
    """Return whether a term has cases, and is short enough to ask whether facts decide them."""
    return t.piecewise and t.weight <= LIMITS.weight


def _most(t: Term) -> int:
    """Return how many monomials a size may have."""
    chosen = t.piecewise and any(isinstance(atom, Indicator) for atom in t.atoms)
    return LIMITS.choice_monomials if chosen else LIMITS.size_monomials


def _is_tangled(t: Term) -> bool:
    """Return whether a size has both a choice and a quotient by a size, however deep.

    Hardly anything can be proven of it, not even bounds, and it takes many nodes to write.
    """
    atoms = t.all_atoms() if t.piecewise else ()
    return any(isinstance(a, Indicator) for a in atoms) and any(
        isinstance(a, FloorDiv) and a.parts[1].constant is None for a in atoms
    )


def _is_short(t: Term, monomials: int) -> bool:
    """Return whether a term is followed further."""
    if t.weight <= min(LIMITS.nesting, monomials):
        return True
    return (
        len(t.items) <= monomials
        and t.weight <= LIMITS.weight
        and all(atom.depth <= LIMITS.nesting for atom in t.atoms)
    )


def has_negative_size(shape: Shape | None) -> bool:
    """Return whether a shape is impossible for a tensor."""
    return any(d.constant is not None and d.constant < 0 for d in shape or ())


def widened(
    value: ir.Value,
    tensor: TensorValue,
    token: object,
    facts: Facts,
    within: tuple[float, float] = ANY_NUMBER,
) -> TensorValue:
    """Give the elements of a tensor a symbol, if their term is unknown or too long.

    The elements are known to lie ``within`` a range, both ends included. Terms from which this does
    not follow are given up for it.
    """
    shape = tensor.shape
    if shape is None:
        return tensor
    budget().charge_part(len(shape))
    content = tensor.content
    if isinstance(content, np.ndarray) and not keeps(content):
        content = None
        tensor = TensorValue(tensor.dtype, shape)
    sizes = [d.constant for d in shape]
    if None not in sizes:
        if has_negative_size(shape):
            return TensorValue(tensor.dtype, None)  # impossible: the node does not run
        if not tensor.is_integer or (isinstance(content, np.ndarray) and content.dtype != object):
            return tensor
    else:
        shape = tuple([facts.simplify(d) if d.piecewise and _is_light(d) else d for d in shape])
        if has_negative_size(shape):
            return TensorValue(tensor.dtype, None)
        least = min(LIMITS.nesting, LIMITS.size_monomials)
        shape = tuple(
            [
                d
                if (not d.piecewise and d.weight <= least)
                or (_is_short(d, _most(d)) and not _is_tangled(d))
                else size(f"{value.name}.{i}", LongSize(token, d))
                for i, d in enumerate(shape)
            ]
        )
    if within != ANY_NUMBER and not _lies(content, shape, within, facts):
        content = None
    terms = [content] if isinstance(content, Term) else []
    if isinstance(content, np.ndarray) and content.dtype == object and tensor.is_integer:
        assert tensor.dtype is not None
        budget().charge_part(content.size)
        numbers = content.ravel().tolist()
        terms = _simplified(numbers, facts)
        if any(map(is_not, terms, numbers)) or all(t.constant is not None for t in terms):
            simpler = np.empty(content.shape, dtype=object)
            simpler.ravel()[:] = terms
            content = TensorValue.explicit(simpler, tensor.dtype).content
    if not all(_is_short(t, LIMITS.content_monomials) for t in terms):
        content = None
    if content is None and tensor.is_integer:
        assert tensor.dtype is not None
        low, high = _range(tensor.dtype)
        coords = [coord(d) for d in range(len(shape))]
        content = element(
            ElementOf(token, value),
            coords,
            name=value.name or "?",
            low=max(low, within[0]),
            high=min(high, within[1]),
        )
    return TensorValue(tensor.dtype, shape, content)


def _lies(
    content: np.ndarray | Term | None, shape: Shape, within: tuple[float, float], facts: Facts
) -> bool:
    """Return whether elements are those of another tensor, or provably lie in a range."""
    if isinstance(content, Term) and ElementOf.read_by(content.symbol) is not None:
        return True
    terms = content.ravel().tolist() if isinstance(content, np.ndarray) else [content]
    inside = facts.assuming(extents=dict(enumerate(shape)))
    ranges = [inside.interval(t) for t in terms if t is not None]
    return all(within[0] <= low and high <= within[1] for low, high in ranges)


def _simplified(terms: list[Term], facts: Facts) -> list[Term]:
    """Return the elements of a tensor with their cases decided.

    If the list is long, a few are asked first. If facts decide none of these, the others stay.
    """
    light = [i for i, t in enumerate(terms) if _is_light(t)]
    simplified = list(terms)
    for asked in (light[:: len(light) // _ASKED + 1], light):
        for i in asked:
            simplified[i] = facts.simplify(terms[i])
        if all(simplified[i] is terms[i] for i in asked):
            break
    return simplified


def _range(dtype: ir.DataType) -> tuple[float, float]:
    if dtype == ir.DataType.BOOL:
        return 0, 1
    if dtype == ir.DataType.INT64 or dtype.bitwidth < 8:
        return float("-inf"), float("inf")
    return int(dtype.min), int(dtype.max)

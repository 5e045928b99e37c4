"""Terms that never fall along a coordinate.

    c u + v                  if v never falls, and u never falls (c > 0) or never rises (c < 0)
    max(u, 0), [u >= 0]      as u does
    floor(u / d)             as u does, if the divisor stays, and is at least 1
    e[a, u]                  as u does, if the row ``a`` stays, and never decreases in ``e``

What is left is compared with its next value by the prover.

>>> from onnx_scatterx.optimizer.symbolic.elements import Elements
>>> from onnx_scatterx.optimizer.symbolic.terms import coord, element, floor_div
>>> e, facts = element("e", [coord(0)], name="e"), Facts()
>>> never_falls(e, 0, facts), never_falls(floor_div(3 * coord(0), 2), 0, facts)
(False, True)
>>> facts.learn_elements("e", Elements(ordered=True))
>>> never_falls(2 * e, 0, facts), never_falls(e.at({0: 4 - coord(0)}), 0, facts)
(True, False)
"""

from __future__ import annotations

from onnx_scatterx.optimizer.symbolic.prove import Facts
from onnx_scatterx.optimizer.symbolic.terms import (
    Atom,
    FloorDiv,
    Indicator,
    PositivePart,
    Symbol,
    Term,
    as_term,
    coord,
    term,
)


def never_falls(t: Term, dim: int, facts: Facts) -> bool:
    """Return whether a term is proven not to be less at ``x_dim + 1`` than at ``x_dim``.

    Args:
        t: The term.
        dim: The coordinate.
        facts: What is known, the ranges of coordinates included.

    Returns:
        True if it is proven, at every point of the ranges.

    """
    return _moves(t, dim, facts, up=True)


def _moves(t: Term, dim: int, facts: Facts, *, up: bool) -> bool:
    """Return whether a term never falls, or (not ``up``) never rises."""
    rest = term(0)
    for monomial, c in t.items:
        alone = monomial[0] if len(monomial) == 1 else None
        if alone is None or not _atom_moves(alone, dim, facts, up=up == (c > 0)):
            part = term(c)
            for atom in monomial:
                part = part * as_term(atom)
            rest = rest + part
    if dim not in rest.coords:
        return True
    step = rest.at({dim: coord(dim) + 1}) - rest
    return facts.is_nonnegative(step if up else -step)


def _atom_moves(atom: Atom, dim: int, facts: Facts, *, up: bool) -> bool:
    """Return the same of an atom; False if only the prover may know."""
    if dim not in atom.coords:
        return True
    if isinstance(atom, PositivePart | Indicator):
        return _moves(atom.parts[0], dim, facts, up=up)
    if isinstance(atom, FloorDiv):
        inside, divisor = atom.parts
        stays = dim not in divisor.coords and facts.is_nonnegative(divisor - 1)
        return stays and _moves(inside, dim, facts, up=up)
    if isinstance(atom, Symbol) and atom.parts:
        *row, last = atom.parts
        known = facts.of_elements(atom)
        ordered = known is not None and known.is_ordered(row)
        return ordered and not any(dim in p.coords for p in row) and _moves(last, dim, facts, up=up)
    return False

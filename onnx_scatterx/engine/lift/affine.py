"""Targets along one dim, ``start + step * x_d``, and targets that are taken modulo a size."""

from __future__ import annotations

from typing import NamedTuple

from onnx_scatterx.engine.terms.terms import FloorDiv, Term, coord, term


class AffineAxis(NamedTuple):
    """One axis of a box of the data: ``start + step * x_dim``, or ``start`` where dim is None."""

    start: Term
    step: int
    dim: int | None


def affine_along(target: Term) -> AffineAxis | None:
    """Return a target that is affine in one dim, or is a position, as an axis; otherwise None."""
    if not target.coords:
        return AffineAxis(target, 0, None)
    if len(target.coords) > 1:
        return None
    (dim,) = target.coords
    (atom,) = coord(dim).atoms
    slope, start = target.split(atom)
    if slope.constant is None or start.coords:
        return None
    return AffineAxis(start, slope.constant, dim)


def modulus_of(target: Term) -> tuple[Term, Term] | None:
    """Return (t, m) if a term is ``t mod m``, which is written ``t - m * floor(t / m)``.

    >>> modulus_of((coord(0) + 3) % 8)
    (x0 + 3, 8)
    """
    for atom in target.atoms:
        if isinstance(atom, FloorDiv):
            inside, divisor = atom.parts
            if target + divisor * term(atom) is inside:
                return inside, divisor
    return None

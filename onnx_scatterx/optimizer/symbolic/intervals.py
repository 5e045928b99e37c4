"""Interval arithmetic: bounds of a polynomial from bounds of its atoms.

``t - d floor(t / d)`` is a remainder: it lies in 0, ..., d - 1 even if t has no bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from onnx_scatterx.optimizer.symbolic.atom import Atom, Interval

if TYPE_CHECKING:
    from onnx_scatterx.optimizer.symbolic.polynomial import Term


def interval_of(t: Term, of: Callable[[Atom], Interval]) -> Interval:
    """Return bounds of a polynomial, given bounds of its atoms."""
    low: float = 0
    high: float = 0
    for monomial, coefficient in t.items:
        a: float = coefficient
        b: float = coefficient
        for atom in monomial:
            c, d = of(atom)
            products = (_product(a, c), _product(a, d), _product(b, c), _product(b, d))
            a, b = min(products), max(products)
        low, high = low + a, high + b
    if t.piecewise and high - low == math.inf:
        for atom in t.atoms:
            if atom.divides:
                least, most = _by_remainder(t, atom, of)
                low, high = max(low, least), min(high, most)
    return low, high


def _by_remainder(t: Term, quotient: Atom, of: Callable[[Atom], Interval]) -> Interval:
    """Return bounds of ``t = k (u mod d) + rest``, if the rest is shorter than the term."""
    (u, d), (slope, rest) = quotient.parts, t.split(quotient)
    low, high = interval_of(d, of)
    if low > 0:
        k = 1 if slope is -d else -(slope.constant or 0) // int(low) if low == high else 0
        rest -= k * u
        if k and slope is -k * d and len(rest.items) < len(t.items):
            (least, most), end = interval_of(rest, of), k * (high - 1)
            return least + min(end, 0), most + max(end, 0)
    return -math.inf, math.inf


def _product(a: float, b: float) -> float:
    return 0 if a == 0 or b == 0 else a * b

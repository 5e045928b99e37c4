"""Interval arithmetic: bounds of a polynomial from bounds of its atoms."""

from __future__ import annotations

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
    return low, high


def _product(a: float, b: float) -> float:
    return 0 if a == 0 or b == 0 else a * b

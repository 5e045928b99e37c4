"""Terms of one size, decided completely.

A term of one size n that is built by sums, integer multiples, ``PositivePart``, ``Indicator`` and
``FloorDiv`` by constants is, from some n on, affine on every residue class of n. So whether ``t(n)
>= 0`` holds for every ``n >= low`` is decided by the numbers before that point, and by a slope and
a value for each class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from onnx_scatterx.optimizer.symbolic.atom import Interval
from onnx_scatterx.optimizer.symbolic.budget import budget
from onnx_scatterx.optimizer.symbolic.limits import LIMITS, NARROW, PRICES
from onnx_scatterx.optimizer.symbolic.monomial import is_narrow
from onnx_scatterx.optimizer.symbolic.symbol_ids import results
from onnx_scatterx.optimizer.symbolic.terms import (
    Atom,
    FloorDiv,
    Indicator,
    PositivePart,
    Symbol,
    Term,
)


@dataclass(frozen=True)
class _QuasiAffine:
    """``t(period q + r) = slopes[r] q + values[r]`` for ``period q + r >= start``."""

    start: int
    slopes: np.ndarray
    values: np.ndarray

    @property
    def period(self) -> int:
        return len(self.slopes)

    def refined(self, period: int) -> _QuasiAffine:
        times = period // self.period
        if times == 1:
            return self
        slopes, values = _exact(times + 1, self.slopes, self.values)
        shifts = slopes * np.arange(times, dtype=slopes.dtype)[:, None]
        return _QuasiAffine(self.start, np.tile(slopes * times, times), (values + shifts).ravel())

    def stable_from(self, margin: int = 0) -> int:
        """Return the point from which no class changes its sign (less ``margin``)."""
        (grows,) = np.nonzero(self.slopes)
        if not len(grows):
            return self.start
        slopes, values = _exact(self.period + margin, self.slopes[grows], self.values[grows])
        points = self.period * (abs(values) + margin) // abs(slopes) + self.period + grows
        return max(self.start, int(points.max()))


def _exact(factor: int, *arrays: np.ndarray) -> list[np.ndarray]:
    """Return integers of a type that holds sums of two of them, each multiplied by ``factor``."""
    largest = max(_largest(array) for array in arrays)
    fits = (largest + 1) * (factor + 1) < NARROW
    return [array.astype(np.int64 if fits else object) for array in arrays]


def _largest(array: np.ndarray) -> int:
    return max(abs(int(array.max())), abs(int(array.min())))


def never_negative(t: Term, leaf: Symbol, low: int, known: tuple[Term, ...] = ()) -> bool | None:
    """Return whether ``t >= 0`` for every value of ``leaf`` from ``low`` on; None is "unknown".

    Only values at which the terms in ``known``, of the same leaf, are >= 0 count.

    >>> from onnx_scatterx.optimizer.symbolic.terms import floor_div, size
    >>> n = size("n")
    >>> (leaf,) = n.leaves()
    >>> never_negative(n - floor_div(n + 1, 2) - floor_div(n, 2), leaf, 0)
    True
    >>> never_negative(n - 4, leaf, 0), never_negative(n - 4, leaf, 0, (floor_div(n, 2) - 2,))
    (False, True)
    """
    if t.never_negative_from is None:
        t.never_negative_from = {}
    key = low, known
    if key not in t.never_negative_from:  # the leaf is the term's only one
        t.never_negative_from[key] = _decide(t, leaf, low, known)
    answer, steps = t.never_negative_from[key]
    paid = results()
    if (never_negative, t, key) in paid:
        budget().recall(steps)
    else:
        paid[never_negative, t, key] = True
        budget().charge(steps)
    return answer


def _decide(t: Term, leaf: Symbol, low: int, known: tuple[Term, ...]) -> tuple[bool | None, int]:
    """Return the answer and how many steps it takes."""
    weight = 1 + t.weight + sum(each.weight for each in known)
    steps = PRICES.one_size * weight
    if weight > LIMITS.weight or not _holds(t, known, low, low + LIMITS.first_numbers):
        return (None if weight > LIMITS.weight else False), steps
    forms = [_quasi_affine(each, leaf) for each in (t, *known)]
    found = [form for form in forms if form is not None]
    period = math.lcm(1, *(form.period for form in found))
    steps += steps * period // 64
    if len(found) < len(forms) or period > LIMITS.listed_numbers:
        return None, steps
    # Past this point every class is affine and keeps its sign: one look at each is enough.
    last = max(low, *(form.stable_from() for form in found)) + period
    if last - low > LIMITS.listed_numbers:
        return None, steps
    return _holds(t, known, low, last), steps + weight * (last - low) // PRICES.numbers


def _holds(t: Term, known: tuple[Term, ...], low: int, last: int) -> bool:
    """Return whether ``t >= 0`` at all of these numbers that satisfy the known facts."""
    ranges: dict[Atom, Interval] = dict.fromkeys(t.leaves(), (low, last))
    if not all(is_narrow(each, ranges) for each in (t, *known)):
        return all(
            _value(t, n) >= 0 or any(_value(each, n) < 0 for each in known)
            for n in range(low, last + 1)
        )
    numbers = np.arange(low, last + 1)
    for each in known:
        numbers = numbers[at(each, numbers) >= 0]
    return bool((at(t, numbers) >= 0).all())


def at(t: Term, numbers: np.ndarray) -> np.ndarray:
    """Return a term of one size at these numbers, if all results fit into 64 bits."""
    return np.broadcast_to(t.evaluate(lambda _, __: numbers, lambda _: 0), numbers.shape)


def _value(t: Term, n: int) -> int:
    return int(t.evaluate(lambda _, __: n, lambda _: 0))


def _quasi_affine(t: Term, leaf: Symbol) -> _QuasiAffine | None:
    parts: list[tuple[int, _QuasiAffine]] = []
    constant = 0
    for monomial, coefficient in t.items:
        if not monomial:
            constant = coefficient
            continue
        factors = [_quasi_affine_atom(a, leaf) for a in monomial]
        known = [f for f in factors if f is not None]
        if len(known) < len(factors):
            return None
        product = known[0]
        for factor in known[1:]:
            multiplied = _multiply(product, factor)
            if multiplied is None:
                return None
            product = multiplied
        parts.append((coefficient, product))
    period = math.lcm(1, *(p.period for _, p in parts))
    if period > LIMITS.listed_numbers:
        return None
    slopes, values = np.zeros(period, np.int64), np.full(period, constant, object)
    for c, part in parts:
        refined = part.refined(period)
        slopes = _sum(slopes, c, refined.slopes)
        values = _sum(values, c, refined.values)
    return _QuasiAffine(max((p.start for _, p in parts), default=0), slopes, values)


def _sum(a: np.ndarray, c: int, b: np.ndarray) -> np.ndarray:
    """Return ``a + c b``."""
    a, b = _exact(abs(c), a, b)
    total: np.ndarray = a + c * b
    return total


def _multiply(a: _QuasiAffine, b: _QuasiAffine) -> _QuasiAffine | None:
    period = math.lcm(a.period, b.period)
    if period > LIMITS.listed_numbers:
        return None
    a, b = a.refined(period), b.refined(period)
    if np.any((a.slopes != 0) & (b.slopes != 0)):
        return None  # quadratic
    s, v = _exact(_largest(b.slopes) + _largest(b.values), a.slopes, a.values)
    u, w = b.slopes.astype(s.dtype), b.values.astype(s.dtype)
    return _QuasiAffine(max(a.start, b.start), s * w + u * v, v * w)


def _quasi_affine_atom(atom: object, leaf: Symbol) -> _QuasiAffine | None:
    if atom is leaf:
        return _QuasiAffine(0, np.ones(1, np.int64), np.zeros(1, np.int64))
    if not isinstance(atom, PositivePart | Indicator | FloorDiv):
        return None
    inner = _quasi_affine(atom.parts[0], leaf)
    if inner is None:
        return None
    if isinstance(atom, FloorDiv):
        divisor = atom.parts[1].constant
        if divisor is None or divisor <= 0 or inner.period * divisor > LIMITS.listed_numbers:
            return None
        inner = inner.refined(inner.period * divisor)
        return _QuasiAffine(inner.start, inner.slopes // divisor, inner.values // divisor)
    grows = (inner.slopes > 0) | ((inner.slopes == 0) & (inner.values >= 0))
    if isinstance(atom, Indicator):
        start, ones = inner.stable_from(1), grows.astype(np.int64)
        return _QuasiAffine(start, np.zeros_like(ones), ones)
    start = inner.stable_from()
    return _QuasiAffine(start, np.where(grows, inner.slopes, 0), np.where(grows, inner.values, 0))

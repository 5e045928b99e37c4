"""The first number that leaves the right residues: found by jumps, never by counting.

Of each modulus some residues are allowed, in ranges. From a number that leaves another, the next
that may do is as far as the farthest that any modulus asks for.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

Ranges: TypeAlias = "Sequence[tuple[int, int]]"
"""Ranges of residues, from the first to the last that is allowed, in order and apart."""

_STEPS = 10_000


def compared(modulus: int, sign: str, bound: int) -> Ranges:
    """Return the residues for which a comparison is true.

    >>> compared(8, "==", 3), compared(8, "!=", 3), compared(8, ">", 3), compared(8, "<", 0)
    ([(3, 3)], [(0, 2), (4, 7)], [(4, 7)], [])
    """
    low, high = -1, modulus  # just outside of the residues
    found = {
        "==": [(bound, bound)],
        "!=": [(low, bound - 1), (bound + 1, high)],
        "<": [(low, bound - 1)],
        "<=": [(low, bound)],
        ">": [(bound + 1, high)],
        ">=": [(bound, high)],
    }[sign]
    return both(found, [(0, modulus - 1)])


def both(one: Ranges, other: Ranges) -> Ranges:
    """Return the intersection of two lists of ranges.

    >>> both([(0, 2), (4, 7)], [(2, 5)])
    [(2, 2), (4, 5)]
    """
    pairs = ((max(a, c), min(b, d)) for a, b in one for c, d in other)
    return [(low, high) for low, high in pairs if low <= high]


def mirrored(modulus: int, ranges: Ranges) -> Ranges:
    """Return the residues of the negative numbers whose opposites leave these.

    >>> mirrored(8, [(0, 1), (5, 5)])
    [(0, 0), (3, 3), (7, 7)]
    """
    zero = [(0, 0)] if any(low == 0 for low, _ in ranges) else []
    turned = [(modulus - high, modulus - max(low, 1)) for low, high in reversed(ranges) if high]
    return [*zero, *turned]


def first(
    allowed: Mapping[int, Ranges], excluded: Collection[int], start: int, end: int
) -> int | None:
    """Return the least number from start to end that leaves allowed residues and is not excluded.

    None if there is no such number, or if it is not found in some thousand steps.

    >>> first({10**9: [(5, 5)], 7: [(0, 2)]}, {5}, 0, 1 << 63)
    3000000005
    >>> first({4: [(1, 1)], 2: [(0, 0)]}, (), 0, 1 << 63) is None
    True
    """
    allowed = _together(allowed)
    if not all(allowed.values()):
        return None
    # Each excluded number can take one away, and the others come again in every period.
    end = min(end, start + math.lcm(1, *allowed) * (len(excluded) + 1))
    number = start
    for _ in range(_STEPS):
        if number > end:
            return None
        gap = max((_gap(number % m, m, r) for m, r in allowed.items()), default=0)
        if not gap and number not in excluded:
            return number
        number += gap or 1
    return None


def _gap(residue: int, modulus: int, ranges: Ranges) -> int:
    """Return how far it is from a residue to the next that is allowed."""
    for low, high in ranges:
        if residue <= high:
            return max(low - residue, 0)
    return ranges[0][0] + modulus - residue


def _together(allowed: Mapping[int, Ranges]) -> dict[int, Ranges]:
    """Combine all moduli that allow one residue only, by the Chinese remainder theorem."""
    modulus, residue = 1, 0
    rest: dict[int, Ranges] = {}
    for m, ranges in allowed.items():
        if len(ranges) != 1 or ranges[0][0] != ranges[0][1]:
            rest[m] = ranges
            continue
        common = math.gcd(modulus, m)
        missing = ranges[0][0] - residue
        if missing % common:
            return {1: []}
        times = missing // common * pow(modulus // common, -1, m // common) % (m // common)
        modulus, residue = modulus * m // common, residue + modulus * times
    if modulus > 1:
        found: Ranges = [(residue, residue)]
        rest[modulus] = both(rest.get(modulus, found), found)
    return rest

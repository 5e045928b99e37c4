"""Numbers for sizes that only the run knows, for a picture: all that is known of them holds.

A term over sizes and coordinates has a value there; a term over the elements of a tensor has none.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from onnx_scatterx.lift.access import Access
from onnx_scatterx.symbolic.budget import budget
from onnx_scatterx.symbolic.terms import Symbol, Term

Numbers: TypeAlias = "tuple[int, ...]"

_TRIES = 48
_FIRST = ((8, 3, 2), (9, 4, 3), (12, 6, 1), (6, 6, 0), (5, 2, 2), (4, 1, 1))
"""Sizes of the data, of the other tensor, and positions, that make good pictures."""


def example_numbers(access: Access) -> Iterator[Mapping[Symbol, int]]:
    """Yield numbers for all that only the run knows, which all known facts allow."""
    terms = (*access.data_shape, *access.shape, *access.index_exprs)
    leaves = sorted(frozenset[Symbol]().union(*(t.leaves() for t in terms)), key=lambda s: s.mark())
    if any(part.coords for leaf in leaves for part in leaf.parts):
        return
    if not leaves:
        yield {}
        return
    data = frozenset[Symbol]().union(*(t.leaves() for t in access.data_shape))
    sizes = frozenset[Symbol]().union(*(t.leaves() for t in access.shape))
    known = [f for f in access.facts.known() if f.leaves() and f.leaves() <= set(leaves)]
    draw = random.Random(0)
    for attempt in range(_TRIES):
        most = 12 if attempt < _TRIES // 2 else 64
        first = _FIRST[attempt] if attempt < len(_FIRST) else [draw.randint(0, most) for _ in "abc"]
        numbers = {}
        for place, leaf in enumerate(leaves):
            kind = 0 if leaf in data else 1 if leaf in sizes else 2
            number = first[kind] + (draw.randint(-1, 2) if place and attempt else 0)
            low, high = leaf.low, min(leaf.high, 1 << 20)
            numbers[leaf] = int(max(low, min(number, high), -64))
        if any(numbers[leaf] < 1 for leaf in data | sizes if leaf in numbers):
            continue
        if all((found := value_at(f, numbers)) is not None and found >= 0 for f in known):
            yield numbers


def value_at(t: Term, numbers: Mapping[Symbol, int], at: Callable[[int], Any] | None = None) -> Any:
    """Return the number of a term, or None if the term has no number."""

    def leaf(symbol: Symbol, _: object) -> int:
        return numbers[symbol]

    def nowhere(dim: int) -> int:
        raise KeyError(dim)

    budget().work(1 + t.weight // 8)
    try:
        return t.evaluate(leaf, at or nowhere)
    except (KeyError, ZeroDivisionError, OverflowError, IndexError):
        return None


def shape_at(shape: Sequence[Term], numbers: Mapping[Symbol, int]) -> Numbers | None:
    found = [value_at(t, numbers) for t in shape]
    if any(n is None or n < 0 for n in found):
        return None
    return tuple(int(n) for n in found)

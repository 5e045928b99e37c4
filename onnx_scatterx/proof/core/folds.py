"""Left folds at a point c: ``x = init; for I in box: if condition(c, I): x = x op value(c, I)``.

Updates that collide and are reduced, the last element of a running sum, and sums of integers are
such folds at each point c. A fold over few points is written out. Any other fold is an unknown
function of c and init. Two folds are the same function if their operations, boxes, conditions, and
values where the condition holds are proven to be the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from onnx_scatterx.proof.core.arithmetic import ONE, ZERO, integer, number
from onnx_scatterx.proof.core.logic import (
    FALSE,
    TRUE,
    both,
    choose,
    equal,
    implies,
    negation,
)
from onnx_scatterx.proof.core.tensor import Coordinates
from onnx_scatterx.proof.core.terms import Term, apply, variable
from onnx_scatterx.proof.core.types import float_constant, range_of, sort_of

if TYPE_CHECKING:
    from onnx_scatterx.proof.core.world import World

_FEW = 16
_NEUTRAL = {"add": -0.0, "mul": 1.0}

Part = tuple[Term, Term]
"""A condition, and the value that is combined if the condition holds."""

Value = Callable[[Coordinates, Term], Term]
"""The value of a fold, from a point and init."""


@dataclass(frozen=True)
class Fold:
    """A fold over a box, at each point within dims. ``combine`` is its operation, named ``op``."""

    op: str
    dtype: str
    dims: Coordinates
    box: Coordinates
    part: Callable[[Coordinates, Coordinates], Part]
    combine: Callable[[Term, Term], Term]


@dataclass
class _Known:
    fold: Fold
    at: Coordinates
    points: Coordinates
    part: Part


@dataclass
class Folds:
    """The folds of both models."""

    world: World
    _known: list[_Known] = field(default_factory=list)

    def function(self, fold: Fold) -> Value:
        """Return the value of a fold, written out if its box is small."""
        sizes = [number(d) for d in fold.box]
        few = [n for n in sizes if n is not None]
        if len(few) == len(sizes) and int(np.prod(few, dtype=object)) <= _FEW:
            return lambda at, init: _written_out(fold, few, at, init)
        name = ("fold", self._number(fold))
        real = [k for k, d in enumerate(fold.dims) if d is not ONE]
        sort, (low, high) = sort_of(fold.dtype), range_of(fold.dtype)
        empty = fold.op in _NEUTRAL and sort != "condition"
        nothing = neutral(fold.op, fold.dtype) if empty else None

        def value(at: Coordinates, init: Term) -> Term:
            start = () if init is nothing else (init,)
            return apply(name, (*(at[k] for k in real), *start), sort, low, high)

        return value

    def _number(self, fold: Fold) -> int:
        for index, known in enumerate(self._known):
            if self._same(known, fold):
                return index
        at, points = _points("fold at", fold.dims), _points("fold over", fold.box)
        self._known.append(_Known(fold, at, points, fold.part(at, points)))
        return len(self._known) - 1

    def _same(self, known: _Known, other: Fold) -> bool:
        own, same = known.fold, self.world.same
        if (own.op, own.dtype) != (other.op, other.dtype):
            return False
        for dims, others in ((own.dims, other.dims), (own.box, other.box)):
            mine, theirs = _real(dims), _real(others)
            if len(mine) != len(theirs) or not all(map(same, mine, theirs)):
                return False
        at = _spread(known.at, own.dims, other.dims)
        points = _spread(known.points, own.box, other.box)
        (holds, value), (holds_too, value_too) = known.part, other.part(at, points)
        question = both(equal(holds, holds_too), implies(holds, equal(value, value_too)))
        return question is TRUE or self.world.solver.follows(question)


def _real(dims: Iterable[Term]) -> list[Term]:
    """Return the dims that are not 1: a dim 1 changes neither the order nor the points."""
    return [d for d in dims if d is not ONE]


def _points(name: str, dims: Coordinates) -> Coordinates:
    return tuple(ZERO if d is ONE else variable((name, k), limit=d) for k, d in enumerate(dims))


def _spread(at: Coordinates, dims: Coordinates, others: Coordinates) -> Coordinates:
    """Return a point within ``dims`` as a point within ``others``: axes of size 1 may differ."""
    real = iter([p for p, d in zip(at, dims, strict=True) if d is not ONE])
    return tuple(ZERO if d is ONE else next(real) for d in others)


def _written_out(fold: Fold, sizes: list[int], at: Coordinates, init: Term) -> Term:
    made = init
    for index in itertools.product(*map(range, sizes)):
        holds, value = fold.part(at, tuple(map(integer, index)))
        if holds is not FALSE:
            made = choose(holds, fold.combine(made, value), made)
    return made


def neutral(op: str, dtype: str) -> Term:
    """Return e with ``x op e = e op x = x``, bit for bit."""
    value = _NEUTRAL[op]
    return integer(int(value)) if sort_of(dtype) == "integer" else float_constant(value)


def parted(term: Term, nothing: Term) -> Part:
    """Return a term as a `Part`: the condition is false if the term chooses the neutral element."""
    holds = TRUE
    while term.op == "choose" and nothing in term.args[1:]:
        condition, a, b = term.args
        taken = b is nothing
        holds = both(holds, condition if taken else negation(condition))
        term = a if taken else b
    return (FALSE if term is nothing else holds), term

"""ReduceMax, ReduceMin and ReduceSum of a few floats, where the order of the steps does not matter.

The greatest of literals is a literal. A sum of which at most one summand is not the literal +0 is
this summand: then no step rounds, in whatever order. If this summand is -0, the sum is +0. So the
sum needs assumptions that the sign of a zero does not count. Other results are not known.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence

import numpy as np

from onnx_scatterx.proof.assumed import SIGN_OF_ZERO, ZEROS_ADDED
from onnx_scatterx.proof.core.folds import parted
from onnx_scatterx.proof.core.logic import both, by_case, choose, negation
from onnx_scatterx.proof.core.tensor import Coordinates, Tensor
from onnx_scatterx.proof.core.terms import Term, UnsupportedError, apply
from onnx_scatterx.proof.core.types import float_constant, number_of
from onnx_scatterx.proof.core.world import World

Elements = Callable[[Coordinates], list[Term]]
"""The elements that are reduced to the element of the result at a point."""


def reduced_floats(op: str, dims: Coordinates, elements: Elements, world: World) -> Tensor:
    """Return a reduction of a few floats; UnsupportedError if it is not known."""
    if op == "ReduceSum":
        combine = functools.partial(_sum_of_one, world=world)
    else:
        combine = functools.partial(_extreme, least=op == "ReduceMin")
    sample = Tensor("float32", dims, lambda at: float_constant(0.0)).points("reduced")
    if combine(elements(sample)) is None:
        raise UnsupportedError(f"{op} of floats, in an order that is not known")
    made = Tensor("float32", dims, lambda at: combine(elements(at)) or apply(unknown, at))
    unknown = (op, world.name(made, ()))  # where less is known of a point than of all points
    return made


def _extreme(elements: Sequence[Term], *, least: bool) -> Term | None:
    """Return the greatest or ``least`` of floats; None if they are not choices of literals.

    The literals must be numbers, and not both zeros.
    """
    numbers = [number for element in elements for number in _literals(element)]
    signs = {np.signbit(number) for number in numbers if number == 0}
    if None in numbers or len(signs) > 1:
        return None
    return functools.reduce(functools.partial(_further, least), elements)


def _literals(term: Term) -> list[float | None]:
    """Return the numbers of a choice of literals; None stands for another term, and for NaN."""
    if term.op == "choose":
        return [n for branch in term.args[1:] for n in _literals(branch)]
    if term.op != "literal" or term.data[0] != "float32":
        return [None]
    number = float(number_of(term))
    return [None if np.isnan(number) else number]


def _further(least: bool, a: Term, b: Term) -> Term:
    def pick(x: Term, y: Term) -> Term:
        return x if (number_of(x) < number_of(y)) == least else y

    return by_case(a, lambda x: by_case(b, lambda y: pick(x, y)))


def _sum_of_one(elements: Sequence[Term], *, world: World) -> Term | None:
    """Return a sum of several floats; None unless all but one of them are known to be +0."""
    nothing = float_constant(0.0)
    parts = [parted(element, nothing) for element in elements]
    pairs = itertools.combinations([holds for holds, _ in parts], 2)
    if len(parts) < 2 or not world.known(both(*(negation(both(a, b)) for a, b in pairs))):
        return None
    world.assume(SIGN_OF_ZERO)
    world.assume(ZEROS_ADDED)
    made = nothing
    for holds, value in reversed(parts):
        made = choose(holds, value, made)
    return made

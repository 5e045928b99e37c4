"""The facts about the lengths of axes, and whether all facts can hold at once."""

from __future__ import annotations

from collections.abc import Iterable

from onnx_scatterx.proof.core.arithmetic import integer
from onnx_scatterx.proof.core.logic import TRUE, at_most, equal
from onnx_scatterx.proof.core.solver import ALL, Decision
from onnx_scatterx.proof.core.tensor import Tensor
from onnx_scatterx.proof.core.terms import LARGEST_SIZE, Term, walk
from onnx_scatterx.proof.core.world import World

_TRIED = (2, 1, 8, 3, 16)  # all unknown sizes get one of these numbers together


def short_axes(tensors: Iterable[Tensor], world: World) -> None:
    """Add the facts that each axis of the first model's values is shorter than 2^31.

    Lengths with products of unknowns are omitted, because Z3 often finds no answer for them.
    """
    for dim in (dim for tensor in tensors for dim in tensor.dims or ()):
        fact = at_most(dim, integer(LARGEST_SIZE))
        if fact is not TRUE and not _has_product(dim):
            world.need(fact, "")


def _has_product(dim: Term) -> bool:
    sums = (part for part in walk([dim]) if part.op == "polynomial")
    return any(len(monomial) > 1 for part in sums for monomial, _ in part.data)


def possible(world: World, sizes: list[Term]) -> Decision:
    """Return whether all facts can hold at once; if a limit is reached, try some sizes."""
    solver = world.solver  # gets some extra work, because a proof needs this answer
    solver.budget = max(solver.budget, solver.spent + int(solver.effort * ALL) // 8)
    answer = solver.satisfiable()
    for size in _TRIED:
        if answer.status != "limit" or not sizes:
            break
        tried = solver.satisfiable([equal(d, integer(size)) for d in sizes])
        if tried.status == "possible":
            answer = tried
    return answer

"""Interprets a model again until no more sizes are found at which it cannot run.

A shape may be known only if a size is not 0, or not 1. Each such pair is tested by a visit at that
size: if a node must fail there, the pair is ruled out, and the model is interpreted again with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.degenerate_sizes import Exclusion
from onnx_scatterx.optimizer.analysis.domain.call import Versions
from onnx_scatterx.optimizer.analysis.domain.scope import Knowledge
from onnx_scatterx.optimizer.analysis.infeasible import InfeasibleError
from onnx_scatterx.optimizer.analysis.interpreter import Interpreter
from onnx_scatterx.optimizer.analysis.reading import Reading
from onnx_scatterx.optimizer.assumptions.clauses import Clause
from onnx_scatterx.optimizer.symbolic.budget import budget


def interpret(
    model: ir.Model, *, distrust_dims: bool = False, assumed: Sequence[Clause] = ()
) -> Knowledge:
    """Return what is known of every value of a model without running it.

    ``distrust_dims`` drops the assumption that graph inputs that declare a dim under one name agree
    in it; runtimes do not check that. ``assumed`` are the user's assumptions on symbols and inputs.

    If a shape depends on a size that is not 0, or not 1, the interpreter tests whether the model
    can run at 0, or 1.
    """
    return converged(model, distrust_dims=distrust_dims, assumed=assumed)[1]


def converged(
    model: ir.Model, *, distrust_dims: bool, assumed: Sequence[Clause]
) -> tuple[Interpreter, Knowledge]:
    """Interpret until no more sizes are ruled out; return the last interpreter and its result."""
    walk = partial(
        Interpreter, model, distrust_dims=distrust_dims, assumed=assumed, reading=Reading()
    )
    with budget().share(1 / 2):
        found = _without_doubts(walk)
    if found is None:
        last = walk()
        found = last, last.run()
    return found


def _without_doubts(
    walk: Callable[..., Interpreter],
) -> tuple[Interpreter, Knowledge] | None:
    """Interpret until no more sizes are ruled out at which the model cannot run.

    A size that is ruled out in every version of ONNX Runtime is a fact. A size that only the older
    versions rule out limits only what is known of their results: the newer versions follow the
    specification. None if the budget does not suffice.
    """
    older: tuple[Exclusion, ...] = ()
    always: tuple[Exclusion, ...] = ()
    while True:
        interpreter = walk(ruled_out=always, older=older, speculate=True)
        knowledge = interpreter.run()
        doubted = interpreter.suspected
        if budget().is_spent:
            return None
        if not doubted:
            return interpreter, knowledge
        in_older = partial(walk, versions=Versions.OLDER, ruled_out=older)
        # If the model runs at a size while other pairs are believed, it also runs without that.
        found = []
        for pair in doubted:
            if pair in older or budget().is_spent:
                continue
            likely = in_older(speculate=True, probe=pair)
            # A failure before anything was believed is also a failure without that belief.
            if _is_refused(likely) and (not likely.believed or _is_refused(in_older(probe=pair))):
                found.append(pair)
        older = (*older, *found)
        in_newer = partial(walk, versions=Versions.NEWER, ruled_out=always)
        wanted = [pair for pair, is_fact in doubted.items() if is_fact and pair in older]
        certain = [
            pair for pair in wanted if not budget().is_spent and _is_refused(in_newer(probe=pair))
        ]
        always = (*always, *certain)
        if not found and not certain:
            last = walk(ruled_out=always, older=older)
            knowledge = last.run()
            return None if budget().is_spent else (last, knowledge)


def _is_refused(interpreter: Interpreter) -> bool:
    try:
        interpreter.run()
    except InfeasibleError:
        return True
    return False

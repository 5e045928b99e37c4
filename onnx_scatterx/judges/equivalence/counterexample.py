"""Makes inputs that can be run from Z3's counterexample."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

import ml_dtypes
import numpy as np

from onnx_scatterx.judges.equivalence.building import SizeKey, shown
from onnx_scatterx.judges.equivalence.comparing import Comparison
from onnx_scatterx.judges.equivalence.core.arithmetic import integer
from onnx_scatterx.judges.equivalence.core.logic import at_most, both, equal, negation
from onnx_scatterx.judges.equivalence.core.solver import ALL, Model
from onnx_scatterx.judges.equivalence.core.tensor import Tensor
from onnx_scatterx.judges.equivalence.core.terms import Term, walk
from onnx_scatterx.judges.equivalence.core.types import sort_of
from onnx_scatterx.judges.equivalence.judge import Judgement

_SMALL = (2, 4, 9)
_ELEMENTS = 1 << 16  # the most elements of one input
_ASKED = 2048  # the most elements of one input that Z3 determines; others are 0
_STATEMENTS = 5
_NEAR = 99  # integers of inputs below this are tried first
_BELOW = 2  # integers are drawn below this, so that positions and conditions are likely to run
_RANGES = ((1, 4), (3, 8), (0, 1), (8, 16))  # of the sizes of inputs that the facts allow

Feeds = dict[str, np.ndarray]

Replay = Callable[[dict[str, int], Mapping[str, np.ndarray]], str | None]
"""Runs both models on sizes and inputs; returns how they differ, or None if they do not."""


def refuted(judgement: Judgement, replay: Replay) -> tuple[str | None, Mapping[str, np.ndarray]]:
    """Return how the models differ, and on which inputs; None and {} if no run shows it."""
    for sizes, feeds in counterexamples(judgement):
        difference = replay(sizes, feeds)
        if difference is not None:
            return difference, feeds
    return None, {}


def counterexamples(judgement: Judgement, seed: int = 0) -> Iterator[tuple[dict[str, int], Feeds]]:
    """Yield sizes and inputs on which the models may differ, the smallest first.

    Small integers are tried first: near the ends of int64, integers wrap around, which Z3 knows
    only in part.
    """
    doubted = [c for _, c in judgement.owed]
    doubted += [r.comparison for r in judgement.regions] + list(judgement.outputs.values())
    goals: dict[Term, Comparison] = {}
    for comparison in doubted:
        if comparison.status == "differ":
            goals.setdefault(comparison.goal, comparison)
    rng = np.random.default_rng(seed)
    for comparison in itertools.islice(goals.values(), _STATEMENTS):
        for wanted in (_small_elements(comparison.goal), []):
            model = _smallest(judgement, comparison, wanted)
            if model is not None:
                yield from _feeds(judgement, model, rng)
                break
    yield from _accepted(judgement, rng)


def _accepted(
    judgement: Judgement, rng: np.random.Generator
) -> Iterator[tuple[dict[str, int], Feeds]]:
    """Yield drawn inputs at sizes that the facts allow, for a doubt without a counterexample."""
    solver = judgement.world.solver
    sizes = list(judgement.sizes.values())
    for least, most in _RANGES if sizes else _RANGES[:1]:
        wanted = [at_most(d, integer(most)) for d in sizes]
        wanted += [at_most(integer(least), d) for d in sizes]
        answer = solver.satisfiable(wanted)
        if answer.model is not None:
            yield from _feeds(judgement, answer.model, rng)


def _small_elements(goal: Term) -> list[Term]:
    """Return conditions: the integers of the inputs that a statement reads are small."""
    read = [
        t
        for t in walk([goal])
        if t.op == "apply" and t.data[0][0] == "input" and t.sort == "integer"
    ]
    return [w for t in read for w in (at_most(t, integer(_NEAR)), at_most(integer(-_NEAR), t))]


def _smallest(judgement: Judgement, comparison: Comparison, read: list[Term]) -> Model | None:
    solver = judgement.world.solver
    solver.budget = max(solver.budget, solver.spent + ALL)
    for most in _SMALL if judgement.sizes else ():
        wanted = [*read, *(at_most(d, integer(most)) for d in judgement.sizes.values())]
        answer = solver.against(comparison.goal, wanted)
        if answer.model is not None:
            return answer.model
    return solver.against(comparison.goal, read).model


def _feeds(
    judgement: Judgement, model: Model, rng: np.random.Generator
) -> Iterator[tuple[dict[str, int], Feeds]]:
    sizes = {shown(key): int(model.value(d)) for key, d in judgement.sizes.items()}
    shapes: dict[str, tuple[int, ...]] = {}
    for name, tensor in judgement.inputs.items():
        if tensor.dims is None:
            return
        shapes[name] = tuple(int(model.value(d)) for d in tensor.dims)
        if int(np.prod(shapes[name], dtype=object)) > _ELEMENTS:
            return
    given = [(name, judgement.inputs[name], shape) for name, shape in shapes.items()]
    for spread in (1.0, 1e3):
        yield (
            sizes,
            {name: _asked(t, shape, model, rng, spread) for name, t, shape in given},
        )
    yield sizes, {name: _drawn(t, shape, rng) for name, t, shape in given}


def _asked(
    tensor: Tensor,
    shape: Sequence[int],
    model: Model,
    rng: np.random.Generator,
    spread: float,
) -> np.ndarray:
    """Return an input: integers and booleans from Z3's model, other elements drawn."""
    if sort_of(tensor.dtype) == "data":
        return _drawn(tensor, shape, rng, spread)
    array = np.zeros(shape, bool if tensor.dtype == "bool" else tensor.dtype)
    for index in itertools.islice(np.ndindex(*shape), _ASKED):
        array[index] = model.value(tensor.at(tuple(map(integer, index))))
    return array


def _drawn(
    tensor: Tensor, shape: Sequence[int], rng: np.random.Generator, spread: float = 1.0
) -> np.ndarray:
    if tensor.dtype == "string":
        return rng.integers(0, 9, shape).astype(str).astype(object)
    kind = np.dtype(getattr(ml_dtypes, tensor.dtype, tensor.dtype))
    if kind.kind in "biu":
        return rng.integers(0, _BELOW, shape).astype(kind)
    return np.asarray(rng.standard_normal(shape) * spread).astype(kind)


def possible_sizes(judgement: Judgement, count: int) -> Iterator[Mapping[SizeKey, int]]:
    """Yield small sizes that the facts allow, no two the same.

    If the facts allow it, the sizes differ from each other and from 1, because an axis of size 1,
    or two axes of the same size, may hide a mistake.
    """
    solver, dims = judgement.world.solver, list(judgement.sizes.values())
    small = [at_most(d, integer(len(dims) + 3)) for d in dims]
    different = [negation(equal(a, b)) for a, b in itertools.combinations(dims, 2)]
    several = [at_most(integer(2), d) for d in dims]
    wishes = ([*several, *different], several, [at_most(integer(1), d) for d in dims])
    excluded: list[Term] = []
    for _ in range(count):
        answers = (solver.satisfiable([*small, *wish, *excluded]) for wish in wishes)
        model = next((a.model for a in answers if a.model is not None), None)
        if model is None:
            return
        sizes = {n: int(model.value(d)) for n, d in judgement.sizes.items()}
        yield sizes
        same = [equal(d, integer(sizes[n])) for n, d in judgement.sizes.items()]
        excluded.append(negation(both(*same)))

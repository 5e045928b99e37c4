"""Searches for runs that differ: at Z3's counterexamples, and at sizes that the facts allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onnx_scatterx.proof.building import shown
from onnx_scatterx.proof.core.arithmetic import integer
from onnx_scatterx.proof.core.logic import at_most
from onnx_scatterx.proof.core.solver import ALL, Model
from onnx_scatterx.proof.core.terms import Term, walk
from onnx_scatterx.proof.judge import Judgement
from onnx_scatterx.proof.trials import Element, Trials, can_run, feeds_of, shapes_of

_SMALL = (2, 4, 9)  # the most that all sizes are, at first
_LIMITED = 8  # how many sizes are made small, one by one
_STATEMENTS = 5
_LISTED, _SHOWN = 64, 8  # the most elements of a counterexample, and of its text
_NEAR = 99  # integers of inputs below this are tried first
_RANGES = ((1, 4), (3, 8), (0, 1), (8, 16))  # of the sizes of inputs that the facts allow

Replay = Callable[[dict[str, int], Mapping[str, np.ndarray]], str | None]
"""Runs both models on sizes and inputs; returns how they differ, or None if they do not."""


@dataclass(frozen=True)
class Counterexample:
    """Sizes, and elements of the inputs, with which two models differ as far as the solver knows.

    ``elements`` are an input, an index and a value; the value of a float or a string is None,
    because the solver computes neither. ``tried`` says whether inputs of these sizes were given to
    the first model: they may be too large.
    """

    sizes: Mapping[str, int]
    elements: tuple[Element, ...] = ()
    tried: bool = False

    def __str__(self) -> str:
        known = [e for e in self.elements if e[2] is not None]
        said = [f"{name} = {size}" for name, size in self.sizes.items()]
        said += [f"{name}{list(index)} = {value}" for name, index, value in known[:_SHOWN]]
        if len(known) > _SHOWN:
            said.append(f"{len(known) - _SHOWN} more elements")
        if len(known) < len(self.elements):
            said.append("some elements that are not integers")
        large = "" if self.tried else "; its inputs are too large to be run"
        return f"the solver's counterexample: {', '.join(said) or 'all inputs'}{large}"

    @property
    def has_empty_axis(self) -> bool:
        """Whether a size is 0."""
        return 0 in self.sizes.values()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "sizes": dict(self.sizes),
            "elements": [
                {"input": name, "index": list(index), "value": value}
                for name, index, value in self.elements
            ],
            "tried": self.tried,
        }


Refutation = tuple[str | None, Mapping[str, np.ndarray], Counterexample | None]
"""How two models differ in a run, on which inputs, and the solver's counterexample."""


def refuted(judgement: Judgement, replay: Replay) -> Refutation:
    """Return how the models differ, on which inputs, and the first counterexample of the solver.

    If no run shows a difference, the first two are None and {}. A statement whose smallest
    counterexample has an empty axis, or that names floats, is asked again last: with axes that are
    not empty, and with these floats.
    """
    rng, other = np.random.default_rng(0), np.random.default_rng(1)
    full = [at_most(integer(1), d) for d in judgement.sizes.values()]
    final, goals = _final(judgement), _goals(judgement)
    first: Counterexample | None = None
    again: list[Term] = []
    for goal in goals:
        example, trials = _trials(judgement, goal, [], rng, {})
        if example is None:
            continue
        difference, feeds = _run(trials, replay)
        if difference is not None:
            return difference, feeds, example
        if first is None and goal in final:
            first = example
        if example.has_empty_axis or _literals(goal):
            again.append(goal)
    difference, feeds = _run(_accepted(judgement, rng), replay)
    for goal in again if difference is None else ():
        example, trials = _trials(judgement, goal, full, other, _literals(goal))
        if example is None:
            continue
        difference, feeds = _run(trials, replay)
        if difference is not None:
            return difference, feeds, example
        if goal in final and (first is None or first.has_empty_axis):
            first = example
    return difference, feeds, first


def _run(trials: Trials, replay: Replay) -> tuple[str | None, Mapping[str, np.ndarray]]:
    """Return the first difference of some runs, and the inputs; None and {} without one."""
    for sizes, feeds in trials:
        difference = replay(sizes, feeds)
        if difference is not None:
            return difference, feeds
    return None, {}


def _final(judgement: Judgement) -> dict[Term, None]:
    """Return the refuted statements that decide: not those about pairs of inner values."""
    doubted = [*(c for _, c in judgement.owed), *judgement.outputs.values()]
    return dict.fromkeys(c.goal for c in doubted if c.status == "differ")


def _goals(judgement: Judgement) -> list[Term]:
    """Return the first statements that Z3 refutes, with one that decides if there is one."""
    inner = (r.comparison.goal for r in judgement.regions if r.comparison.status == "differ")
    owed = (c.goal for _, c in judgement.owed if c.status == "differ")
    final = _final(judgement)
    chosen = list(dict.fromkeys((*owed, *inner, *final)))[:_STATEMENTS]
    return chosen if final.keys() & chosen else [*chosen, *list(final)[:1]]


def _trials(
    judgement: Judgement,
    goal: Term,
    wanted: list[Term],
    rng: np.random.Generator,
    literals: Mapping[str, Sequence[float]],
) -> tuple[Counterexample | None, Trials]:
    """Return the smallest counterexample to a statement, and inputs of its sizes.

    Small integers are tried first: near the ends of int64, integers wrap around, which Z3 knows
    only in part.
    """
    for more in (_small_elements(goal), []):
        model = _smallest(judgement, goal, [*wanted, *more])
        if model is not None:
            example = _described(judgement, model, goal)
            return example, feeds_of(judgement, model, rng, example.elements, literals)
    return None, iter(())


def _described(judgement: Judgement, model: Model, goal: Term) -> Counterexample:
    """Return the sizes, and the elements of the inputs that a statement reads."""
    shapes = shapes_of(judgement, model)
    elements: dict[tuple[str, tuple[int, ...]], int | bool | None] = {}
    for term in _read(goal):
        name = term.data[0][1]
        index = tuple(int(model.value(c)) for c in term.args)
        inside = all(0 <= i < n for i, n in zip(index, shapes.get(name, index), strict=True))
        if inside and len(elements) < _LISTED:
            elements[name, index] = None if term.sort == "data" else model.value(term)
    return Counterexample(
        {shown(key): int(model.value(d)) for key, d in judgement.sizes.items()},
        tuple((*place, value) for place, value in elements.items()),
        can_run(judgement, shapes),
    )


def _read(goal: Term) -> Iterator[Term]:
    """Yield the elements of the inputs that a statement names."""
    return (t for t in walk([goal]) if t.op == "apply" and t.data[0][0] == "input")


def _literals(goal: Term) -> dict[str, list[float]]:
    """Return the floats that a statement names, by their types."""
    found: dict[str, list[float]] = {}
    for term in walk([goal]):
        if term.op == "literal" and term.data[0] in ("float32", "float64"):
            (number,) = np.frombuffer(term.data[1], term.data[0])
            found.setdefault(term.data[0], []).append(float(number))
    return found


def _accepted(judgement: Judgement, rng: np.random.Generator) -> Trials:
    """Yield drawn inputs at sizes that the facts allow, for a doubt without a counterexample."""
    solver = judgement.world.solver
    sizes = list(judgement.sizes.values())
    for least, most in _RANGES if sizes else _RANGES[:1]:
        wanted = [at_most(d, integer(most)) for d in sizes]
        wanted += [at_most(integer(least), d) for d in sizes]
        answer = solver.satisfiable(wanted)
        if answer.model is not None:
            yield from feeds_of(judgement, answer.model, rng)


def _small_elements(goal: Term) -> list[Term]:
    """Return conditions: the integers of the inputs that a statement reads are small."""
    read = [t for t in _read(goal) if t.sort == "integer"]
    return [w for t in read for w in (at_most(t, integer(_NEAR)), at_most(integer(-_NEAR), t))]


def _smallest(judgement: Judgement, goal: Term, read: list[Term]) -> Model | None:
    """Return a counterexample in which few sizes are large."""
    solver, sizes = judgement.world.solver, list(judgement.sizes.values())
    solver.budget = max(solver.budget, solver.spent + ALL)
    for most in _SMALL if sizes else ():
        answer = solver.against(goal, [*read, *(at_most(d, integer(most)) for d in sizes)])
        if answer.model is not None:
            return answer.model
    best, wanted = solver.against(goal, read).model, list(read)
    for size in sizes[:_LIMITED] if best is not None else ():  # as many as possible are small
        answer = solver.against(goal, [*wanted, at_most(size, integer(_SMALL[-1]))])
        if answer.model is not None:
            best = answer.model
            wanted.append(at_most(size, integer(_SMALL[-1])))
    return best

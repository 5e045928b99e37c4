"""An update that is found by a search: only the properties of a search are known.

If it hits, the update that it returns is written to the element. If any update is, it hits, and
returns that one or a later one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnx_scatterx.equivalence.core.arithmetic import ZERO
from onnx_scatterx.equivalence.core.logic import at_most, both, equal, implies, within
from onnx_scatterx.equivalence.core.terms import LARGEST_SIZE, Term, apply
from onnx_scatterx.equivalence.core.witnesses import Definition, Universal
from onnx_scatterx.equivalence.core.world import World

Target = Callable[[Sequence[Term]], tuple[Term, ...]]


def searched(
    name: str,
    target: Target,
    at: Sequence[Term],
    others: Sequence[Term],
    axis: int,
    limit: Term,
    world: World,
) -> tuple[Term, Term]:
    """Return whether an element has an update, and the coordinate of the last one on one axis.

    ``others`` are its coordinates on the other axes, and ``limit`` is the length of this one.
    """
    hit_name, source_name = f"hit {name}", f"source {name}"

    def hit(arguments: Sequence[Term]) -> Term:
        return apply(hit_name, arguments, "condition")

    def source(arguments: Sequence[Term]) -> Term:
        return apply(source_name, arguments, "integer", 0, LARGEST_SIZE)

    def goes(arguments: Sequence[Term], candidate: Term) -> Term:
        own, point = arguments[: len(at)], list(arguments[len(at) :])
        point.insert(axis, candidate)
        # Asked again, so that the facts about these elements are added too.
        equations = (equal(t, v) for t, v in zip(target(point), own, strict=True))
        return both(within(candidate, ZERO, limit), *equations)

    def found(term: Term) -> list[Term]:
        return [implies(hit(term.args), goes(term.args, source(term.args)))]

    def no_later(term: Term) -> list[Universal]:
        def instance(candidate: Term) -> Term:
            last = at_most(candidate, source(term.args))
            return implies(goes(term.args, candidate), both(hit(term.args), last))

        return [Universal(limit, instance)]

    world.witnesses.define(hit_name, Definition(found, no_later))
    world.witnesses.define(source_name, Definition(found, no_later, lambda _: limit))
    world.assume("the last of colliding updates wins")
    key = (*at, *others)
    return hit(key), source(key)

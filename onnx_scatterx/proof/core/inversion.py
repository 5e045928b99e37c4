"""Finds the update that is written to an element: solves the equation ``T(I) = c`` for I.

T has a column for each axis of the data. Each axis of I is solved by the first case that applies:
the axis has one point; a column is affine in the axis; columns are constants; columns are places of
a mask; no column depends on the axis, so the last point wins. Otherwise the solution is an unknown
function with stated properties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from onnx_scatterx.proof.core.arithmetic import (
    ZERO,
    divide,
    integer,
    monomials,
    number,
    polynomial,
)
from onnx_scatterx.proof.core.logic import (
    at_most,
    below,
    both,
    choose,
    equal,
    implies,
    inside,
    within,
)
from onnx_scatterx.proof.core.lookups import ConstantArray, Inverse, entry, inverted
from onnx_scatterx.proof.core.masks import Placing
from onnx_scatterx.proof.core.tensor import Coordinates, flattened, unflattened
from onnx_scatterx.proof.core.terms import (
    LARGEST_SIZE,
    Term,
    UnsupportedError,
    apply,
    substitute,
    variable,
    walk,
)
from onnx_scatterx.proof.core.witnesses import Definition, Universal
from onnx_scatterx.proof.core.world import World

Target = Callable[[Sequence[Term]], tuple[Term, ...]]

Step = Callable[[Sequence[Term], dict[int, Term]], Term]
"""From the element's coordinates, and the update's solved ones, to the update's next coordinate."""


@dataclass
class Origin:
    """The update that is written to an element.

    ``hit`` says whether the element has an update, ``point`` are the update's coordinates.
    ``simpler`` are equations that hold if the element has an update.
    """

    hit: Term
    point: tuple[Term, ...]
    simpler: dict[Term, Term] = field(default_factory=dict)


@dataclass
class Inversion:
    """The solution for the updates of a scatter: ``target`` is T, and ``dims`` is the box of I."""

    dims: tuple[Term, ...]
    target: Target
    name: str
    world: World

    def __post_init__(self) -> None:
        self.points = tuple(
            ZERO if number(d) == 1 else variable(f"update {self.name} {k}", limit=d)
            for k, d in enumerate(self.dims)
        )
        self.columns = self.target(self.points)
        self.steps: dict[int, Step] = {}
        self.masks: dict[int, Placing] = {}
        self.certain: set[int] = set()  # the columns that need no test any more
        self.unique = True
        self.layers = 0  # how many updates may collide by a table or a mask; 0: not known
        self.masked = False  # whether they collide by a mask
        self._layer = 0  # which of the colliding updates `origin` returns; 0 is the last one
        self._solve()

    def _solved(self, axis: int, step: Step, certain: Iterable[int] = ()) -> None:
        """Take a step as the solution for an axis, after which ``certain`` columns need no test."""
        self.steps[axis] = step  # the dict keeps the order of the steps
        self.certain |= set(certain)

    def _depends(self, column: int) -> set[int]:
        parts = set(walk([self.columns[column]]))
        return {k for k, p in enumerate(self.points) if p in parts and p is not ZERO}

    def _solve(self) -> None:
        waiting = {k for k, p in enumerate(self.points) if p is not ZERO}
        depends = [self._depends(j) for j in range(len(self.columns))]
        while waiting:
            axis = next((k for k in sorted(waiting) if self._try(k, waiting, depends)), None)
            solved = self._tabled(waiting, depends) if axis is None else {axis}
            if not solved:
                break
            waiting -= solved
        for axis in sorted(waiting):
            if not any(axis in d for d in depends):
                self.unique, self.layers = False, 0
                self.world.assume("the last of colliding updates wins")
                self._solved(axis, _always(self.dims[axis] - 1))
                waiting.discard(axis)
        self.free = sorted(waiting)
        if self.free:
            self.unique, self.layers = False, 0
        if self.masked and not self.layers:
            raise UnsupportedError("a scatter whose updates collide in two ways")

    def _try(self, axis: int, waiting: set[int], depends: list[set[int]]) -> bool:
        for j, column in enumerate(self.columns):
            if axis not in depends[j] or depends[j] & waiting != {axis}:
                continue
            if self._affine(axis, j, column):
                return True
        return self._masked(axis, depends)

    def _affine(self, axis: int, j: int, column: Term) -> bool:
        point = self.points[axis]
        parts = monomials(column)
        factor = parts.pop((point,), 0)
        rest = polynomial(parts)
        if not factor or point in set(walk([rest])):
            return False

        def step(c: Sequence[Term], solved: dict[int, Term]) -> Term:
            known = {self.points[k]: v for k, v in solved.items() if self.points[k] is not ZERO}
            offset = c[j] - substitute(rest, known)
            if factor < 0:
                offset = -offset
            return divide(offset, integer(abs(factor)))

        self._solved(axis, step, [j] if abs(factor) == 1 else [])
        return True

    def _tabled(self, waiting: set[int], depends: list[set[int]]) -> set[int]:
        """Solve axes that constant columns depend on; return these axes."""
        for group in sorted((d for d in depends if d and d <= waiting), key=len):
            own = [j for j, d in enumerate(depends) if d and d <= group]
            sizes = {self.points[k]: number(self.dims[k]) for k in sorted(group)}
            box = {point: n for point, n in sizes.items() if n is not None}
            inverse = inverted([self.columns[j] for j in own], box) if box == sizes else None
            if inverse is None:
                continue
            if not inverse.unique:
                if any(d & group for j, d in enumerate(depends) if j not in own):
                    continue  # another column decides which update hits
                self.layers = len(inverse.layers) if self.unique else 0
                self.unique = False
                self.world.assume("the last of colliding updates wins")
            self._looked_up(sorted(group), own, inverse)
            return group
        return set()

    def _looked_up(self, axes: list[int], own: list[int], inverse: Inverse) -> None:
        """Solve axes by lookups in the inverse of ``own`` columns."""
        lookups = [ConstantArray.of(t, "int64") for t in (inverse.last, *inverse.layers)]
        sizes = [integer(n) for n in inverse.sizes]
        extents = [integer(n) for n in inverse.extents]
        nowhere = integer(-1)

        def looked_up(c: Sequence[Term]) -> Term:
            at = [c[j] for j in own]
            layer = lookups[min(self._layer, len(lookups) - 1)]
            return choose(inside(at, extents), entry(layer, flattened(at, extents)), nowhere)

        def step(position: int) -> Step:
            def one(c: Sequence[Term], solved: dict[int, Term]) -> Term:
                at = looked_up(c)
                if len(axes) == 1:
                    return at
                return choose(below(at, ZERO), nowhere, unflattened(at, sizes)[position])

            return one

        for position, axis in enumerate(axes):
            self._solved(axis, step(position), own)

    def _masked(self, axis: int, depends: list[set[int]]) -> bool:
        own = {j: self.columns[j] for j, d in enumerate(depends) if d == {axis}}
        placing = self.world.masks.placing(self.points[axis], own, self.dims[axis])
        if placing is None:
            return False
        if len(placing.rounds) > 1:
            if any(axis in d and len(d) > 1 for d in depends):
                return False  # the rounds differ on another axis, too, perhaps an earlier one
            self.layers = len(placing.rounds) if self.unique else 0
            self.unique, self.masked = False, True
            self.world.assume("the last of colliding updates wins")
        self.masks[axis] = placing
        chosen = list(placing.among.values())
        self._solved(axis, lambda c, _: placing.view.own_rank(self._in_mask(placing, c)), chosen)
        return True

    def _in_mask(self, placing: Placing, c: Sequence[Term]) -> Coordinates:
        return placing.at(c, max(0, self._layer - 1) if len(placing.rounds) > 1 else 0)

    def all_origins(self, c: Sequence[Term]) -> list[Origin]:
        """Return all updates of the element at c, in their order; none if they are not known."""
        if self.unique:
            return [self.origin(c)]
        origins = []
        for layer in range(self.layers):
            self._layer = layer + 1
            origins.append(self.origin(c))
        self._layer = 0
        return origins

    def origin(self, c: Sequence[Term]) -> Origin:
        """Return the last update of the element at c.

        If updates collide by a mask, there is no term for the last update: only `all_origins` may
        call this method, for one of its updates.
        """
        assert not self.masked or self._layer
        solved: dict[int, Term] = {k: ZERO for k, p in enumerate(self.points) if p is ZERO}
        tests: list[Term] = []
        simpler: dict[Term, Term] = {}
        for axis, step in self.steps.items():
            solved[axis] = step(c, solved)
            if axis not in self.masks:
                tests.append(within(solved[axis], ZERO, self.dims[axis]))
        for placing in self.masks.values():
            own = self._in_mask(placing, c)
            tests += inside(own, placing.view.dims), placing.view.true(own)
            simpler |= placing.view.back(own)
        if self.free:
            tests.append(self._search(c, solved))
        point = tuple(solved[k] for k in range(len(self.dims)))
        known = {p: v for p, v in zip(self.points, point, strict=True) if p is not ZERO}
        for j, column in enumerate(self.columns):
            if j not in self.certain and not self.free:
                tests.append(equal(substitute(column, known), c[j]))
        return Origin(substitute(both(*tests), simpler), point, simpler)

    def _search(self, c: Sequence[Term], solved: dict[int, Term]) -> Term:
        """Return whether an element has an update, and put the last update into ``solved``.

        The answer and the coordinate are unknown functions of c and of the update's coordinates on
        the other axes.
        """
        if len(self.free) > 1:
            raise UnsupportedError("a scatter by data on several axes")
        (axis,) = self.free
        limit = self.dims[axis]
        hit_name, source_name = f"hit {axis} {self.name}", f"source {axis} {self.name}"

        def hit(key: Sequence[Term]) -> Term:
            return apply(hit_name, key, "condition")

        def source(key: Sequence[Term]) -> Term:
            return apply(source_name, key, "integer", 0, LARGEST_SIZE)

        def goes(key: Sequence[Term], candidate: Term) -> Term:
            own, point = key[: len(c)], list(key[len(c) :])
            point.insert(axis, candidate)
            # Outside of the tensor, facts about targets may contradict each other.
            # T is evaluated again, so that the facts about the elements that it reads are added.
            return both(inside(point, self.dims), *map(equal, self.target(point), own))

        def last(term: Term) -> list[Term]:
            return [implies(hit(term.args), goes(term.args, source(term.args)))]

        def no_later(term: Term) -> list[Universal]:
            def instance(candidate: Term) -> Term:
                before = at_most(candidate, source(term.args))
                return implies(goes(term.args, candidate), both(hit(term.args), before))

            return [Universal(limit, instance)]

        self.world.witnesses.define(hit_name, Definition(last, no_later))
        self.world.witnesses.define(source_name, Definition(last, no_later, lambda _: limit))
        self.world.assume("the last of colliding updates wins")
        key = (*c, *(solved[k] for k in sorted(solved)))
        solved[axis] = source(key)
        return hit(key)


def _always(value: Term) -> Step:
    return lambda c, solved: value

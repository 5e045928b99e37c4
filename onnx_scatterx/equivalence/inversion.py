"""Which update goes to an element: the equation ``T(I) = c`` solved for I.

Each axis of I is found by the first of these that works: it has one point only; a column of T is
an affine function of it; a column of T is a constant table of it; columns of T are the places of
a mask at it; no column depends on it, so the last one wins; else by a search, of which is only
known what a search means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from onnx_scatterx.equivalence.arithmetic import (
    ONE,
    ZERO,
    divide,
    integer,
    monomials,
    number,
    polynomial,
    scale,
    subtract,
)
from onnx_scatterx.equivalence.logic import (
    FALSE,
    at_most,
    below,
    both,
    choose,
    equal,
    implies,
    within,
)
from onnx_scatterx.equivalence.masks import View
from onnx_scatterx.equivalence.reshaping import flattened, unflattened
from onnx_scatterx.equivalence.tables import Table, entry
from onnx_scatterx.equivalence.tabulating import tabulated
from onnx_scatterx.equivalence.tensor import UnsupportedError
from onnx_scatterx.equivalence.terms import LARGEST_SIZE, Term, apply, substitute, variable, walk
from onnx_scatterx.equivalence.witnesses import Definition, Universal
from onnx_scatterx.equivalence.world import World

_LONGEST, _LARGEST, _DEEPEST = 1 << 16, 1 << 20, 16


@dataclass
class Origin:
    """The update that an element gets.

    ``hit`` says whether there is one, ``point`` which. ``unique`` says that no other goes to the
    same element. ``simpler`` are equations that hold where there is one.
    """

    hit: Term
    point: tuple[Term, ...]
    unique: bool
    simpler: dict[Term, Term] = field(default_factory=dict)


@dataclass
class Inversion:
    """Where updates go: ``target`` maps I in the box ``dims`` to coordinates, for ``name``."""

    dims: tuple[Term, ...]
    target: Callable[[Sequence[Term]], tuple[Term, ...]]
    name: str
    world: World

    def __post_init__(self) -> None:
        self.points = tuple(
            ZERO if number(d) == 1 else variable(f"update {self.name} {k}", limit=d)
            for k, d in enumerate(self.dims)
        )
        self.columns = self.target(self.points)
        self.steps: dict[int, Callable[[Sequence[Term], dict[int, Term]], Term]] = {}
        self.masks: list[tuple[View, tuple[int | None, ...], int]] = []
        self.free: list[int] = []
        self.settled: set[int] = set()  # the columns that need no test any more
        self.unique = True
        self.layers, self.only_layers = 0, False  # how many may collide, if only by a table
        self._layer = 0  # which of them is asked for; 0 is the last one
        self._order: list[int] = []
        self._solve()

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
                self.unique = self.only_layers = False
                self.world.assume("the last of colliding updates wins")
                last = subtract(self.dims[axis], ONE)
                self.steps[axis] = lambda c, found, last=last: last  # type: ignore[misc]
                self._order.append(axis)
                waiting.discard(axis)
        self.free = sorted(waiting)

    def _try(self, axis: int, waiting: set[int], depends: list[set[int]]) -> bool:
        for j, column in enumerate(self.columns):
            if axis not in depends[j] or depends[j] & waiting != {axis}:
                continue
            if self._affine(axis, j, column):
                self._order.append(axis)
                return True
        return self._masked(axis, waiting, depends)

    def _affine(self, axis: int, j: int, column: Term) -> bool:
        point = self.points[axis]
        parts = monomials(column)
        factor = parts.pop((point,), 0)
        rest = polynomial(parts)
        if not factor or point in set(walk([rest])):
            return False

        def step(c: Sequence[Term], found: dict[int, Term]) -> Term:
            known = {self.points[k]: v for k, v in found.items() if self.points[k] is not ZERO}
            offset = subtract(c[j], substitute(rest, known))
            if factor < 0:
                offset = scale(offset, -1)
            return divide(offset, integer(abs(factor)))

        self.steps[axis] = step
        if abs(factor) == 1:
            self.settled.add(j)
        return True

    def _tabled(self, waiting: set[int], depends: list[set[int]]) -> set[int]:
        """Solve axes that constant columns depend on; return which."""
        for group in sorted((d for d in depends if d and d <= waiting), key=len):
            own = [j for j, d in enumerate(depends) if d and d <= group]
            axes = sorted(group)
            lengths = [number(self.dims[k]) for k in axes]
            sizes = [n for n in lengths if n is not None]
            if len(sizes) < len(axes) or not 0 < int(np.prod(sizes)) <= _LONGEST:
                continue
            grid = np.indices(sizes)
            known = {self.points[k]: g for k, g in zip(axes, grid, strict=True)}
            columns = [tabulated(self.columns[j], known) for j in own]
            found = [np.broadcast_to(c, sizes).ravel() for c in columns if c is not None]
            if len(found) < len(own) or any(c.min() < 0 for c in found):
                continue
            extents = [int(c.max()) + 1 for c in found]
            if int(np.prod(extents, dtype=object)) > _LARGEST:
                continue
            flat = np.ravel_multi_index(found, extents)
            inverse = np.full(int(np.prod(extents)), -1, np.int64)
            inverse[flat] = np.arange(len(flat))  # the last of those that collide stays
            layers = []
            if len(np.unique(flat)) < len(flat):
                if any(d & group for j, d in enumerate(depends) if j not in own):
                    continue  # which one hits is for another column to say
                layers = _layers(flat, len(inverse))
                self.only_layers, self.unique = self.unique and bool(layers), False
                self.layers = len(layers)
                self.world.assume("the last of colliding updates wins")
            tables = [Table.of(t, "int64") for t in (inverse, *layers)]
            self._looked_up(axes, sizes, own, extents, tables)
            return group
        return set()

    def _looked_up(
        self,
        axes: list[int],
        sizes: list[int],
        own: list[int],
        extents: list[int],
        tables: Sequence[Table],
    ) -> None:
        """Take axes from a table, at the coordinates that some columns give."""

        def place(c: Sequence[Term]) -> Term:
            inside = both(
                *(within(c[j], ZERO, integer(n)) for j, n in zip(own, extents, strict=True))
            )
            flat = flattened([c[j] for j in own], [integer(n) for n in extents])
            return (
                choose(inside, entry(tables[self._layer], flat), integer(-1))
                if inside is not FALSE
                else integer(-1)
            )

        def step(axis: int) -> Callable[[Sequence[Term], dict[int, Term]], Term]:
            def one(c: Sequence[Term], found: dict[int, Term]) -> Term:
                at = place(c)
                if len(axes) == 1:
                    return at
                parts = unflattened(at, [integer(n) for n in sizes])
                return choose(below(at, ZERO), integer(-1), parts[axes.index(axis)])

            return one

        for axis in axes:
            self.steps[axis] = step(axis)
            self._order.append(axis)
        self.settled |= set(own)

    def _masked(self, axis: int, waiting: set[int], depends: list[set[int]]) -> bool:
        point = self.points[axis]
        own = tuple(j for j, d in enumerate(depends) if d == {axis})
        for view in reversed(self.world.masks.views):
            places = view.places(point)
            real = [p for p in places if p is not ZERO]
            for start in range(len(own) - len(real) + 1):
                chosen = own[start : start + len(real)]
                if [self.columns[j] for j in chosen] != real or not chosen:
                    continue
                if not self.world.same(self.dims[axis], view.count):
                    continue
                columns = iter(chosen)
                among = tuple(None if p is ZERO else next(columns) for p in places)

                def step(
                    c: Sequence[Term],
                    found: dict[int, Term],
                    view: View = view,
                    among: tuple[int | None, ...] = among,
                ) -> Term:
                    return view.rank(_picked(c, among))

                self.steps[axis] = step
                self.settled |= set(chosen)
                self.masks.append((view, among, axis))
                self._order.append(axis)
                return True
        return False

    def all_origins(self, c: Sequence[Term]) -> list[Origin]:
        """Return all updates that go to the element at these coordinates, in their order."""
        if self.unique:
            return [self.origin(c)]
        if not (self.only_layers and self.layers) or self.free:
            raise UnsupportedError("a scatter that reduces what may collide")
        found = []
        for layer in range(self.layers):
            self._layer = layer + 1
            found.append(self.origin(c))
        self._layer = 0
        return found

    def origin(self, c: Sequence[Term]) -> Origin:
        """Return the update that goes to the element at these coordinates: the last one."""
        found: dict[int, Term] = {k: ZERO for k, p in enumerate(self.points) if p is ZERO}
        tests: list[Term] = []
        simpler: dict[Term, Term] = {}
        by_mask = {axis for _, _, axis in self.masks}
        for axis in self._order:
            found[axis] = self.steps[axis](c, found)
            if axis not in by_mask:
                tests.append(within(found[axis], ZERO, self.dims[axis]))
        for view, among, _ in self.masks:
            own = _picked(c, among)
            tests.append(view.there(own))
            tests.append(view.true(own))
            simpler |= view.back(own)
        if self.free:
            tests.append(self._search(c, found))
        point = tuple(found[k] for k in range(len(self.dims)))
        known = {p: v for p, v in zip(self.points, point, strict=True) if p is not ZERO}
        for j, column in enumerate(self.columns):
            if j not in self.settled and not self.free:
                tests.append(equal(substitute(column, known), c[j]))
        return Origin(both(*tests), point, self.unique and not self.free, simpler)

    def _search(self, c: Sequence[Term], found: dict[int, Term]) -> Term:
        if len(self.free) > 1:
            raise UnsupportedError("a scatter by data on several axes")
        (axis,) = self.free
        limit = self.dims[axis]
        others = [found[k] for k in sorted(found)]
        key = (*c, *others)
        hit_name, point_name = f"hit {self.name}", f"source {self.name}"
        split = len(c)

        def goes(arguments: Sequence[Term], candidate: Term) -> Term:
            own, rest = arguments[:split], list(arguments[split:])
            whole = list(rest)
            whole.insert(axis, candidate)
            # Asked anew, so that what is known of these elements is told too.
            equations = (equal(t, v) for t, v in zip(self.target(whole), own, strict=True))
            return both(within(candidate, ZERO, limit), *equations)

        def found_facts(term: Term) -> list[Term]:
            hit = apply(hit_name, term.args, "condition")
            source = apply(point_name, term.args, "integer", 0, LARGEST_SIZE)
            return [implies(hit, goes(term.args, source))]

        def none_facts(term: Term) -> list[Universal]:
            hit = apply(hit_name, term.args, "condition")
            source = apply(point_name, term.args, "integer", 0, LARGEST_SIZE)

            def instance(point: Term) -> Term:
                return implies(goes(term.args, point), both(hit, at_most(point, source)))

            return [Universal(limit, instance)]

        define = self.world.witnesses.define
        define(hit_name, Definition(found_facts, none_facts))
        define(point_name, Definition(found_facts, none_facts, lambda _: limit))
        self.world.assume("the last of colliding updates wins")
        found[axis] = apply(point_name, key, "integer", 0, LARGEST_SIZE)
        return apply(hit_name, key, "condition")


def _layers(flat: np.ndarray, size: int) -> list[np.ndarray]:
    """Return the first, second, ... position of each number, -1 where there is none."""
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    starts = np.searchsorted(ordered, ordered)
    nth = np.arange(len(flat)) - starts
    layers = []
    for layer in range(int(nth.max()) + 1 if int(nth.max()) < _DEEPEST else 0):
        table = np.full(size, -1, np.int64)
        chosen = nth == layer
        table[ordered[chosen]] = order[chosen]
        layers.append(table)
    return layers


def _picked(c: Sequence[Term], among: Sequence[int | None]) -> tuple[Term, ...]:
    """Return some coordinates, 0 where there is none to pick."""
    return tuple(ZERO if j is None else c[j] for j in among)

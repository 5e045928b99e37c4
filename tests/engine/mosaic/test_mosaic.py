"""Mosaics against dictionaries: after any moves, each element is still the one that it was."""

import itertools
import random
from collections.abc import Iterator
from typing import Any, TypeAlias

import onnx_ir as ir

from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.mosaic.cells import Cell
from onnx_scatterx.engine.mosaic.mosaic import Mosaic, coalesced, joined
from onnx_scatterx.engine.mosaic.provenance import Provenance
from onnx_scatterx.engine.mosaic.strided_interval import (
    AxisMap,
    Reduced,
    Source,
    StridedInterval,
    View,
)
from onnx_scatterx.engine.terms import Term, maximum, size, term
from onnx_scatterx.engine.terms.facts import Facts
from tests.helpers.examples import scaled
from tests.helpers.support import parse

N, M = size("mosaic.n"), size("mosaic.m")
X, Y = ir.Value(name="x"), ir.Value(name="y")
Position: TypeAlias = tuple[int, ...]
Plain: TypeAlias = dict[Position, Any]  # where each element comes from


def at(t: Term, n: int) -> int:
    return int(t.evaluate(lambda *_: n, lambda d: d))


def origin(source: Source, place: Position, n: int) -> Any:
    if not isinstance(source, View):
        return source.reduction, *(origin(s, place, n) for s in (source.data, source.updates))
    steps = [0 if w.dim is None else w.step * place[w.dim] for w in source.axis_maps]
    starts = [at(w.start, n) for w in source.axis_maps]
    return source.value.name, *(a + b for a, b in zip(starts, steps, strict=True))


def elements(cell: Cell, n: int) -> Iterator[tuple[Position, Any]]:
    for place in itertools.product(*(range(at(s.low, n), at(s.high, n)) for s in cell.box)):
        position = (s.modulus * q + s.residue for s, q in zip(cell.box, place, strict=True))
        yield tuple(position), origin(cell.source, place, n)


def whole(name: str, shape: Position) -> Plain:
    return {p: (name, *p) for p in itertools.product(*map(range, shape))}


class Model:
    """A mosaic, and beside it what the tensor is for each size at which the moves can run."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        fact = rng.choice([N, N - 1, N - 4, 3 - N])
        self.facts = Facts(known=[N, fact])
        self.count = itertools.count()
        self.mosaic, self.plain = self.tensor((N, term(4)))
        self.plain = {n: p for n, p in self.plain.items() if at(fact, n) >= 0}

    def tensor(self, shape: tuple[Term, ...]) -> tuple[Mosaic, dict[int, Plain]]:
        name = f"t{next(self.count)}"
        plain = {n: whole(name, tuple(at(e, n) for e in shape)) for n in range(8)}
        return Mosaic.of(ir.Value(name=name), shape), plain

    def number(self) -> Term:
        n = self.rng.randint(0, 3)
        return self.rng.choice([term(n), N - n, N // 2, maximum(N - n, 0)])

    def check(self, mosaic: Mosaic | None, plain: dict[int, Plain]) -> None:
        if mosaic is None or not plain:
            return
        for n, expected in plain.items():
            found = [e for cell in mosaic.cells for e in elements(cell, n)]
            assert sorted(found) == sorted(expected.items()), (n, self.mosaic, mosaic)
        self.mosaic, self.plain = mosaic, plain

    def slice(self) -> None:
        axis = self.rng.randrange(len(self.mosaic.shape))
        first, count, step = self.number(), self.number(), self.rng.choice([-1, 1, 1, 2, 3])
        plain = {}
        for n, old in self.plain.items():
            positions = [at(first, n) + step * i for i in range(at(count, n))]
            inside = range(at(self.mosaic.shape[axis], n))
            if at(count, n) >= 0 and all(p in inside for p in positions):
                places = {p: i for i, p in enumerate(positions)}
                plain[n] = {
                    (*p[:axis], places[p[axis]], *p[axis + 1 :]): e
                    for p, e in old.items()
                    if p[axis] in places
                }
        self.check(self.mosaic.sliced(axis, first, count, step, self.facts), plain)

    def write(self) -> None:
        """Write tensors over boxes that lie within."""
        cells, plain = [], self.plain
        for _ in range(self.rng.randint(1, 2)):
            cell = self.box()
            cells.append(cell)
            over = {n: dict(elements(cell, n)) for n in plain}
            plain = {
                n: old | over[n]
                for n, old in plain.items()
                if over[n].keys() <= old.keys() and all(at(s.length, n) >= 0 for s in cell.box)
            }
        if plain:
            self.check(self.mosaic.overlaid(cells, self.facts), plain)

    def box(self) -> Cell:
        box = []
        for extent in self.mosaic.shape:
            modulus = self.rng.choice([1, 1, 2, 3])
            ends = self.rng.choice([(term(0), extent), (self.number(), self.number())])
            box.append(StridedInterval(modulus, self.rng.randrange(modulus), *ends))
        maps = tuple(AxisMap(d, 1, term(0)) for d in range(len(box)))
        source = View(ir.Value(name=f"t{next(self.count)}"), tuple(s.high for s in box), maps)
        return Cell(tuple(box), source)

    def join(self) -> None:
        axis = self.rng.randrange(len(self.mosaic.shape))
        shape = list(self.mosaic.shape)
        length, shape[axis] = shape[axis], self.rng.choice([N, term(2)])
        other, beside = self.tensor(tuple(shape))
        plain = {
            n: old
            | {
                (*p[:axis], p[axis] + at(length, n), *p[axis + 1 :]): e
                for p, e in beside[n].items()
            }
            for n, old in self.plain.items()
        }
        shape[axis] = length + shape[axis]
        self.check(joined([self.mosaic, other], axis, tuple(shape)), plain)

    def transpose(self) -> None:
        perm = self.rng.sample(range(len(self.mosaic.shape)), len(self.mosaic.shape))
        plain = {
            n: {tuple(p[d] for d in perm): e for p, e in old.items()}
            for n, old in self.plain.items()
        }
        self.check(self.mosaic.transposed(perm), plain)

    def broadcast(self) -> None:
        """Keep one position of an axis, and repeat it."""
        axis, first = self.rng.randrange(len(self.mosaic.shape)), self.rng.randint(0, 2)
        one = self.mosaic.sliced(axis, term(first), term(1), 1, self.facts)
        bare = None if one is None else one.squeezed([axis])
        plain = {
            n: {p[:axis] + p[axis + 1 :]: e for p, e in old.items() if p[axis] == first}
            for n, old in self.plain.items()
            if first < at(self.mosaic.shape[axis], n)
        }
        self.check(bare, plain)
        if bare is not self.mosaic:
            return
        place = self.rng.randint(0, len(bare.shape))
        spread = bare.unsqueezed([place])
        plain = {
            n: {(*p[:place], 0, *p[place:]): e for p, e in old.items()} for n, old in plain.items()
        }
        self.check(spread, plain)
        extent = self.rng.choice([N, term(2)])
        shape = (*spread.shape[:place], extent, *spread.shape[place + 1 :])
        plain = {
            n: {
                (*p[:place], i, *p[place + 1 :]): e
                for p, e in old.items()
                for i in range(at(extent, n))
            }
            for n, old in plain.items()
        }
        self.check(spread.expanded(shape), plain)

    def cut(self) -> None:
        """Cut the tensor in two, and join the parts."""
        axis, middle = self.rng.randrange(len(self.mosaic.shape)), self.number()
        shape = self.mosaic.shape
        bounds = ((term(0), middle), (middle, shape[axis] - middle))
        parts = [self.mosaic.sliced(axis, *b, 1, self.facts) for b in bounds]
        known = [p for p in parts if p is not None]
        plain = {n: p for n, p in self.plain.items() if 0 <= at(middle, n) <= at(shape[axis], n)}
        self.check(joined(known, axis, shape) if known == parts else None, plain)

    def coalesce(self) -> None:
        self.check(coalesced(self.mosaic, self.facts), self.plain)


def test_moves_move_what_they_should() -> None:
    rng = random.Random(1)
    for _ in range(scaled(3000)):
        model = Model(rng)
        for _ in range(rng.randint(1, 6)):
            moves = [model.slice, model.write, model.join, model.cut, model.coalesce]
            rng.choice([*moves, *moves, model.transpose, model.broadcast])()


def part(low: Term, high: Term) -> Cell:
    view = View(X, (N,), (AxisMap(0, 1, term(0)),))
    return Cell((StridedInterval.interval(low, high),), view)


def test_neighbours_are_merged_only_if_both_run_forwards() -> None:
    cells = (part(term(1), M), part(M, N))
    for known in ([M - 1], [N - M]):
        assert coalesced(Mosaic((N,), cells), Facts(known=known)).cells == cells
    for order in (cells, cells[::-1]):
        forwards = Facts(known=[M - 1, N - M])
        assert coalesced(Mosaic((N,), order), forwards).cells == (part(term(1), N),)


def test_neighbours_are_merged_beside_a_cell_that_stands_alone() -> None:
    alone = Cell((StridedInterval.interval(N, N + 1),), View(Y, (N,), (AxisMap(0, 1, term(0)),)))
    cells = (part(term(1), M), alone, part(M, N))
    forwards = Facts(known=[M - 1, N - M])
    assert set(coalesced(Mosaic((N + 1,), cells), forwards).cells) == {part(term(1), N), alone}


def test_a_reduced_part_is_seen_through_a_reshape() -> None:
    model = ir.from_proto(
        parse("""g (float[4, 6] x, float[1, 6] u) => (float[A, B] z) {
            y = ScatterND <reduction = "add"> (x, [[1]], u)
            z = Reshape (y, [4, 2, 3]) }""")
    )
    provenance = Provenance(model.graph, interpret(model).scopes[model.graph])
    mosaic = provenance.mosaic(model.graph.outputs[0])
    assert mosaic is not None
    assert any(isinstance(cell.source, Reduced) for cell in mosaic.cells)


def test_updates_that_are_written_and_reshaped_are_of_the_same_chain() -> None:
    model = ir.from_proto(
        parse("""g (float[4, 6] x, float[1, 6] u, float[9, 2, 3] w, int64[3] s)
            => (float[A, B, C] z) {
            y = ScatterND (x, [[1]], u)
            z = ScatterND (w, [[1], [2], [4], [5]], Reshape (y, s)) }""")
    )
    provenance = Provenance(model.graph, interpret(model).scopes[model.graph])
    (z,) = model.graph.outputs
    provenance.mosaic(z)
    assert sorted(node.outputs[0].name or "" for node in provenance.absorbed[z]) == ["y", "z"]

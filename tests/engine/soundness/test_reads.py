"""Reads by index become slices of what they read, bit for bit, or are kept."""

import random
from collections import Counter

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.builder import Builder
from tests.helpers.examples import examples
from tests.helpers.pair import Feed, Pair
from tests.helpers.support import gathers_in, i64, nodes, optimize, parse, sample


class Reads(Builder):
    """Draws a model that reads: the name and rank of what is last."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng, opset=18)
        sizes: list[int | str] = [0, 1, 2, 3, 4, 5, "N", "N", "M"]
        self.dims = rng.choices(sizes, k=rng.randint(1, 3))
        self.declared = tuple(self.dims)
        self.rank = len(self.dims)
        self.last = self.input("float32", self.declared, "x")

    def positions(self, size: int) -> np.ndarray:
        """Draw positions of an axis: a line or any, from either end."""
        rng = self.rng
        count = rng.choice([0, 1, 1, 2, 2, 3, 4])
        line = rng.randrange(max(size, 1)) + rng.choice([0, 1, 1, -1, 2, -2, 3]) * np.arange(count)
        drawn = np.array([rng.randrange(max(size, 1)) for _ in range(count)], np.int64)
        whole = np.arange(size)
        found = rng.choice([line, line, whole, whole[::-1], drawn])
        found = found[(found >= 0) & (found < size)]
        mixed = size * (np.arange(len(found)) % 2)
        return np.asarray(
            found - rng.choice([0 * mixed, 0 * mixed, 0 * mixed + size, mixed]), np.int64
        )

    def line(self, axis: int) -> str:
        """Draw a Range up to the size of an axis, or down from it."""
        rng, one = self.rng, self.constant(1)
        size = self.node("Gather", self.node("Shape", "x"), self.constant(axis))
        if rng.random() < 0.3:
            last = self.node("Sub", size, one)
            return self.node("Range", last, self.constant(-1), self.constant(-1))
        end = self.node("Sub", size, self.constant(rng.choice([0, 0, 1, 2])))
        start, step = self.constant(rng.choice([0, 0, 1, 2])), rng.choice([1, 1, 2])
        return self.node("Range", start, end, self.constant(step))

    def index(self, axis: int, ranks: tuple[int, ...]) -> tuple[str, int]:
        """Draw indices for an axis of x; return their name and rank."""
        rng, size = self.rng, self.dims[axis]
        if 1 in ranks and self.last == "x" and rng.random() < 0.35:
            return self.line(axis), 1
        found = self.positions(size if isinstance(size, int) else 3)
        rank = rng.choice(ranks)
        if rank == 0 and len(found):
            return self.constant(found[0]), 0
        if rank == 2:
            return self.constant(found[:, None] if rng.random() < 0.5 else found[None]), 2
        return self.constant(found, rng.choice(["int64", "int64", "int32"])), 1

    def gather(self) -> None:
        axis = self.rng.randrange(self.rank)
        i, rank = self.index(axis, (0, 1, 1, 1, 2))
        axis -= self.rng.choice([0, self.rank])
        self.last, self.rank = (
            self.node("Gather", self.last, i, axis=axis),
            self.rank + rank - 1,
        )

    def gather_elements(self) -> None:
        """With indices that are the same in all rows, as take_along_dim makes them."""
        axis = self.rng.randrange(self.rank)
        i, _ = self.index(axis, (1,))
        if i in self.stored and self.stored[i].dtype == np.int32:
            i = self.cast(i, "int64")
        shape, count = self.node("Shape", self.last), self.node("Shape", i)
        parts = [
            count if d == axis else self.node("Gather", shape, self.constant([d]))
            for d in range(self.rank)
        ]
        others = self.constant([d for d in range(self.rank) if d != axis])
        target = self.node("Concat", *parts, axis=0)
        full = self.node("Expand", self.node("Unsqueeze", i, others), target)
        self.last = self.node("GatherElements", self.last, full, axis=axis)

    def gather_nd(self) -> None:
        """Tuples of one or two axes, behind batch dims where their sizes are numbers."""
        rng, batch = self.rng, 0
        while batch < self.rank - 1 and isinstance(self.dims[batch], int) and rng.random() < 0.4:
            batch += 1
        depth = rng.randint(1, min(2, self.rank - batch))
        sizes = [n if isinstance(n, int) else 3 for n in self.dims[batch : batch + depth]]
        columns = [self.positions(n) for n in sizes]
        grid = np.stack(np.meshgrid(*columns, indexing="ij"), -1)
        lead = [n for n in self.dims[:batch] if isinstance(n, int)]
        i = self.constant(np.broadcast_to(grid, (*lead, *grid.shape)))
        self.last = self.node("GatherND", self.last, i, batch_dims=batch)
        self.rank += grid.ndim - 1 - depth

    def move(self) -> None:
        """Draw something between reads."""
        kind = self.rng.choice(["Transpose", "Slice", "Unsqueeze"])
        if kind == "Transpose" and self.rank:
            perm = self.rng.sample(range(self.rank), self.rank)
            self.last = self.node("Transpose", self.last, perm=perm)
        elif kind == "Slice" and self.rank:
            bounds = [
                self.constant([v]) for v in (self.rng.randint(-2, 1), self.rng.randint(1, 4), 0)
            ]
            self.last = self.node("Slice", self.last, *bounds)
        elif self.rank < 4:
            self.last = self.node("Unsqueeze", self.last, self.constant([0]))
            self.rank += 1

    def write(self) -> None:
        """Write the first row, or some rows, so that a read meets what was written."""
        rows = self.rng.choice([[0], [1, 0], [0, 2]])
        u = self.input("float32", (len(rows), *self.declared[1:]), "u")
        self.last = self.node("ScatterND", self.last, self.constant([[row] for row in rows]), u)
        self.rows = len(rows)

    rows = 0
    """How many are written."""

    def model(self) -> onnx.ModelProto:
        self.give_out(self.last, "y", "float32")
        return self.made()

    def feeds(self) -> list[Feed]:
        sizes = [
            dict(zip("NM", pair, strict=True)) for pair in ((3, 2), (5, 1), (1, 4), (0, 2), (2, 0))
        ]
        if all(isinstance(d, int) for d in self.declared):
            sizes = sizes[:1]
        found: list[Feed] = []
        for names in sizes:
            shape = [names[d] if isinstance(d, str) else d for d in self.declared]
            feed = {"x": sample("float32", *shape)}
            if self.rows:
                feed["u"] = sample("float32", self.rows, *shape[1:], seed=1)
            found.append(feed)
        return found


def test_reads() -> None:
    counted = Counter[str]()

    @examples(70, derandomize=True)
    @given(st.integers(0, 2**32))
    def draw(seed: int) -> None:
        counted.update(judged(drawn(random.Random(seed))))

    draw()
    assert counted["accepted"] >= 3 * counted["models"] // 2
    assert counted["gone"] >= counted["models"] // 2


def drawn(rng: random.Random) -> Reads:
    """Draw a read, of what was written or not, with moves behind it and perhaps another read."""
    r = Reads(rng)
    if rng.random() < 0.25:
        r.write()
    rng.choice([r.gather, r.gather, r.gather_elements, r.gather_nd])()
    for _ in range(rng.randint(0, 2)):
        r.move()
    if rng.random() < 0.3 and r.rank:
        r.dims = [2] * r.rank
        r.gather()
    return r


def judged(r: Reads) -> dict[str, int]:
    """Compare on all feeds; return how many the original accepted, and how many gathers went."""
    original = r.model()
    optimized = optimize(original, gathers=True)
    if not r.rows:
        assert len(nodes(optimized)) <= len(nodes(original)), "it grew"
    accepted = sum(map(Pair(original, optimized).accepts, r.feeds()))
    gone = gathers_in(original) - gathers_in(optimized)
    return {"models": 1, "accepted": accepted, "gone": gone}


@pytest.mark.parametrize(
    "kept",
    [
        "GatherElements (a, [[0, 3], [2, 1], [4, 0], [1, 1], [0, 2], [3, 3]])",
        "GatherElements (a, Gather (i, [[0, 1]]))",
        "Gather (a, i)",
    ],
)
def test_a_read_from_the_result_of_a_read_that_is_kept(kept: str) -> None:
    """The rows are a Slice, though what is read of them is no box, or is known only at run time."""
    model = parse(f"""g (float[9, 4] x, int64[2] i) => (float[A, B] y) {{
        a = Gather (x, [2, 3, 4, 5, 6])
        y = {kept} }}""")
    optimized = optimize(model, gathers=True)
    assert "Slice" in [node.op_type for node in optimized.graph.node]
    assert Pair(model, optimized).accepts({"x": sample("float32", 9, 4), "i": i64([3, 1])})

"""Random chains of scatters and views, with constant and computed indices, at several sizes.

Each test counts what the original accepted, and fails when that was too little to mean anything.
"""

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import onnx
import onnx.printer
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import numpy_helper

from tests.helpers.chains import Chain
from tests.helpers.examples import scaled
from tests.helpers.pair import Feed, Pair
from tests.helpers.support import optimize, parse, sample

EXAMPLES = scaled(60)
SIZES = (0, 1, 2, 5)


class RandomChain(Chain):
    """Writes and views of a tensor of sizes `N` and `M`, or of fixed ones.

    Views change the sizes, so indices are computed from the value itself.
    """

    def rows(self, axis: int) -> str:
        """Make int64[K] indices of an axis of the value: a slice of its range."""
        return self.slice(self.every(axis), 0, *self.cut())

    def cut(self) -> tuple[int, int, int]:
        """Draw the start, the end and the step of a Slice."""
        step = self.rng.choice([1, 1, 1, 2, -1])
        bounds = [self.rng.choice([-3, -1, 0, 1, 2, 2**40]) for _ in range(2)]
        if step < 0:
            bounds = [self.rng.choice([-1, -2, 2**40]), self.rng.choice([-(2**40), 0])]
        return bounds[0], bounds[1], step

    def few(self) -> list[int]:
        """Draw constant rows: any order, negative ones, repeated ones."""
        return [self.rng.choice([0, 1, -1, -2, 1]) for _ in range(self.rng.randint(1, 3))]

    def updates(self, part: str) -> str:
        """Make updates of the shape of a value: from it, of zeros, or numbered along an axis."""
        kind = self.rng.choice(["numbered", "zeros", "other", "other"])
        if kind == "other":
            return self.node(self.rng.choice(["Neg", "Exp", "Identity"]), part)
        shape = self.node("Shape", part)
        if kind == "zeros":
            return self.node("ConstantOfShape", shape)
        one = numpy_helper.from_array(np.ones(1, np.float32))
        ones = self.node("ConstantOfShape", shape, value=one)
        return self.node("CumSum", ones, self.constant(self.rng.randint(0, 1)))

    def reduction(self) -> str:
        return self.rng.choice(["none"] * 4 + ["add", "mul", "max", "min"])

    def scatter_rows(self) -> None:
        """Write rows of axis 0, constant or computed."""
        rows = self.constant(self.few()) if self.rng.random() < 0.4 else self.rows(0)
        updates = self.updates(self.node("Gather", self.value, rows, axis=0))
        self.scatter(self.upright(rows), updates, self.reduction())

    def scatter_columns(self) -> None:
        """Write columns between transposes."""
        self.transpose()
        self.scatter_rows()
        self.transpose()

    def scatter_box(self) -> None:
        """Write a box with two index columns per element."""
        indices = self.pairs(self.rows(0), self.rows(1))
        updates = self.updates(self.node("GatherND", self.value, indices))
        self.scatter(indices, updates, self.reduction())

    def scatter_along(self) -> None:
        """Write along an axis with indices that are expanded."""
        axis = self.rng.randint(0, 1)
        rows = self.constant(self.few()) if self.rng.random() < 0.5 else self.rows(axis)
        part = self.node("Gather", self.value, rows, axis=axis)
        flat = self.node("Unsqueeze", rows, self.constant([1 - axis]))
        indices = self.node("Expand", flat, self.node("Shape", part))
        updates = self.updates(part)
        self.scatter_elements(axis, indices, updates, reduction=self.reduction())

    def transpose(self) -> None:
        self.value = self.turned(self.value)

    def part(self) -> None:
        axis = self.rng.randint(0, 1)
        self.value = self.slice(self.value, axis, *self.cut())

    def concat(self) -> None:
        self.value = self.node("Concat", self.value, self.value, axis=self.rng.randint(0, 1))

    def add(self) -> None:
        self.value = self.node("Add", self.value, self.value)


SCATTERS = "scatter_rows", "scatter_columns", "scatter_box", "scatter_along"
VIEWS = "transpose", "part", "concat", "add"


def random_chain(rng: random.Random, sizes: tuple[int | str, int | str]) -> onnx.ModelProto:
    chain = RandomChain(rng, sizes, "torchscript")
    for _ in range(rng.randint(1, 4)):
        if rng.choice([False, False, True]):
            getattr(chain, rng.choice(VIEWS))()
        getattr(chain, rng.choice(SCATTERS))()
    return chain.model()


def check(original: onnx.ModelProto, feeds: Sequence[Feed], counts: Counter[str]) -> None:
    """Compare a chain before and after on what the original accepts."""
    pair = Pair(original, optimize(original))
    for feed in feeds:
        try:
            counts["accepted" if pair.accepts(feed) else "rejected"] += 1
        except AssertionError as error:
            error.add_note(onnx.printer.to_text(original))
            raise


def report(counts: Counter[str], least: int) -> None:
    print(f"accepted {counts['accepted']}, rejected {counts['rejected']}")
    assert counts["accepted"] >= least, f"too few cases were accepted: {dict(counts)}"


def test_chains_of_known_size() -> None:
    counts: Counter[str] = Counter()

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(st.randoms(), st.sampled_from([(2, 3), (4, 5), (5, 2), (1, 4), (3, 1)]))
    def chains(draw: random.Random, size: tuple[int, int]) -> None:
        feeds = [{"x": sample("float32", *size, seed=seed)} for seed in range(2)]
        check(random_chain(draw, size), feeds, counts)

    chains()
    report(counts, EXAMPLES)


def test_chains_of_sizes_that_are_fed() -> None:
    counts: Counter[str] = Counter()
    feeds = [{"x": sample("float32", n, m)} for n in SIZES for m in SIZES]

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(st.randoms())
    def chains(draw: random.Random) -> None:
        check(random_chain(draw, ("N", "M")), feeds, counts)

    chains()
    report(counts, 3 * EXAMPLES)


def test_scatters_of_constant_points() -> None:
    # ScatterND with any constant indices of any width, against what ONNX Runtime says.
    counts: Counter[str] = Counter()

    @settings(max_examples=2 * EXAMPLES, deadline=None)
    @given(st.data())
    def points(data: st.DataObject) -> None:
        shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
        width = data.draw(st.integers(1, len(shape)))
        count = data.draw(st.integers(0, 6))
        rows = [
            [data.draw(st.integers(-size, size - 1)) for size in shape[:width]]
            for _ in range(count)
        ]
        if data.draw(st.booleans()):
            rows.sort()
        reduction = data.draw(st.sampled_from(["none", "none", "add", "max"]))
        tail = [count, *shape[width:]]
        dims, sizes = (",".join(map(str, s)) for s in (tail, shape))
        values = ", ".join(str(n) for row in rows for n in row)
        text = f"""g (float[{sizes}] x, float[{dims}] u) => (float[{sizes}] y)
            <int64[{count},{width}] i = {{{values}}}> {{
                y = ScatterND <reduction: string = "{reduction}"> (x, i, u) }}"""
        # Whole numbers, so that the order of adding does not round.
        x, u = (np.arange(np.prod(s), dtype=np.float32).reshape(s) - 3 for s in (shape, tail))
        check(parse(text), [{"x": x, "u": 100 + u}], counts)

    points()
    report(counts, EXAMPLES)

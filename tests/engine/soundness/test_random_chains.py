"""Random chains of scatters and views, with constant and computed indices, at several sizes.

Each test counts what the original accepted, and fails when that was too little to mean anything.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.examples import scaled
from tests.helpers.pair import Feed, Pair
from tests.helpers.support import optimize, parse, sample

EXAMPLES = scaled(60)
SIZES = (0, 1, 2, 5)


@dataclass
class Chain:
    """A model in the making: its text, and the value at its end.

    The input is of sizes `N` and `M`, or of fixed ones; views change them, so indices are computed
    from the value itself.
    """

    draw: random.Random
    fixed: tuple[int, int] | None
    lines: list[str] = field(default_factory=list)
    value: str = "x"
    names: int = 0

    def new(self, text: str) -> str:
        """Append a node and return the name of its output."""
        self.names += 1
        self.lines.append(f"v{self.names} = {text}")
        return f"v{self.names}"

    def constant(self, *values: int, dims: str | None = None) -> str:
        shape = f"[{dims if dims is not None else len(values)}]" if dims != "" else ""
        return self.new(f"Constant <value = int64{shape} {{{', '.join(map(str, values))}}}> ()")

    def rows(self, axis: int) -> str:
        """Make int64[K] indices of an axis of the value: a slice of its range."""
        shape = self.new(f"Shape ({self.value})")
        size = self.new(f"Gather <axis = 0> ({shape}, {self.constant(axis, dims='')})")
        zero, one = self.constant(0, dims=""), self.constant(1, dims="")
        every = self.new(f"Range ({zero}, {size}, {one})")
        return self.new(f"Slice ({every}, {self.cut(0)})")

    def cut(self, axis: int) -> str:
        """Make the operands of a Slice on an axis."""
        step = self.draw.choice([1, 1, 1, 2, -1])
        bounds = [self.draw.choice([-3, -1, 0, 1, 2, 2**40]) for _ in range(2)]
        if step < 0:
            bounds = [self.draw.choice([-1, -2, 2**40]), self.draw.choice([-(2**40), 0])]
        return ", ".join(self.constant(n) for n in (*bounds, axis, step))

    def few(self) -> list[int]:
        """Draw constant rows: any order, negative ones, repeated ones."""
        return [self.draw.choice([0, 1, -1, -2, 1]) for _ in range(self.draw.randint(1, 3))]

    def updates(self, part: str) -> str:
        """Make updates of the shape of a value: from it, of zeros, or numbered along an axis."""
        kind = self.draw.choice(["numbered", "zeros", "other", "other"])
        if kind == "other":
            return self.new(f"{self.draw.choice(['Neg', 'Exp', 'Identity'])} ({part})")
        shape = self.new(f"Shape ({part})")
        if kind == "zeros":
            return self.new(f"ConstantOfShape ({shape})")
        ones = self.new(f"ConstantOfShape <value = float[1] {{1}}> ({shape})")
        return self.new(f"CumSum ({ones}, {self.constant(self.draw.randint(0, 1), dims='')})")

    def reduction(self) -> str:
        choice = self.draw.choice(["none"] * 4 + ["add", "mul", "max", "min"])
        return f'reduction: string = "{choice}"'

    def scatter_rows(self) -> None:
        """Write rows of axis 0, constant or computed."""
        rows = self.constant(*self.few()) if self.draw.random() < 0.4 else self.rows(0)
        updates = self.updates(self.new(f"Gather <axis = 0> ({self.value}, {rows})"))
        indices = self.new(f"Unsqueeze ({rows}, {self.constant(-1)})")
        self.value = self.new(
            f"ScatterND <{self.reduction()}> ({self.value}, {indices}, {updates})"
        )

    def scatter_columns(self) -> None:
        """Write columns between transposes."""
        self.transpose()
        self.scatter_rows()
        self.transpose()

    def scatter_box(self) -> None:
        """Write a box with two index columns per element."""
        rows, columns = self.rows(0), self.rows(1)
        upright = self.new(f"Unsqueeze ({rows}, {self.constant(-1)})")
        shape = self.new(f"Shape ({self.new(f'Add ({upright}, {columns})')})")
        last = self.constant(-1)
        parts = [
            self.new(f"Unsqueeze ({self.new(f'Expand ({part}, {shape})')}, {last})")
            for part in (upright, columns)
        ]
        indices = self.new(f"Concat <axis = -1> ({', '.join(parts)})")
        updates = self.updates(self.new(f"GatherND ({self.value}, {indices})"))
        self.value = self.new(
            f"ScatterND <{self.reduction()}> ({self.value}, {indices}, {updates})"
        )

    def scatter_elements(self) -> None:
        """Write along an axis with indices that are expanded."""
        axis = self.draw.randint(0, 1)
        rows = self.constant(*self.few()) if self.draw.random() < 0.5 else self.rows(axis)
        part = self.new(f"Gather <axis = {axis}> ({self.value}, {rows})")
        shape = self.new(f"Shape ({part})")
        flat = self.new(f"Unsqueeze ({rows}, {self.constant(1 - axis)})")
        indices = self.new(f"Expand ({flat}, {shape})")
        what = f"({self.value}, {indices}, {self.updates(part)})"
        self.value = self.new(f"ScatterElements <axis = {axis}, {self.reduction()}> {what}")

    def transpose(self) -> None:
        self.value = self.new(f"Transpose <perm = [1, 0]> ({self.value})")

    def slice(self) -> None:
        self.value = self.new(f"Slice ({self.value}, {self.cut(self.draw.randint(0, 1))})")

    def concat(self) -> None:
        axis = self.draw.randint(0, 1)
        self.value = self.new(f"Concat <axis = {axis}> ({self.value}, {self.value})")

    def add(self) -> None:
        self.value = self.new(f"Add ({self.value}, {self.value})")

    def text(self) -> str:
        n, m = self.fixed or ("N", "M")
        return (
            f"g (float[{n},{m}] x) => (float[?,?] y) {{ "
            + "\n".join(self.lines)
            + f"\ny = Identity ({self.value}) }}"
        )


SCATTERS = (Chain.scatter_rows, Chain.scatter_columns, Chain.scatter_box, Chain.scatter_elements)
VIEWS = (Chain.transpose, Chain.slice, Chain.concat, Chain.add)


def random_chain(draw: random.Random, fixed: tuple[int, int] | None) -> str:
    chain = Chain(draw, fixed)
    for _ in range(draw.randint(1, 4)):
        if draw.choice([False, False, True]):
            draw.choice(VIEWS)(chain)
        draw.choice(SCATTERS)(chain)
    return chain.text()


def check(text: str, feeds: Sequence[Feed], counts: Counter[str]) -> None:
    """Compare a chain before and after on what the original accepts."""
    original = parse(text)
    pair = Pair(original, optimize(original))
    for feed in feeds:
        try:
            counts["accepted" if pair.accepts(feed) else "rejected"] += 1
        except AssertionError as error:
            error.add_note(text)
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
        check(random_chain(draw, None), feeds, counts)

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
        check(text, [{"x": x, "u": 100 + u}], counts)

    points()
    report(counts, EXAMPLES)

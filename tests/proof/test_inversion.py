"""The update of an element, by any columns: what the judge knows must be possible on each run.

The indices of a scatter are columns of every kind that the judge solves: affine in one axis or two,
constant tables, places of a mask, data; each may collide with itself, or depend on the axis of
another. The elements of each run are then given as facts, and all facts together must be possible.
"""

import random

import numpy as np
import pytest

from onnx_scatterx.proof.core.terms import UnsupportedError
from tests.helpers.equivalence_support import assert_possible
from tests.helpers.examples import scaled
from tests.helpers.pair import rejections
from tests.helpers.support import parse, run

pytestmark = pytest.mark.slow

HEAD = """g ({inputs}) => ({dtype}[{out}] y)
    <int64 nil = {{0}}, int64 unit = {{1}}, int64[1] first = {{0}}, int64[1] second = {{1}},
     int64[1] last = {{-1}}{tables}> {{ {nodes} }}"""
MODES = ["none", "none", "none", "add", "mul", "max", "min"]


class Drawn:
    """A ScatterND of some columns, as text, and what it is fed."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.numbers = np.random.default_rng(rng.randrange(1 << 30))
        self.dtype = rng.choice(["int64", "int64", "float"])
        self.inputs: list[str] = []
        self.tables: list[str] = []
        self.nodes: list[str] = []
        self.feed: dict[str, np.ndarray] = {}
        self.sizes = [rng.choice([0, 1, 1, 2, 2, 3, 3, 4]) for _ in range(rng.choice([1, 1, 2]))]
        self.known = [rng.random() < 0.6 for _ in self.sizes]  # whether a size is in the model
        self.ranks: list[str | None] = [None for _ in self.sizes]
        if rng.random() < 0.4:
            self._masked(rng.randrange(len(self.sizes)))
        columns = [self._column(k) for k in range(rng.choice([1, 1, 2]))]
        self.text = self._text(columns)

    def _masked(self, axis: int) -> None:
        """Let the points of an axis be the true elements of a mask."""
        dims = [self.rng.choice([1, 2, 2, 3]) for _ in range(self.rng.choice([1, 2, 2, 3]))]
        mask = self.numbers.random(dims) < 0.6
        shown = [str(d) if self.rng.random() < 0.6 else f"T{k}" for k, d in enumerate(dims)]
        self.inputs.append(f"bool[{', '.join(shown)}] m")
        self.feed["m"] = mask
        self.ranks[axis] = str(len(dims))
        self.sizes[axis], self.known[axis] = int(mask.sum()), False

    def _column(self, k: int) -> str:
        """Write a column of the shape of the box; return its name."""
        kinds = ["affine", "affine", "affine", "sum", "square", "data"]
        kinds += ["table"] * 5 if any(self.known) else []
        kinds += ["place"] * 12 if any(self.ranks) else []
        made = getattr(self, f"_{self.rng.choice(kinds)}")(k)
        self.nodes.append(f"wide{k} = Expand({made}, box) c{k} = Unsqueeze(wide{k}, last)")
        return f"c{k}"

    def _lay(self, name: str, axis: int) -> str:
        """Lay a vector along an axis of the box."""
        if len(self.sizes) == 1:
            return name
        self.nodes.append(f"lay_{name} = Unsqueeze({name}, {'second' if axis == 0 else 'first'})")
        return f"lay_{name}"

    def _range(self, k: int, axis: int, factor: int, offset: int) -> str:
        name = f"r{k}_{axis}"
        self.tables += [f"int64 f{name} = {{{factor}}}", f"int64 o{name} = {{{offset}}}"]
        self.nodes.append(
            f"{name}s = Gather(box, {'nil' if axis == 0 else 'unit'}) "
            f"{name}r = Range(nil, {name}s, unit) {name}m = Mul({name}r, f{name}) "
            f"{name} = Add({name}m, o{name})"
        )
        return self._lay(name, axis)

    def _affine(self, k: int) -> str:
        axis, factor = self.rng.randrange(len(self.sizes)), self.rng.choice([1, 1, -1, 2, -2, 3])
        return self._range(k, axis, factor, self.rng.choice([0, 0, 1, -1, 2]))

    def _sum(self, k: int) -> str:
        if len(self.sizes) == 1:
            return self._affine(k)
        one = self._range(k, 0, self.rng.choice([1, 2, 3, -1]), 0)
        other = self._range(k, 1, self.rng.choice([1, 1, -1, 2]), 0)
        self.nodes.append(f"sum{k} = Add({one}, {other})")
        return f"sum{k}"

    def _square(self, k: int) -> str:
        """Write ``n + n * n`` for an affine n: only a part of it is affine."""
        made = self._affine(k)
        self.nodes.append(f"mul{k} = Mul({made}, {made}) square{k} = Add({made}, mul{k})")
        return f"square{k}"

    def _table(self, k: int) -> str:
        axes = [axis for axis, known in enumerate(self.known) if known]
        axes = axes if self.rng.random() < 0.4 else [self.rng.choice(axes)]
        shape = [n if axis in axes else 1 for axis, n in enumerate(self.sizes)]
        low = self.rng.choice([0, 0, -2])
        values = self.numbers.integers(low, 3, shape).ravel()
        dims, shown = ", ".join(map(str, shape)), ", ".join(map(str, values))
        self.tables.append(f"int64[{dims}] t{k} = {{{shown}}}")
        return f"t{k}"

    def _place(self, k: int) -> str:
        axis = next(a for a, rank in enumerate(self.ranks) if rank)
        row = self.rng.randrange(int(self.ranks[axis] or 1))
        self.tables.append(f"int64 row{k} = {{{row}}}")
        self.nodes.append(f"p{k} = Gather<axis = 0>(places, row{k})")
        return self._lay(f"p{k}", axis)

    def _data(self, k: int) -> str:
        names = [f"S{axis}" for axis in range(len(self.sizes))]
        self.inputs.append(f"int64[{', '.join(names)}] d{k}")
        self.feed[f"d{k}"] = self.numbers.integers(-1, 3, self.sizes)
        return f"d{k}"

    def _text(self, columns: list[str]) -> str:
        extra = self.rng.choice([0, 0, 1])
        sizes = [self.rng.choice([1, 2, 3, 4]) for _ in range(len(columns) + extra)]
        shown = [str(n) if self.rng.random() < 0.5 else f"D{k}" for k, n in enumerate(sizes)]
        pairs = zip(self.sizes, self.known, strict=True)
        box = [str(n) if known else f"S{k}" for k, (n, known) in enumerate(pairs)]
        trailing = shown[len(columns) :]
        self.inputs.append(f"{self.dtype}[{', '.join(shown)}] x")
        self.inputs.append(f"{self.dtype}[{', '.join(box + trailing)}] u")
        kind = np.float32 if self.dtype == "float" else np.int64
        self.feed["x"] = np.arange(10, 10 + np.prod(sizes)).reshape(sizes).astype(kind)
        shape = [*self.sizes, *sizes[len(columns) :]]
        self.feed["u"] = (self.numbers.integers(-40, 40, shape) * 2 + 1).astype(kind)
        mode = self.rng.choice(MODES)
        lengths = [
            f"s{k} = Shape<start = {1 if rank else k}, end = {2 if rank else k + 1}>"
            f"({'places' if rank else 'u'})"
            for k, rank in enumerate(self.ranks)
        ]
        nodes = [
            *(["places = NonZero(m)"] if any(self.ranks) else []),
            *lengths,
            f"box = Concat<axis = 0>({', '.join(f's{k}' for k in range(len(lengths)))})",
            *self.nodes,
            f"i = Concat<axis = -1>({', '.join(columns)})",
            f'y = ScatterND<reduction = "{mode}">(x, i, u)',
        ]
        return HEAD.format(
            inputs=", ".join(self.inputs),
            dtype=self.dtype,
            out=", ".join(f"Y{k}" for k in range(len(sizes))),
            tables="".join(f", {t}" for t in self.tables),
            nodes=" ".join(nodes),
        )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(scaled(100)))
def test_what_is_known_of_a_scatter_holds_on_a_run(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(8):
        drawn = Drawn(rng)
        try:
            outputs = run(parse(drawn.text), drawn.feed)
        except rejections():
            continue
        try:
            assert_possible(drawn.text, drawn.feed, outputs)
        except UnsupportedError as error:
            if str(error) != "a scatter by data on several axes":
                raise  # only these have no terms for their elements

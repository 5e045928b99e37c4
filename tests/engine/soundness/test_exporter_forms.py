"""Random slice assignments on one to three axes, in the forms that exporters give them.

`x[a:b:c, d:e:f] = u` becomes nested views that are written back (dynamo), one index column per axis
(TorchScript), or expanded indices for ScatterElements. The test counts what the original accepted,
and fails when that was too little to mean anything.
"""

import random
from collections import Counter

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.examples import scaled
from tests.helpers.pair import Feed, Pair
from tests.helpers.support import optimize, parse, sample

INT64_MAX = 2**63 - 1
ALL = (0, INT64_MAX, 1)
SIZES = (0, 1, 2, 3, 5, 8, 9)
EXAMPLES = scaled(80)
Cut = tuple[int, int, int]


class Writes:
    """A model in the making: lines of text, and the value that is written to."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.rank = draw.randint(1, 3)
        self.dims = [draw.choice(["N", "M", "N", "M", "1", "4"]) for _ in range(self.rank)]
        self.lines: list[str] = []
        self.value = "x"

    def new(self, text: str) -> str:
        self.lines.append(f"v{len(self.lines)} = {text}")
        return f"v{len(self.lines) - 1}"

    def vector(self, *values: int) -> str:
        numbers = ", ".join(map(str, values))
        return self.new(f"Constant <value = int64[{len(values)}] {{{numbers}}}> ()")

    def cut(self) -> Cut:
        """Draw one of the slices that people write, and some that leave nothing."""
        stride = self.draw.randint(2, 4)
        usual = [
            (1, -1, 1),
            (0, 2, 1),
            (2, INT64_MAX, 1),
            (-3, INT64_MAX, 1),
            (-3, -1, 1),
            (5, 2, 1),
            (3, 4, 1),
        ]
        odd = [
            (self.draw.randrange(stride), INT64_MAX, stride),
            (INT64_MAX, -INT64_MAX, -1),
            (-2, 0, -1),
            (-1, -INT64_MAX, -2),
        ]
        return self.draw.choice([ALL, *usual, *odd])

    def slice(self, x: str, axis: int, cut: Cut) -> str:
        start, end, stride = cut
        bounds = ", ".join(self.vector(n) for n in (start, end, axis, stride))
        return self.new(f"Slice ({x}, {bounds})")

    def part(self, x: str, cuts: list[Cut]) -> str:
        for axis, cut in enumerate(cuts):
            if cut != ALL:
                x = self.slice(x, axis, cut)
        return x

    def rows(self, x: str, axis: int, cut: Cut) -> str:
        shape = self.new(f"Shape ({x})")
        zero, one = (self.new(f"Constant <value = int64 {{{n}}}> ()") for n in (0, 1))
        size = self.new(f"Gather ({shape}, {self.new(f'Constant <value = int64 {{{axis}}}> ()')})")
        return self.slice(self.new(f"Range ({zero}, {size}, {one})"), 0, cut)

    def transpose(self, x: str, axis: int) -> str:
        """Swap an axis with the first one."""
        order = list(range(self.rank))
        order[0], order[axis] = axis, 0
        return self.new(f"Transpose <perm = {order}> ({x})") if axis else x

    def write_axis(self, x: str, axis: int, cut: Cut, updates: str) -> str:
        rows = self.rows(x, axis, cut)
        if self.draw.random() < 0.6:
            data, new = self.transpose(x, axis), self.transpose(updates, axis)
            indices = self.new(f"Unsqueeze ({rows}, {self.vector(1)})")
            return self.transpose(self.new(f"ScatterND ({data}, {indices}, {new})"), axis)
        others = [d for d in range(self.rank) if d != axis]
        if others:
            rows = self.new(f"Unsqueeze ({rows}, {self.vector(*others)})")
        indices = self.new(f"Expand ({rows}, {self.new(f'Shape ({updates})')})")
        return self.new(f"ScatterElements <axis = {axis}> ({x}, {indices}, {updates})")

    def write_nested(self, cuts: list[Cut], updates: str) -> str:
        order = [axis for axis, cut in enumerate(cuts) if cut != ALL] or [0]
        self.draw.shuffle(order)
        views = [self.value]
        for axis in order[:-1]:
            views.append(self.slice(views[-1], axis, cuts[axis]))
        for view, axis in zip(reversed(views), reversed(order), strict=True):
            updates = self.write_axis(view, axis, cuts[axis], updates)
        return updates

    def write_box(self, cuts: list[Cut], updates: str) -> str:
        shape = self.new(f"Shape ({updates})")
        columns = []
        for axis, cut in enumerate(cuts):
            upright = self.vector(*(-1 if d == axis else 1 for d in range(self.rank)))
            column = self.new(f"Reshape ({self.rows(self.value, axis, cut)}, {upright})")
            wide = self.new(f"Expand ({column}, {shape})")
            columns.append(self.new(f"Unsqueeze ({wide}, {self.vector(-1)})"))
        indices = self.new(f"Concat <axis = -1> ({', '.join(columns)})")
        return self.new(f"ScatterND ({self.value}, {indices}, {updates})")

    def updates(self, cuts: list[Cut]) -> str:
        kind = self.draw.choice(["new", "new", "same", "other", "zeros"])
        part = self.part("z" if kind == "other" else self.value, cuts)
        if kind == "zeros":
            return self.new(f"ConstantOfShape ({self.new(f'Shape ({part})')})")
        return self.new(f"Neg ({part})") if kind == "new" else part

    def write(self) -> None:
        cuts = [self.cut() for _ in range(self.rank)]
        form = self.draw.choice([self.write_nested, self.write_nested, self.write_box])
        self.value = form(cuts, self.updates(cuts))
        if self.draw.random() < 0.3:  # x[..] += y is written back once more
            self.value = self.write_nested(cuts, self.part(self.value, cuts))
        if self.draw.random() < 0.2:  # a reader between two writes
            self.value = self.new(f"Abs ({self.value})")

    def model(self) -> onnx.ModelProto:
        for _ in range(self.draw.randint(1, 2)):
            self.write()
        dims, unknown = ",".join(self.dims), ",".join("?" * self.rank)
        lines = "\n".join(self.lines)
        opset = self.draw.choice([13, 16, 18, 21])
        return parse(
            f"""g (float[{dims}] x, float[{dims}] z) => (float[{unknown}] y) {{
            {lines}
            y = Identity ({self.value}) }}""",
            opset,
        )

    def feed(self, seed: int) -> Feed:
        sizes = {name: self.draw.choice(SIZES) for name in "NM"}
        shape = [sizes[d] if d in sizes else int(d) for d in self.dims]
        return {name: sample("float32", *shape, seed=seed + i) for i, name in enumerate("xz")}


@pytest.mark.slow
def test_slice_assignments() -> None:
    counts: Counter[str] = Counter()

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(st.randoms(use_true_random=False))
    def writes(draw: random.Random) -> None:
        made = Writes(draw)
        original = made.model()
        pair = Pair(original, optimize(original))
        for seed in range(8):
            try:
                counts["accepted" if pair.accepts(made.feed(seed)) else "rejected"] += 1
            except AssertionError as error:
                error.add_note(onnx.printer.to_text(original))
                raise

    writes()
    print(f"accepted {counts['accepted']}, rejected {counts['rejected']}")
    assert counts["accepted"] >= 3 * EXAMPLES, f"too few cases were accepted: {dict(counts)}"

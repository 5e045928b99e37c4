"""Writes to slices whose ends are clamped, at sizes at which they hold few elements or none.

Chains are drawn: starts and ends of the whole int64, computed from sizes or fed, and long steps;
updates that move, fill or compute; slices of the same tensors beside them, which later writes may
read.
"""

import random
from collections.abc import Iterator

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import onnx_scatterx
from tests.helpers.chains import Chain
from tests.helpers.examples import scaled
from tests.helpers.pair import Feed, Pair
from tests.helpers.support import assert_sound, f32, i64

ENDS = (2**63 - 1, -(2**63), -(2**63 - 1), 2**31 - 1, -(2**31), 2**62)
SHARDS = 5


@pytest.mark.parametrize("size", range(1, 6))
def test_few_rows(size: int) -> None:
    # The slice of zeros has no column at N = 1 and 2: no zero can be read from it.
    model = """g (float[N,N] x) => (float[N,N] y, float[N,K] w) {
        s = Shape (x)
        part = Slice (Expand (float 0, s), [2], [MAX], [1], [1])
        ones = Expand (float 1, Shape (part))
        w = Neg (part)
        columns = Slice (Range (0, Gather (s, 1), 1), [2], [MAX], [0], [1])
        i = Unsqueeze (columns, [-1])
        u = Transpose <perm = [1, 0]> (ones)
        z = ScatterND (Transpose <perm = [1, 0]> (x), i, u)
        m = Transpose <perm = [1, 0]> (z)
        nils = Expand (float 0, Shape (Gather <axis = 1> (m, 0)))
        c = Unsqueeze (nils, [1])
        y = ScatterElements <axis = 1> (m, Expand (0, Shape (c)), c) }"""
    assert_sound(model, {"N": size}, left=0)


def test_a_long_step_is_refused() -> None:
    # Every residue class of a step is a region of its own.
    model = """g (float[N] x) => (float[N] y) {
        all = Range (0, Squeeze (Shape (x)), 1)
        i = Unsqueeze (Slice (all, [0], [MAX], [0], [1000000007]), [-1])
        y = ScatterND (x, i, Neg (Slice (x, [0], [MAX], [0], [1000000007]))) }"""
    assert_sound(model, *({"N": n} for n in (0, 1, 5)))


def test_bounds_beyond_int64() -> None:
    # What x[:, most:-2] leaves ends at N - most - 2 of the columns behind the first.
    model = """g (float[M,N] v) => (float[M,N] z) {
        s = Shape (v)
        nils = Expand (float 0, s)
        no_rows = Slice (Range (0, Gather (s, 0), 1), [4], [-9223372036854775808], [0], [1])
        h = Unsqueeze (no_rows, [-1])
        x = ScatterND (nils, h, Slice (nils, [4], [-9223372036854775808], [0], [1]))
        rows = Slice (Range (0, Gather (s, 1), 1), [MAX], [-2], [0], [1])
        i = Unsqueeze (rows, [-1])
        u = Neg (Slice (x, [MAX], [-2], [1], [1]))
        r = ScatterND (Transpose <perm = [1, 0]> (x), i, Transpose <perm = [1, 0]> (u))
        y = Transpose <perm = [1, 0]> (r)
        c = Unsqueeze (Gather <axis = 1> (nils, 0), [1])
        z = ScatterElements <axis = 1> (y, Expand (0, Shape (c)), c) }"""
    assert_sound(model, {"M": 2, "N": 1}, {"M": 3, "N": 5})


class Clamped(Chain):
    """Writes to slices of one tensor, one after the other."""

    def bound(self) -> str:
        """Draw a start or an end: a number, a fed one, or one of a size."""
        rng = self.rng
        if rng.random() < 0.7:
            return self.constant([rng.choice(ENDS) if rng.random() < 0.15 else rng.randint(-4, 5)])
        if rng.random() < 0.3:
            return "b"
        axis = rng.randrange(2)
        size = self.node("Shape", rng.choice(["x", "u"]), start=axis, end=axis + 1)
        k = self.constant([rng.randint(1, 4)])
        op = rng.choice(["Add", "Sub", "Div", "Neg", "less", "size"])
        if op in ("Neg", "size"):
            return self.node("Neg", size) if op == "Neg" else size
        return self.node("Sub", k, size) if op == "less" else self.node(op, size, k)

    def cut(self) -> tuple[str, str, str]:
        step = self.rng.choice([1, 1, 1, 1, 1, 2, 3, -1, -1, -2, ENDS[0], ENDS[2]])
        return self.bound(), self.bound(), self.constant([step])

    def within(self, x: str, axis: int, cut: tuple[str, str, str]) -> str:
        start, end, step = cut
        return self.node("Slice", x, start, end, self.constant([axis]), step)

    def updates(self, data: str, axis: int, cut: tuple[str, str, str]) -> str:
        kind = self.rng.random()
        if kind < 0.4:
            number = self.constant(0 if kind < 0.25 else self.rng.choice([0, 1]), "float32")
            return self.node("Expand", number, self.node("Shape", self.within(data, axis, cut)))
        if kind < 0.75:
            return self.within(self.rng.choice(["x", "u", "base", data]), axis, cut)
        return self.node("Neg", self.within(data, axis, cut))

    def row(self, data: str, axis: int) -> str:
        """Write one row or column, as a select in PyTorch."""
        rng, at = self.rng, self.constant(self.rng.choice([0, 0, 1, -1, -2, 2]))
        source = rng.choice([data, "x", "u", "base"])
        row = self.node("Gather", source, at, axis=axis)
        if rng.random() < 0.6:
            row = self.node("Expand", self.constant(0, "float32"), self.node("Shape", row))
        u = self.node("Unsqueeze", row, self.constant([axis]))
        i = self.node("Expand", at, self.node("Shape", u))
        return self.node("ScatterElements", data, i, u, axis=axis)

    def all(self, data: str, axis: int) -> str:
        """Return all positions of an axis."""
        n = self.node("Squeeze", self.node("Shape", data, start=axis, end=axis + 1))
        return self.node("Range", self.constant(0), n, self.constant(1))

    def write(self, data: str) -> str:
        axis = self.rng.randrange(2)
        if self.rng.random() < 0.3:
            return self.row(data, axis)
        cut = self.cut()
        chosen = self.within(self.all(data, axis), 0, cut)
        u = self.updates(data, axis, cut)
        if self.rng.random() < 0.5:  # between transposes, as dynamo writes it
            i = self.upright(chosen)
            if axis == 0:
                return self.node("ScatterND", data, i, u)
            return self.turned(self.node("ScatterND", self.turned(data), i, self.turned(u)))
        # A column of indices for each axis, as TorchScript writes it.
        other = self.all(data, 1 - axis)
        rows, columns = (chosen, other) if axis == 0 else (other, chosen)
        shape = self.node("Concat", self.node("Shape", rows), self.node("Shape", columns), axis=0)
        upright = self.node("Unsqueeze", rows, self.constant([1]))
        parts = [self.upright(self.node("Expand", c, shape)) for c in (upright, columns)]
        return self.node("ScatterND", data, self.node("Concat", *parts, axis=-1), u)


def drawn(seed: int) -> tuple[onnx.ModelProto, bool]:
    """Draw a model, and tell whether its tensors are squares."""
    rng = random.Random(seed)
    dims = ("N", "N") if rng.random() < 0.5 else ("N", "M")
    chain = Clamped(rng, dims)
    chain.input("float32", dims, "u")
    chain.input("int64", (1,), "b")
    base, kind = "x", rng.random()
    if kind > 0.3:
        shape = chain.node("Shape", "x")
        three = numpy_helper.from_array(f32([3]))
        base = (
            chain.node("Expand", chain.constant(0, "float32"), shape)
            if kind < 0.7
            else chain.node("ConstantOfShape", shape, value=three)
        )
    chain.nodes.append(helper.make_node("Identity", [base], ["base"]))
    data, seen = base, []
    for _ in range(rng.randint(1, 4)):
        if rng.random() < 0.3:
            seen.append(chain.within(data, rng.randrange(2), chain.cut()))
        cuts = rng.random() < 0.15
        data = chain.within(data, rng.randrange(2), chain.cut()) if cuts else chain.write(data)
    chain.outputs |= dict.fromkeys([*rng.sample(seen, rng.randint(0, len(seen))), data])
    return chain.made(), len(set(dims)) == 1


def feeds(seed: int, square: bool) -> Iterator[Feed]:
    rng = random.Random(seed)
    for n in range(6):
        for m in [n] if square else range(6) if n < 3 else (1, 2, 4):
            x = np.arange(1, n * m + 1, dtype=np.float32).reshape(n, m)
            for b in (rng.randint(-3, 3), rng.choice((*ENDS, 0, 9))):
                yield {"x": x, "u": x + 100, "b": i64([b])}


@pytest.mark.sampled(4)
@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_drawn_chains(shard: int) -> None:
    judged = 0
    for seed in range(shard, scaled(300), SHARDS):
        model, square = drawn(seed)
        target = "standard" if seed % 3 else "scatterx"
        pair = Pair(model, onnx_scatterx.optimize(model, target=target).model)
        judged += sum(pair.accepts(feed) for feed in feeds(seed, square))
    assert judged > scaled(300)  # most models run at most sizes

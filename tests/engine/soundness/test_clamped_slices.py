"""Writes to slices whose ends are clamped, at sizes at which they hold few elements or none.

Chains are drawn: starts and ends of the whole int64, computed from sizes or fed, and long steps;
updates that move, fill or compute; slices of the same tensors beside them, which later writes may
read.
"""

import random
from collections.abc import Iterator

import pytest
from onnx import numpy_helper

import onnx_scatterx
from tests.helpers.drawing import Drawing, Value
from tests.helpers.drawing.indices import ENDS
from tests.helpers.examples import scaled
from tests.helpers.pair import Feed, Pair
from tests.helpers.support import assert_sound, f32

SHARDS = 5


@pytest.mark.parametrize("size", range(1, 6))
def test_few_rows(size: int) -> None:
    # The slice of zeros has no column at N = 1 and 2: no zero can be read from it.
    model = """g (float[N,N] x) => (float[N,N] y, float[N,K] w) {
        s = Shape (x)
        part = Slice (Expand (float 0, s), [2], [MAX], [1], [1])
        w = Neg (part)
        columns = Slice (Range (0, Gather (s, 1), 1), [2], [MAX], [0], [1])
        u = Transpose <perm = [1, 0]> (Expand (float 1, Shape (part)))
        z = ScatterND (Transpose <perm = [1, 0]> (x), Unsqueeze (columns, [-1]), u)
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


RECIPE = {
    "steps": {"write": 85, "move": 15},
    "moves": {"slice": 1},
    "writes": {"select": 6, "rows": 4, "columns": 4, "box": 6},
    "indices": {"cut": 3, "range": 1},
    "cuts": {"clamped": 1},
    "bounds": {"small": 6, "end": 1, "fed": 1, "of_size": 2},
    "updates": {"filled": 4, "elsewhere": 2, "same": 1, "computed": 2},
    "computations": {"unary": 1},
    "unary": {"Neg": 1},
    "sources": {"alike": 9, "fed": 1},
    "reductions": {"none": 1},
}
"""Writes to slices of one tensor, one after the other."""


def drawn(seed: int) -> Drawing:
    """Draw a model of tensors of two axes, which are squares at times."""
    rng = random.Random(seed)
    dims = ("N", "N") if rng.random() < 0.5 else ("N", "M")
    d = Drawing(rng, 18, RECIPE, {"N": 4, "M": 3, "b": 1})
    d.constants_as = "shared"
    x, _ = d.pool = [d.tensor("float32", dims) for _ in range(2)]
    kind, shape = rng.random(), d.node("Shape", x.name)
    if kind > 0.7:
        three = numpy_helper.from_array(f32([3]))
        x = Value(d.node("ConstantOfShape", shape, value=three), *x[1:])
    elif kind > 0.3:
        x = Value(d.node("Expand", d.constant(0, "float32"), shape), *x[1:])
    d.pool.append(x)
    for _ in range(rng.randint(1, 4)):
        if d.does(0.2):
            d.show(d.draw("moves", x))
        x = d.grow(x, 1)
    d.show(x)
    return d


def feeds(d: Drawing) -> Iterator[Feed]:
    is_square = "M" not in d.inputs["x0"][1]
    for n in range(6):
        for m in [n] if is_square else range(6) if n < 3 else (1, 2, 4):
            for b in (d.rng.randint(-3, 3), d.rng.choice((*ENDS, 0, 9))):
                yield d.feed({"N": n, "M": m, "b": b})


@pytest.mark.sampled(4)
@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_drawn_chains(shard: int) -> None:
    judged = 0
    for seed in range(shard, scaled(300), SHARDS):
        d = drawn(seed)
        model, target = d.model(), "standard" if seed % 3 else "scatterx"
        pair = Pair(model, onnx_scatterx.optimize(model, target=target).model)
        judged += sum(map(pair.accepts, feeds(d)))
    assert judged > scaled(300)  # most models run at most sizes

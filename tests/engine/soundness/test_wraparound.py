"""Integers that leave their type: tensors wrap around, terms do not."""

import os
import random
from typing import Any

import numpy as np
import onnx
import onnx.printer
import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.domain.overflow import fits
from onnx_scatterx.engine.terms import coord, maximum, minimum, size, step, term
from onnx_scatterx.engine.terms.facts import Facts
from onnx_scatterx.engine.terms.symbols import lookup
from onnx_scatterx.engine.terms.tabulate import tabulated
from tests.helpers.examples import scaled
from tests.helpers.judged import Judged, judge
from tests.helpers.one_node.chains import SIZES, Chain, feed_of
from tests.helpers.pair import SESSIONS, rejections
from tests.helpers.support import assert_sound, i64, parse, sample

EXAMPLES = int(os.environ.get("EXAMPLES", scaled(100)))

# Rows of z are written; which ones depends on whether a sum or product with the size n wraps.
WRITTEN = """g (float[N] x, float[M] z, float[2,2] u) => (float[M] y)
    <int64[2,2] c = {9223372036854775807, 7, 4611686018427387904, -9223372036854775808},
     int64[2,2] j = {0, 2, 4, 6}, int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}> {
    n = Size (x)
    s = SUM
    g = TEST
    r = Cast <to = 7> (g)
    i = Add (r, j)
    k = Unsqueeze (i, last)
    y = ScatterND (z, k, u) }"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("total", "test"),
    [
        ("Add (c, n)", "Greater (s, c)"),
        ("Sub (c, n)", "Less (s, c)"),
        ("Sub (n, c)", "Less (s, zero)"),
        ("Mul (n, c)", "Greater (s, c)"),
        ("Neg (c)", "Less (s, n)"),
        ("Abs (c)", "Less (s, n)"),
        ("CumSum (c, zero)", "Less (s, n)"),
        ("ReduceSum <keepdims = 1> (c)", "Less (s, n)"),
        ("ReduceProd <keepdims = 1> (c)", "Less (s, n)"),
        ("Max (c, n)", "Less (s, n)"),
    ],
)
def test_numbers_of_a_table_near_the_end_of_64_bits(total: str, test: str) -> None:
    model = parse(WRITTEN.replace("SUM", total).replace("TEST", test))
    feeds = [
        {"x": np.zeros(n, np.float32), "z": sample("float32", 9), "u": sample("float32", 2, 2)}
        for n in range(6)
    ]
    assert judge(model, feeds) == len(feeds)
    assert_sound(model, *feeds)


def test_tables_that_are_compared_are_not_subtracted() -> None:
    """2**63 - 1 - -(2**63) is no int64: which is less must be asked of numbers that do not wrap."""
    model = """g (float[N,9] z, float[N,4] u) => (float[N,9] y) {
        s = Shape (u)
        p = Expand ([MAX, 3, 5, 1], s)
        r = Cast <to = 7> (Less (Expand ([-9223372036854775808, 4, 5, -7], s), p))
        y = ScatterElements <axis = 1> (z, Add (r, [0, 2, 4, 6]), u) }"""
    assert_sound(model, *({"N": n} for n in (0, 1, 3)), left=0)


def test_what_is_taken_for_granted() -> None:
    n, x = size("n"), coord(0)
    far = lookup(np.array([[2**63 - 1, 5], [0, 1]]), [x, coord(1)])
    near = lookup(np.array([[9, 5], [0, 1]]), [x, coord(1)])
    int64 = ir.DataType.INT64
    for t, is_in in [
        (n * n, True),
        (n * near + x, True),
        (2**30 * n * near, False),
        (far, True),
        (far + n, False),
        (far * n, False),
        (maximum(2**40 * n - 3, 0), False),
        ((far * n) // 3, False),
        (n * step(far - n), True),
        (minimum(far, n) + 1, False),
    ]:
        assert fits(t, int64, Facts()) is is_in, t
        assert Facts().stays_in_int64(t) or not is_in, t


def test_terms_are_tabulated_without_wrapping() -> None:
    a, b = (lookup(i64([s * 2**62, -s * 2**62, s]), [coord(0)]) for s in (1, -1))
    assert tabulated(step(2 * a - 2 * b), {0: 3}).tolist() == [1, 0, 1]
    assert tabulated((4 * a) // 8, {0: 3}).tolist() == [2**61, -(2**61), 0]
    assert tabulated(2**70 * coord(0) + 3, {0: 1}).tolist() == [3]
    with pytest.raises(OverflowError):
        tabulated(2 * a + term(2**62), {0: 3})


EXTREMES = {
    "int64": [-(2**63), 1 - 2**63, -(2**62), -(2**32), -3, -1, 0, 1, 2, 7, 2**31, 2**62, 2**63 - 1],
    "int32": [-(2**31), 1 - 2**31, -3, -1, 0, 1, 2, 7, 2**30, 2**31 - 1],
    "uint64": [0, 1, 2, 7, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1],
    "uint8": [0, 1, 2, 7, 127, 128, 255],
}
CASTS = {"int64": 7, "int32": 6, "uint64": 13, "uint8": 2}
BINARY = ("Add", "Sub", "Mul")
TESTS = ("Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual")


def is_ordered(dtype: str) -> bool:
    """ONNX Runtime's Max, Min, Clip and Sign of several int64 compare halves of them, wrongly."""
    return dtype != "int64"


def _extreme(c: Chain, dtype: str) -> str:
    shape = c.rng.choice([(), (), (1,), (2,), (2, 1), (2, 2), (70,)])
    numbers = [c.rng.choice(EXTREMES[dtype]) for _ in range(int(np.prod(shape)))]
    return c.constant(np.array(numbers, object).reshape(shape), dtype)


def _one_more(c: Chain) -> None:
    """Add a node that computes, if it runs at the first sizes."""
    names = [n for n, v in c.values.items() if v.dtype.name in EXTREMES and n not in c.constants]
    a = c.rng.choice(names[-4:] if c.flag() else names)
    dtype = c.values[a].dtype.name
    same = [n for n in names if c.values[n].dtype.name == dtype]
    b = c.rng.choice([_extreme(c, dtype), c.rng.choice(same)])
    rank = c.values[a].ndim
    kind = c.rng.random()
    if kind < 0.35:
        more = ("Max", "Min") if is_ordered(dtype) else ()
        c.node(c.rng.choice(BINARY + more), [a, b] if c.flag() else [b, a])
    elif kind < 0.5:
        (test,) = c.node(c.rng.choice(TESTS), [a, b])
        c.node("Cast", [test], to=CASTS[dtype])
    elif kind < 0.6:
        c.node("Cast", [a], to=CASTS[c.rng.choice(list(CASTS))])
    elif kind < 0.7:
        c.node(c.rng.choice(["Neg", "Abs", *(["Sign"] if is_ordered(dtype) else [])]), [a])
    elif kind < 0.78:  # by -1 the least number ends the process
        divisor = c.constant(c.rng.choice([d for d in EXTREMES[dtype] if d not in (0, -1)]), dtype)
        c.node(c.rng.choice(["Div", "Mod"]), [a, divisor])
    elif kind < 0.86 and rank:
        axis = c.constant(c.rng.randrange(rank))
        more = ("ReduceMax", "ReduceMin") if is_ordered(dtype) else ()
        op = c.rng.choice(("CumSum", "ReduceSum", "ReduceProd", *more))
        given: dict[str, Any] = {} if op == "CumSum" else {"keepdims": int(c.flag())}
        c.node(op, [a, axis if op == "CumSum" else c.constant([c.rng.randrange(rank)])], **given)
    elif kind < 0.92 and is_ordered(dtype):
        bounds = [c.constant(c.rng.choice(EXTREMES[dtype]), dtype) for _ in range(2)]
        c.node("Clip", [a, *bounds])
    elif kind < 0.96:
        ends = [c.rng.choice(EXTREMES["int64"]) for _ in range(2)]
        step_ = c.constant([c.rng.choice([1, -1, 2, 2**62, -(2**63)])])
        c.node("Slice", ["x", *(c.constant([e]) for e in ends), c.constant([0]), step_])
    else:
        k = c.rng.choice(EXTREMES["int64"])
        if c.flag():
            c.node("Trilu", ["x", c.constant(k)], upper=int(c.flag()))
        else:
            c.node("EyeLike", ["x"], k=k)


def _grown(rng: random.Random) -> onnx.ModelProto:
    c = Chain(rng)
    c.node("Size", ["x"])
    c.node("Shape", ["x"])
    for _ in range(rng.randint(3, 9)):
        try:
            _one_more(c)
        except rejections():
            continue
    return c.model()


@pytest.mark.slow
def test_chains_of_extreme_numbers() -> None:
    runs = followed = 0
    for seed in range(EXAMPLES):
        rng = random.Random(seed)
        model = _grown(rng)
        judged = Judged(model, SESSIONS[seed % 2])
        for n, m in SIZES:
            feed = dict(feed_of(n, m, seed))
            if rng.random() < 0.5:
                feed["s"] = i64(rng.choice(EXTREMES["int64"]))
                feed["y"] = i64([rng.choice(EXTREMES["int64"]) for _ in range(n)])
            try:
                runs += judged.accepts(feed)
            except AssertionError as error:
                text = onnx.printer.to_text(model)
                raise AssertionError(f"seed {seed}, N = {n}, M = {m}: {error}\n{text}") from error
        followed += judged.followed
    assert runs > 5 * EXAMPLES
    assert followed > 4 * runs

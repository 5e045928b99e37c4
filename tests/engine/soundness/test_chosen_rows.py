"""Writes of updates that a mask chooses, at positions that it chooses with them.

Each model is one form of text, whose words are drawn, and no graph that grows.
"""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import pytest

from tests.helpers.examples import scaled
from tests.helpers.pair import Pair
from tests.helpers.support import nodes, optimize, parse, sample, scatters

AVOID = "avoid = ['ScatterND', 'ScatterElements'], dense = true, dense_limit = inf"
TARGETS = (f"standard, {AVOID}", "standard, avoid = ['CumSum', 'ScatterND'], dense = true")
ENDS = (-(2**63), 2**63 - 1, -1, 0, 2**31, -(2**31) - 1)
REDUCTIONS = ("none", "add", "max", "min", "mul")
_FLOATS = ("float", "double")


class Drawn:
    """A random write of chosen rows, as text, and feeds for it."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.reduction = rng.choice(REDUCTIONS)
        self.kind = rng.choice(["float", "float", "double", "int32", "int64"])
        self.axes = rng.choice([1, 1, 2])  # that the indices name
        self.rest = rng.choice([(), (2,), (2, 3)])
        self.rank = rng.choice([1, 1, 1, 2])  # of the mask
        is_product = self.reduction == "mul"
        self.is_symbolic = rng.random() < 0.4 and not is_product
        self.count = (
            rng.choice([(3,), (9,), (1,)]) if self.rank == 1 else rng.choice([(2, 3), (1, 4)])
        )
        self.sizes = tuple(rng.choice([1, 2, 4]) for _ in range(self.axes))
        self.checks = rng.random() < 0.6  # whether the mask follows from the indices
        self.wraps = rng.random() < 0.3 and self.axes == 1
        self.reads_tuples = rng.random() < 0.3 or self.rank == 2
        self.function = rng.choice(["", "", "Neg", "Add", "Mul", "Div"])
        self.one = rng.random() < 0.15  # one number for all updates
        self.divides = self.function == "Div" and self.kind in _FLOATS  # by what is chosen

    @property
    def text(self) -> str:
        count = [f"M{d}" for d in range(self.rank)] if self.is_symbolic else self.count
        sizes = [f"P{d}" for d in range(self.axes)] if self.is_symbolic else self.sizes
        rest = list(map(str, self.rest))
        m, x = [list(map(str, d)) for d in (count, sizes)]
        types = {
            "x": (self.kind, [*x, *rest]),
            "i": ("int64", [*m, str(self.axes)]),
            "u": (self.kind, [*m, *rest]),
            "m": ("bool", m),
        }
        if self.checks:
            del types["m"]
        given = ", ".join(f"{k}[{','.join(d)}] {name}" for name, (k, d) in types.items())
        out = ",".join([*x, *rest])
        return f"""g ({given}) => ({self.kind}[{out}] y) {{
            {self._mask()}
            at = NonZero (m)
            {self._rows()}
            y = ScatterND <reduction = "{self.reduction}"> (x, kept, more) }}"""

    def _mask(self) -> str:
        lines = f"s = Shape (x)  n = Slice (s, [0], [{self.axes}])\n"
        if self.wraps:
            lines += "low = Less (i, 0)  moved = Add (i, n)  j = Where (low, moved, i)\n"
        else:
            lines += "j = Identity (i)\n"
        if self.checks:
            lines += f"""over = GreaterOrEqual (j, 0)  under = Less (j, n)  both = And (over, under)
                held = Cast <to = 7> (both)  least = ReduceMin <keepdims = 0> (held, [{self.rank}])
                m = Cast <to = 9> (least)\n"""
        return lines

    def _rows(self) -> str:
        if self.reads_tuples:
            lines = """places = Transpose (at)  kept = GatherND (j, places)
                read = GatherND (u, places)\n"""
        else:
            lines = """flat = Squeeze (at, [0])  kept = Gather <axis = 0> (j, flat)
                read = Gather <axis = 0> (u, flat)\n"""
        number = f"{self.kind} {'2' if self.kind.startswith('int') else '2.0'}"
        if self.one:
            return lines + f"more = Expand ({number}, Shape (read))"
        if self.function in ("", "Neg"):
            return lines + f"more = {self.function or 'Identity'} (read)"
        operands = f"{number}, read" if self.divides else f"read, {number}"
        return lines + f"more = {self.function} ({operands})"

    def feeds(self) -> list[Mapping[str, Any]]:
        draw = np.random.default_rng(self.rng.randrange(2**32))
        found: list[Mapping[str, Any]] = []
        for share in (0.0, 1.0, 0.6, 0.6, 0.8):
            sizes = tuple(draw.integers(1, 5, self.axes)) if self.is_symbolic else self.sizes
            count = tuple(draw.integers(0, 7, self.rank)) if self.is_symbolic else self.count
            m = draw.random(count) < share
            good = draw.integers([-n * (not self.checks or self.wraps) for n in sizes], sizes,
                (*count, self.axes))  # fmt: skip
            bad = draw.choice([*ENDS, *sizes, -sizes[0] - 1], (*count, self.axes))
            u = sample(_numpy(self.kind), *count, *self.rest, seed=9 + len(found))
            if self.divides and self.kind not in _FLOATS:  # 0 ends the run, if it is chosen
                u = np.where(m.reshape(*count, *[1] * len(self.rest)), u | 1, 0)
            feed = {
                "x": sample(_numpy(self.kind), *sizes, *self.rest, seed=len(found)),
                "i": np.where(m[..., None], good, bad),
                "u": u,
            }
            found.append(feed if self.checks else {**feed, "m": m})
        return found


def _numpy(kind: str) -> str:
    return {"float": "float32", "double": "float64"}.get(kind, kind)


def compare(drawn: Drawn, target: str) -> onnx.ModelProto:
    model = parse(drawn.text)
    pair = Pair(model, result := optimize(model, target))
    for feed in drawn.feeds():
        assert pair.accepts(feed), "the original rejects a feed"
    return result


@pytest.mark.sampled(4)
@pytest.mark.parametrize("part", range(8))
def test_random_writes(part: int) -> None:
    """All of what is drawn is written without the choice."""
    for seed in range(scaled(40)):
        drawn = Drawn(8 * seed + part)
        result = compare(drawn, TARGETS[0])
        assert scatters(result) == 0, drawn.text
        left = {node.op_type for node in nodes(result)}
        assert left.isdisjoint({"NonZero", "GatherND"}), drawn.text


@pytest.mark.parametrize("seed", range(4))
def test_an_integer_that_is_not_chosen_divides_nothing(seed: int) -> None:
    drawn = Drawn(seed)
    drawn.kind, drawn.rest, drawn.function = "int64", ((), (2,), (2, 3))[seed % 3], "Div"
    drawn.divides, drawn.checks, drawn.one = True, False, False
    assert scatters(compare(drawn, TARGETS[0])) == 0


def test_nothing_is_chosen_along_an_empty_axis() -> None:
    """So an index that is out of bounds is read at no row, however many there are."""
    model = parse("""g (float[N,M] x, bool[N,M] m, int64[N] i, float[5] table) => (float[N,M] y) {
        nz = NonZero (m)  rows = Gather (nz, 0)  u = Gather (table, Gather (i, rows))
        y = ScatterND (x, Transpose (nz), u) }""")
    pair = Pair(model, result := optimize(model, "standard"))
    assert scatters(result) == 0
    table, far = np.arange(5, dtype=np.float32), np.array([1, 2**62, -(2**63)])
    for count in (0, 1, 3):
        m = np.zeros((3, count), bool)
        m[0] = True
        x = sample("float32", 3, count)
        assert pair.accepts({"x": x, "m": m, "i": far, "table": table})


@pytest.mark.parametrize("kind", ["int64", "int32", "double"])
def test_one_of_two_choices_keeps_all_bits(kind: str) -> None:
    """ONNX Runtime adds int64 as doubles."""
    model = parse(f"""g ({kind}[N,2] x, float[N,3] s, {kind}[N,2,2] v) => ({kind}[N,2] y) {{
        best, top = TopK <axis = 1> (s, [2])  nz = NonZero (Equal (top, 1))
        rows = Unsqueeze (Gather (nz, 0), [1])  u = GatherND (v, Transpose (nz))
        y = ScatterND (x, rows, u) }}""")
    pair = Pair(model, result := optimize(model, "standard"))
    assert scatters(result) == 0
    draw = np.random.default_rng(0)
    ends = np.array([2**53 + 1, -(2**62) - 1, 2**63 - 1, -(2**63), 7])
    for rows in (0, 1, 9):
        v = draw.choice(ends, (rows, 2, 2)).astype(_numpy(kind))
        s = draw.random((rows, 3), np.float32)
        assert pair.accepts({"x": np.zeros((rows, 2), v.dtype), "s": s, "v": v})


def test_rows_that_are_expanded_where_a_size_is_one() -> None:
    """The rows have S elements, which are expanded to 2 if S is 1."""
    model = parse("""g (float[S,2,2] x, float[2,2,S] v, bool[2] m) => (float[S,2,2] y) {
        u = GatherND (v, Transpose (NonZero (m)))
        all = Expand (Unsqueeze (m, [1, 2]), Shape (x))
        count = ReduceSum <keepdims = 1> (Cast <to = 7> (m))
        more = Reshape (Expand (u, Concat <axis = 0> (count, [2, 2])), [-1])
        y = ScatterND (x, Transpose (NonZero (all)), more) }""")
    pair = Pair(model, result := optimize(model, "standard"))
    assert scatters(result) == 0
    for size in (1, 2):
        x, v = sample("float32", size, 2, 2), sample("float32", 2, 2, size, seed=1)
        for m in ([True, False], [False, False], [True, True]):
            assert pair.accepts({"x": x, "v": v, "m": np.array(m)}) or (size, m[1]) == (1, True)

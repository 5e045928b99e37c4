"""Facts from shapes: requested sizes, blocks of a dim, bounded counts, Resize."""

import numpy as np
import pytest

from onnx_scatterx.targets.target import Target
from tests.helpers.pair import Feed
from tests.helpers.support import assert_sound, i64, nodes, optimize, parse

DENSE = Target("dense", dense_limit=1 << 40)

# The two parts of an order, one after the other, are that order where there are 3 elements.
PARTS = """g (float[B,N] x, float[B,N] u) => (float[B,M] y) <float none = {0.0}> {
    s = Shape (x)
    b = Slice (s, [0], [1])
    n = Slice (s, [1], [2])
    v, i = TopK <axis = 1> (x, n)
    j = Concat <axis = 1> (Slice (i, [0], [3], [1]), Slice (i, [3], [MAX], [1]))
    t = Concat <axis = 0> (b, Sub (n, [3]))
    zeros = MADE
    y = ScatterElements <axis = 1> (Concat <axis = 1> (Slice (u, [0], [3], [1]), zeros), j, u) }"""


@pytest.mark.parametrize("made", ["ConstantOfShape (t)", "Expand (none, t)"])
def test_no_size_that_is_asked_for_is_negative(made: str) -> None:
    rng = np.random.default_rng(0)
    shapes = [(b, n) for b in (1, 2) for n in (2, 3, 4, 12)]
    feeds = ({"x": rng.permutation(b * n).reshape(b, n)} for b, n in shapes)
    assert_sound(PARTS.replace("MADE", made), *feeds, left=0, rejected=2)


# Of two groups of G + G rows the second halves: G + i + G (i // G).
BLOCKS = """g (float[R,2] x, float[G] g, float[T,2] u) => (float[R,2] y)
    <int64[MANY,1] groups = {GROUPS}> {
    n = Size (g)
    t = Add (Add (Range (0, n, 1), Mul (groups, n)), n)
    y = ScatterND (x, Unsqueeze (Reshape (t, [-1]), [-1]), u) }"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("many", [2, 3, 4])
def test_blocks_of_unknown_length(many: int) -> None:
    groups = ", ".join(str(2 * i) for i in range(many))
    model = BLOCKS.replace("GROUPS", groups).replace("MANY", str(many))
    feeds = [
        {"R": 2 * many * n + more, "G": n, "T": many * n}
        for n in (0, 1, 4)
        for more in (0, 1)
        if n + more
    ]
    assert_sound(model, *feeds, left=0)


def test_many_blocks_stay() -> None:
    groups = ", ".join(str(2 * i) for i in range(5))
    model = BLOCKS.replace("GROUPS", groups).replace("MANY", "5")
    assert_sound(model, {"R": 20, "G": 2, "T": 10}, left=1)


BOUNDED = """g (float[N] x, float[P] d, float[K] u) => (float[P] y) {
    n = Shape (x)
    v, i = TopK <axis = 0> (x, n)
    y = ScatterND (d, Unsqueeze (Slice (i, [0], [MOST], [0]), [-1]), u) }"""


@pytest.mark.parametrize(("most", "sorts"), [(2, 0), (8, 0), (9, 2)])
def test_a_few_at_most_are_looked_up(most: int, sorts: int) -> None:
    rng = np.random.default_rng(0)
    feeds = [{"x": rng.permutation(n), "P": 12, "K": min(n, most)} for n in (0, 1, 2, 5, 12)]
    model = BOUNDED.replace("MOST", str(most))
    assert_sound(model, *feeds, left=0, target=DENSE)
    made = optimize(parse(model), DENSE)
    assert [n.op_type for n in nodes(made)].count("TopK") == 1 + sorts


# All rows of what was resized to 4 rows.
RESIZED = """g (float[B,Q,H,W] x, float[4,B,Q,3] u) => (float[B,Q,R,S] y)
    <int64[2] four = {4, 3}, int64[2] other = {3, 4}, int64[1] zero = {0}, int64[1] two = {2},
     int64[4,1] rows = {0, 1, 2, 3}> {
    s = Shape (x)
    bq = Slice (s, zero, two)
    all = Concat <axis = 0> (bq, four)
    z = Resize <mode = "nearest" AXES> (x,,, ASKED)
    t = Transpose <perm = [2, 0, 1, 3]> (z)
    w = ScatterND (t, rows, u)
    y = Transpose <perm = [1, 2, 0, 3]> (w) }"""


def _resized(*sizes: int) -> Feed:
    return dict(zip("BQHW", sizes, strict=True))


@pytest.mark.parametrize(
    ("asked", "axes"), [("all", ""), ("four", ", axes = [2, 3]"), ("other", ", axes = [-1, 2]")]
)
def test_resize_gives_the_sizes_asked_for(asked: str, axes: str) -> None:
    model = RESIZED.replace("ASKED", asked).replace(" AXES", axes)
    assert_sound(model, _resized(1, 2, 3, 5), _resized(2, 1, 7, 1), left=0)
    made = [n.op_type for n in optimize(parse(model)).graph.node]
    assert "Resize" not in made
    assert made.count("Transpose") == 1


def test_resize_that_keeps_the_ratio_gives_other_sizes() -> None:
    axes = ', axes = [2, 3], keep_aspect_ratio_policy = "not_smaller"'
    model = RESIZED.replace("ASKED", "four").replace(" AXES", axes)
    assert_sound(model, _resized(1, 2, 8, 6), _resized(1, 2, 10, 5), rejected=0)
    assert "Resize" in {n.op_type for n in optimize(parse(model)).graph.node}


def test_updates_whose_rank_only_the_scatter_tells() -> None:
    model = """g (float[5,3] x, float[1,3] v, int64[R] dims) => (float[5,3] y)
        { u = Expand (v, dims) y = ScatterND (x, [[1], [3]], u) }"""
    assert_sound(model, {"dims": i64([2, 3])}, left=0)


@pytest.mark.parametrize("rows", [1, 3])
def test_indices_that_are_part_of_a_longer_tensor(rows: int) -> None:
    # One index per row, the first of five: the five would not broadcast, or would make five rows.
    model = f"""g (float[{rows},4] x, float[{rows},1] u, int64[5] k) => (float[{rows},4] y)
        <int64[1] end = {{{rows}}}> {{
            y = ScatterElements <axis = 1> (x, Unsqueeze (Slice (k, [0], end), [1]), u) }}"""
    assert_sound(model, {"k": [0, 3, -1, 2, 1]})

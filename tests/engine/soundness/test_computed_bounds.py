"""Slices of which the model computes the bounds, whatever their sign: they are cut as they are."""

import pytest

from tests.helpers.support import assert_sound, optimize, parse, sample

SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 40)

# out[n // 2 - 2 : n // 2 + 2] = 1, where n may be less than 4: the start counts from the end then.
MIDDLE = """g (float[N] x) => (float[N] y)
    <int64 c0 = {{0}}, int64 c1 = {{1}}, int64 c2 = {{2}}, int64[1] minus = {{-1}},
     float one = {{1}}, float zero = {{0}}> {{
    s = Shape (x)
    n = Squeeze (s)
    h = Div (n, c2)
    low = Sub (h, c2)
    high = Add (h, c2)
    a = Reshape (low, minus)
    b = Reshape (high, minus)
    out = {zeros}
    r = Range (c0, n, c1)
    rows = Slice (r, a, b)
    idx = Unsqueeze (rows, minus)
    k = Shape (rows)
    u = Expand (one, k)
    w = ScatterND (out, idx, u)
    y = Add (w, x) }}"""


@pytest.mark.parametrize("zeros", ["ConstantOfShape (s)", "Expand (zero, s)", "Identity (x)"])
def test_the_middle(zeros: str) -> None:
    model = MIDDLE.format(zeros=zeros)
    assert_sound(model, *({"x": sample("float32", n)} for n in SIZES), left=0)
    before, after = parse(model).graph.node, optimize(parse(model)).graph.node
    # Two slices and a Concat for the scatter and what its indices alone needed.
    assert len(after) <= len(before) + 1, [n.op_type for n in after]


# out[t : t + h] = u with t = (8 - h) // 2, rounded towards zero.
PASTE = """g (float[8] x, float[H] u) => (float[8] y) {
    h = Squeeze (Shape (u))
    t = Div (Sub (8, h), 2)
    e = Add (t, h)
    a = Reshape (t, [-1])
    b = Reshape (e, [-1])
    idx = Unsqueeze (Slice (Range (0, 8, 1), a, b), [-1])
    y = ScatterND (x, idx, u) }"""


def test_pasted_into_the_middle() -> None:
    assert_sound(PASTE, *({"H": h} for h in range(12)), left=0, rejected=3)
    found = sorted(n.op_type for n in optimize(parse(PASTE)).graph.node)
    assert found.count("Slice") == 2, found
    assert len(found) <= 10, found


def test_bounds_that_are_other_numbers_of_the_same_size() -> None:
    # Beside the bounds there are numbers of N that are no bounds of these slices.
    model = """g (float[N] x, float[M] u) => (float[N] y, int64 p, int64 q) {
        n = Squeeze (Shape (x))
        h = Div (n, 2)
        p = Sub (h, 2)
        q = Sub (n, 3)
        b = Reshape (Add (h, 1), [-1])
        rows = Slice (Range (0, n, 1), Reshape (Sub (h, 3), [-1]), b)
        y = ScatterND (x, Unsqueeze (rows, [-1]), Expand (u, Shape (rows))) }"""
    assert_sound(model, *({"N": n, "M": 1} for n in SIZES), left=0)


BEHIND = "Range (0, Squeeze (low), 1)"
BEFORE = f"Slice (Range (0, Squeeze (Shape (all)), 1), Shape ({BEHIND}), [MAX])"


@pytest.mark.parametrize(("rows", "behind"), [(BEHIND, False), (BEFORE, True)])
def test_a_number_that_is_the_bound_only_if_it_does_not_count_from_the_end(
    rows: str, behind: bool
) -> None:
    """The bound is max(p, 0), so a p that may be negative cannot stand for it."""
    model = f"""g (float[N] x, float[K] v, float[C] u) => (float[M] y, int64[1] p) {{
        low = Sub (Shape (x), [3])
        p = Sub (low, Max (Neg (low), [0]))
        all = Concat <axis = 0> (x, v)
        y = ScatterND (all, Unsqueeze ({rows}, [-1]), u) }}"""
    sizes = [(n, k, max(n - 3, 0)) for n in range(6) for k in range(3)]
    feeds = ({"N": n, "K": k, "C": n + k - low if behind else low} for n, k, low in sizes)
    assert_sound(model, *feeds, left=0)

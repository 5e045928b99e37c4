"""Indices computed from sizes: right at every size, those included at which a slice clamps.

Each case computes rows `r` of `x`, whose first size is `n`, from the model's own arithmetic. The
updates are numbered, so that one in a wrong place, or a wrong one of two, is found.
"""

import pytest

from tests.helpers.support import assert_sound

CONSTANTS = """int64 m3 = {-3}, int64 m1 = {-1}, int64 c0 = {0}, int64 c1 = {1}, int64 c2 = {2},
    int64 c3 = {3}, int64 c5 = {5}, int64[1] v0 = {0}, int64[1] v1 = {1}, int64[1] v2 = {2},
    int64[1] vm1 = {-1}, int64[2] v12 = {1, 2}, int64[2] vm11 = {-1, 1}, int64[2] v01 = {0, 1}"""
ALL = "all = Range (c0, n, c1)"
SIZES = (1, 2, 3, 4, 5, 8, 100)

# Rows that the original accepts at the sizes beside them.
CHAINS = {
    "everything": ("r = Range (c0, n, c1)", SIZES),
    "everything twice": (f"{ALL} r = Concat <axis = 0> (all, all)", SIZES),
    "backwards": ("a = Sub (n, c1) r = Range (a, m1, m1)", SIZES),
    "every other": ("r = Range (c0, n, c2)", SIZES),
    "none": ("r = Range (n, n, c1)", SIZES),
    "none, the wrong way": ("r = Range (n, c0, c1)", SIZES),
    "the last": ("a = Sub (n, c1) r = Reshape (a, v1)", SIZES),
    "the first and the last": (  # one row if there is one
        "a = Sub (n, c1) l = Reshape (a, v1) r = Concat <axis = 0> (v0, l)",
        SIZES,
    ),
    "the first half": ("h = Div (n, c2) r = Range (c0, h, c1)", SIZES),
    "the second half": ("h = Div (n, c2) r = Range (h, n, c1)", SIZES),
    "both halves, swapped": (
        """h = Div (n, c2) a = Range (h, n, c1) b = Range (c0, h, c1)
        r = Concat <axis = 0> (a, b)""",
        SIZES,
    ),
    "up to five": ("e = Min (n, c5) r = Range (c0, e, c1)", SIZES),
    "from the third at most": ("b = Min (n, c2) r = Range (b, n, c1)", SIZES),
    "negative": ("a = Neg (n) r = Range (a, c0, c1)", SIZES),
    "negative and positive": (  # -1, 0: row 0 twice where it is the only one
        "r = Range (m1, c1, c1)",
        SIZES,
    ),
    "wrapping": ("e = Sub (n, c1) r = Range (m1, e, c1)", SIZES),
    "too many, wrapping": ("a = Neg (n) r = Range (a, n, c1)", SIZES),
    "modulo": (f"{ALL} t = Add (all, c3) r = Mod (t, n)", SIZES),
    "modulo of negatives": (f"{ALL} t = Sub (all, c5) r = Mod (t, n)", SIZES),
    "modulo as C has it": (f"{ALL} t = Sub (all, c5) r = Mod <fmod = 1> (t, n)", SIZES),
    "modulo a constant": (f"{ALL} r = Mod (all, c3)", SIZES),
    "halved": (f"{ALL} r = Div (all, c2)", SIZES),
    "division that truncates": (
        "a = Sub (n, c5) b = Div (a, c2) r = Reshape (b, v1)",
        (2, 3, 4, 5, 8),
    ),
    "division by a negative": ("b = Div (n, m3) r = Reshape (b, v1)", SIZES),
    "clipped": (f"{ALL} t = Add (all, c2) e = Sub (n, c1) r = Min (t, e)", SIZES),
    "clipped at both ends": (f"{ALL} t = Sub (all, c1) r = Clip (t, c0, c3)", (4, 5, 8)),
    "mirrored": (f"{ALL} e = Sub (n, c1) r = Sub (e, all)", SIZES),
    "distances": (f"{ALL} h = Div (n, c2) t = Sub (all, h) r = Abs (t)", SIZES),
    "counted": ("s = Reshape (n, v1) o = Expand (c1, s) q = CumSum (o, c0) r = Sub (q, c1)", SIZES),
    "where something is true": (
        "s = Reshape (n, v1) o = Expand (c1, s) z = NonZero (o) r = Squeeze (z, v0)",
        SIZES,
    ),
    "where something compares": (
        f"{ALL} t = Less (all, c3) z = NonZero (t) r = Squeeze (z, v0)",
        SIZES,
    ),
    "negatives made positive": (
        f"{ALL} t = Sub (all, c1) w = Less (t, c0) p = Add (t, n) r = Where (w, p, t)",
        SIZES,
    ),
    "chosen by position": (
        f"{ALL} w = Greater (all, c2) e = Sub (n, c1) p = Sub (e, all) r = Where (w, p, all)",
        SIZES,
    ),
    "reversed from a position on": (
        f"{ALL} w = Greater (all, c2) e = Add (n, c2) p = Sub (e, all) r = Where (w, p, all)",
        SIZES,
    ),
    "int32 that wraps": (  # n = 2, 3, 4, 5 give -2, -1, 0, 1
        """h = Cast <to = 6> (n) k = Constant <value = int32 {1073741824}> ()
        t = Mul (h, k) d = Div (t, k) w = Cast <to = 7> (d) r = Reshape (w, v1)""",
        (2, 3, 4, 5),
    ),
    "a cast to int32 that wraps": (
        """k = Constant <value = int64 {4294967296}> () t = Add (n, k) d = Cast <to = 6> (t)
        w = Cast <to = 7> (d) e = Sub (w, c1) r = Reshape (e, v1)""",
        SIZES,
    ),
    "a cast to uint8 that wraps": (
        """k = Constant <value = int64 {256}> () t = Mul (n, k) d = Cast <to = 2> (t)
        w = Cast <to = 7> (d) r = Reshape (w, v1)""",
        SIZES,
    ),
    "floats": (f"{ALL} f = Cast <to = 1> (all) r = Cast <to = 7> (f)", SIZES),
    "floats that round": (  # n + 2^24 is even: 1 becomes 0, 3 becomes 4
        """k = Constant <value = int64 {16777216}> () t = Add (n, k) f = Cast <to = 1> (t)
        w = Cast <to = 7> (f) d = Sub (w, k) e = Sub (d, c1) r = Reshape (e, v1)""",
        (1, 2, 4, 5, 8),
    ),
    "floats that are cut": (
        """f = Cast <to = 1> (n) k = Constant <value = float {-0.4}> () t = Mul (f, k)
        w = Cast <to = 7> (t) r = Reshape (w, v1)""",
        SIZES,
    ),
    "floats rounded up": (
        """f = Cast <to = 1> (n) k = Constant <value = float {2.0}> () t = Div (f, k)
        u0 = Ceil (t) w = Cast <to = 7> (u0) r = Range (c0, w, c1)""",
        SIZES,
    ),
    "a bool as a number": (
        "t = Greater (n, c2) w = Cast <to = 7> (t) r = Reshape (w, v1)",
        (3, 4, 8),
    ),
    "reshaped with a copied size": (f"{ALL} r = Reshape (all, v0)", SIZES),
    "reshaped by its size": (
        f"{ALL} s = Reshape (n, v1) r = Reshape <allowzero = 1> (all, s)",
        SIZES,
    ),
    "transposed pairs": (
        f"""{ALL} a = Reshape (all, vm11) b = Concat <axis = 1> (a, a)
        t = Transpose <perm = [1, 0]> (b) r = Reshape (t, vm1)""",
        SIZES,
    ),
    "tiled": (f"{ALL} r = Tile (all, v2)", SIZES),
    "gathered backwards": (f"{ALL} e = Sub (n, c1) q = Sub (e, all) r = Gather (all, q)", SIZES),
    "the first two gathered": (f"{ALL} r = Gather (all, v01)", (2, 3, 5, 8)),
    "split": (
        f"{ALL} a, b = Split <num_outputs = 2> (all) r = Concat <axis = 0> (b, a)",
        (2, 3, 4, 5, 8),
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("op", ["ScatterND", "ScatterElements"])
def test_rows(op: str, name: str) -> None:
    chain, sizes = CHAINS[name]
    scatter = "y = ScatterND (x, i, u)"
    if op == "ScatterElements":
        scatter = "like = Shape (u) j = Expand (i, like) y = ScatterElements <axis = 0> (x, j, u)"
    model = f"""g (float[N,2] x) => (float[N,2] y) <{CONSTANTS}> {{
        n = Squeeze (Shape <end = 1> (x))
        {chain}
        column = Unsqueeze (Range (c0, Size (r), c1), vm1)
        u = Cast <to = 1> (Tile (column, v12))
        i = Unsqueeze (r, vm1)
        {scatter} }}"""
    assert_sound(model, *({"N": n} for n in sizes))


@pytest.mark.parametrize("op", ["Min", "Max"])
def test_the_least_and_the_greatest_of_one_number(op: str) -> None:
    model = f"""g (float[N,3] x, float[2,3] u) => (float[N,3] y) {{
        first = Constant <value_ints = [1]> ()
        i = {op} (first)
        rows = Add (i, Constant <value_ints = [0, 1]> ())
        y = ScatterND (x, Unsqueeze (rows, Constant <value_ints = [-1]> ()), u) }}"""
    assert_sound(model, *({"N": n} for n in (3, 5)), left=0)

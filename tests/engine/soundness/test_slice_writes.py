"""Slice assignments as exporters write them, at sizes at which slices clamp to nothing."""

import pytest

from tests.helpers.rules import rows, sizes
from tests.helpers.support import assert_sound, parse

SLICES = {
    "[1:-1]": (1, -1, 1),
    "[:2]": (0, 2, 1),
    "[2:]": (2, 2**63 - 1, 1),
    "[-3:]": (-3, 2**63 - 1, 1),
    "[-3:-1]": (-3, -1, 1),
    "[3:-3]": (3, -3, 1),
    "[5:2]": (5, 2, 1),
    "[::2]": (0, 2**63 - 1, 2),
    "[1::2]": (1, 2**63 - 1, 2),
    "[2:-1:3]": (2, -1, 3),
    "[::-1]": (-1, -(2**63 - 1), -1),
    "[-2:0:-1]": (-2, 0, -1),
    "[::-2]": (2**63 - 1, -(2**63 - 1), -2),
    "[:]": (-(2**63 - 1), 2**63 - 1, 1),
}
SIZES = (1, 2, 3, 4, 5, 8, 100)
ZERO = (
    "int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}, int64[1] v0 = {0}, int64[1] v1 = {1}"
)


def constants(name: str) -> str:
    start, end, step = SLICES[name]
    cut = {"start": start, "end": end, "step": step}
    return ", ".join([ZERO, *(f"int64[1] {name} = {{{value}}}" for name, value in cut.items())])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SLICES)
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_between_transposes(opset: int, name: str) -> None:
    # dynamo: x[:, slice] = -2 * x[:, slice], on no rows as well.
    unsqueeze = "Unsqueeze <axes = [-1]> (r)" if opset < 13 else "Unsqueeze (r, last)"
    model = parse(
        f"""g (float[B,N] x) => (float[B,N] y) <{constants(name)}> {{
            all = Range (zero, Gather <axis = 0> (Shape (x), one), one)
            r = Slice (all, start, end, v0, step)
            i = {unsqueeze}
            minus = Neg (Slice (x, start, end, v1, step))
            u = Add (minus, minus)
            z = ScatterND (Transpose <perm = [1, 0]> (x), i, Transpose <perm = [1, 0]> (u))
            y = Transpose <perm = [1, 0]> (z) }}""",
        opset,
    )
    shapes = [(2, n) for n in SIZES] + [(0, 3), (1, 1)]
    assert_sound(model, *({"B": b, "N": n} for b, n in shapes))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", SLICES)
def test_with_one_column_per_axis(name: str) -> None:
    # TorchScript: the ranges of both axes, broadcast and put side by side.
    model = f"""g (float[B,N] x) => (float[B,N] y) <{constants(name)}> {{
        s = Shape (x)
        b = Gather <axis = 0> (s, zero)
        n = Gather <axis = 0> (s, one)
        rows = Range (zero, b, one)
        columns = Slice (Range (zero, n, one), start, end, v0, step)
        p = Reshape (rows, [-1, 1])
        shape = Shape (Add (p, columns))
        rank = Shape (shape)
        ones = ConstantOfShape <value = int64[1] {{1}}> (rank)
        target = Where (Equal (shape, Neg (ones)), ones, shape)
        e = Expand (p, target)
        f = Expand (columns, target)
        i = Concat <axis = -1> (Unsqueeze (e, last), Unsqueeze (f, last))
        u = Reshape (Neg (Slice (x, start, end, v1, step)), shape)
        y = ScatterND (x, i, u) }}"""
    shapes = [(2, n) for n in SIZES] + [(1, 1), (5, 3)]
    assert_sound(model, *({"B": b, "N": n} for b, n in shapes))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("inner", ["[1:-1]", "[2:]", "[::2]", "[-2:0:-1]"])
@pytest.mark.parametrize("outer", ["[1:-1]", "[-3:]", "[1::2]"])
def test_on_two_axes(outer: str, inner: str) -> None:
    # dynamo: the inner axis is written into a slice, the slice is written back.
    (a, b, c), (d, e, f) = SLICES[outer], SLICES[inner]
    model = f"""g (float[N,M] x) => (float[N,M] y)
        <{ZERO}, int64[1] a = {{{a}}}, int64[1] b = {{{b}}}, int64[1] c = {{{c}}},
         int64[1] d = {{{d}}}, int64[1] e = {{{e}}}, int64[1] f = {{{f}}}> {{
            view = Slice (x, a, b, v0, c)
            u = Neg (Slice (view, d, e, v1, f))
            columns = Range (zero, Gather <axis = 0> (Shape (view), one), one)
            j = Unsqueeze (Slice (columns, d, e, v0, f), last)
            z = ScatterND (Transpose <perm = [1, 0]> (view), j, Transpose <perm = [1, 0]> (u))
            back = Transpose <perm = [1, 0]> (z)
            rows = Range (zero, Gather <axis = 0> (Shape (x), zero), one)
            y = ScatterND (x, Unsqueeze (Slice (rows, a, b, v0, c), last), back) }}"""
    assert_sound(model, *sizes(N=(1, 2, 5), M=(1, 2, 6)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("end", [-3, -1, 0, 1, 2, 4, 9])
def test_an_end_that_is_fed(end: int) -> None:
    # x[:end] = -x[:end]: negative, beyond the end, nothing.
    model = f"""g (float[N,2] x, int64[1] end) => (float[N,2] y) <{ZERO}> {{
        all = Range (zero, Squeeze (Shape <end = 1> (x)), one)
        i = Unsqueeze (Slice (all, v0, end), last)
        y = ScatterND (x, i, Neg (Slice (x, v0, end))) }}"""
    assert_sound(model, *({"N": n, "end": [end]} for n in (1, 2, 4, 6)))


@pytest.mark.parametrize("start", [-5, -3, -1, 0, 1, 3])
def test_a_start_that_is_fed(start: int) -> None:
    # Two rows from start on; a negative start counts from the end, and -1 wraps to row 0.
    model = f"""g (float[N,2] x, float[2,2] u, int64 at) => (float[N,2] y) <{ZERO}> {{
            y = ScatterND (x, Unsqueeze (Add (at, [0, 1]), last), u) }}"""
    assert_sound(model, *({"N": n, "at": start} for n in (5, 6, 9)))


@pytest.mark.parametrize("at", [-4, -1, 0, 2])
def test_an_index_made_positive(at: int) -> None:
    # Where(at < 0, at + n, at), as PyTorch normalizes.
    model = f"""g (float[N,2] x, float[1,2] u, int64[1] at) => (float[N,2] y) <{ZERO}> {{
        n = Shape <end = 1> (x)
        i = Unsqueeze (Where (Less (at, v0), Add (at, n), at), last)
        y = ScatterND (x, i, u) }}"""
    assert_sound(model, *({"N": n, "at": [at]} for n in (4, 5)))


def test_a_size_of_zero_copies_a_size() -> None:
    # Reshape takes 0 for "as before": with K = 0 there are N rows, and nothing covers them.
    model = f"""g (float[N,2] x, float[K,2] u) => (float[R,2] y) {{
        {rows("i", "u")}
        y = ScatterND (Reshape (x, Concat <axis = 0> (i_s, [2])), i, u) }}"""
    assert_sound(model, *({"N": n, "K": k} for n, k in ((3, 0), (3, 3), (1, 1), (1, 0))))


def test_a_size_of_zero_is_a_size_if_allowed() -> None:
    model = f"""g (float[N,2] x, float[K,2] u) => (float[R,2] y) {{
        {rows("i", "u")}
        both = Concat <axis = 0> (Reshape <allowzero = 1> (x, Concat <axis = 0> (i_s, [2])), u)
        y = ScatterND (both, i, u) }}"""
    assert_sound(model, *({"N": n, "K": n} for n in (1, 2, 5)))


def test_rows_of_a_flattened_grid() -> None:
    # The first column of an image of H rows and W columns, flattened: 0, W, 2 W, ...
    model = f"""g (float[H,W,2] x) => (float[F,2] y) <{ZERO}> {{
        s = Shape (x)
        h = Gather (s, zero)
        w = Gather (s, one)
        hw = Mul (h, w)
        t = Reshape (x, [-1, 2])
        r = Range (zero, hw, w)
        y = ScatterND (t, Unsqueeze (r, last), Neg (Gather <axis = 0> (t, r))) }}"""
    shapes = [(1, 1), (1, 4), (4, 1), (3, 5)]
    assert_sound(model, *({"H": h, "W": w} for h, w in shapes))


def test_updates_that_broadcast_where_their_size_is_one() -> None:
    model = f"""g (float[N,2] x, float[K,2] v) => (float[N,2] y) {{
        u = Expand (v, Shape (x))
        {rows("i", "x")}
        y = ScatterND (x, i, u) }}"""
    assert_sound(model, *({"N": n, "K": k} for n, k in ((1, 1), (4, 1), (4, 4))))


def test_updates_that_broadcast_over_data() -> None:
    # The target shape of Expand is a minimum only: u has max(N, K) rows and r has to follow.
    model = f"""g (float[N,2] x, float[K,2] v) => (float[R,2] y) {{
        x2 = Add (x, Expand (v, Shape (x)))
        {rows("i", "v")}
        y = ScatterND (x2, i, v) }}"""
    assert_sound(model, *({"N": n, "K": k} for n, k in ((1, 1), (1, 4), (4, 1), (4, 4))))


@pytest.mark.parametrize("axis", ["0", "1", "-1"])
def test_one_row_by_number(axis: str) -> None:
    # dynamo's x.select(axis, -1)[...] = u: ScatterElements with an expanded number.
    place = int(axis) % 2
    model = f"""g (float[N,M] x) => (float[N,M] y) <{ZERO}> {{
        u = Neg (Gather <axis: int = {axis}> (x, last))
        y = ScatterElements <axis: int = {axis}> (x, Expand (-1, Shape (u)), u) }}"""
    shapes = [(1, 1), (3, 4), (4, 1), (0, 3) if place else (3, 0)]
    assert_sound(model, *({"N": n, "M": m} for n, m in shapes))


@pytest.mark.parametrize("end", [2**63 - 1, 2**31 - 1, -(2**63 - 1)])
def test_ends_that_shape_inference_takes_for_others(end: int) -> None:
    """Behind a step back, ONNX Runtime takes the largest ends for the first element.

    ONNX's shape inference takes them for the last one: it says that nothing is left of the axis.
    """
    model = f"""g (float[B, 8] x, float[8] sin) => (float[B, 8] y) <int64[1] end = {{{end}}}> {{
        u = Slice (x, [0], end, [1], [-3])
        shape = Shape (x) empty = Expand (float 0, shape)
        t = Transpose <perm = [1, 0]> (empty) v = Transpose <perm = [1, 0]> (u)
        s = ScatterND (t, [[0]], v)
        y = Mul (Transpose <perm = [1, 0]> (s), sin) }}"""
    feed = {"B": 2}
    assert_sound(model, feed, left=int(end > 0))
    assert_sound(model, feed, target="scatterx", left=int(end > 0))

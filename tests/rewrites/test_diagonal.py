"""diagonal: a write along a diagonal of two axes is a comparison of their positions and a Where."""

from collections.abc import Iterator

import pytest

from onnx_scatterx import Reason
from tests.helpers.rules import Case, Refuses, assert_sound_at, each, row, sizes


def diagonal(a: int, b: int, *, less: int | None = None, reduction: str = "none") -> str:
    """Return a write of N - ``less`` updates from (a, b) on, as many as fit if not given."""
    return f"""g (float[N,N,C] x, float[K,C] u) => (float[N,N,C] y)
    <int64 zero = {{0}}, int64 one = {{1}}, int64[1] last = {{-1}}, int64 a = {{{a}}},
     int64 b = {{{b}}}, int64 less = {{{max(a, b) if less is None else less}}}> {{
        s = Shape <end = 1> (x)
        n = Squeeze (s)
        some = Sub (n, less)
        k = Max (some, zero)
        r = Range (zero, k, one)
        rows = Add (r, a)
        columns = Add (r, b)
        i = Unsqueeze (rows, last)
        j = Unsqueeze (columns, last)
        ij = Concat <axis = -1> (i, j)
        y = ScatterND <reduction = "{reduction}"> (x, ij, u) }}"""


def feeds(less: int) -> Iterator[dict[str, int]]:
    """Return sizes for which ``less`` of the positions are left out."""
    return ({"N": n, "K": max(n - less, 0), "C": c} for n in (0, 1, 2, 3, 5) for c in (0, 1, 2))


OTHER = """g (float[N,N,{axis}] x, float[N,{width}] u, int64 p) => (float[N,N,{axis}] y)
    <int64 zero = {{0}}, int64 one = {{1}}, int64[1] last = {{-1}}, int64[2] twice = {{1, 2}}> {{
        s = Shape <end = 1> (x)
        us = Shape (u)
        ws = Shape <start = 1> (u)
        n = Squeeze (s)
        w = Squeeze (ws)
        r = Range (zero, n, one)
        row = Unsqueeze (r, last)
        column = Range (zero, w, one)
        third = {third}
        i = Expand (row, us)
        k = Expand (third, us)
        ii = Unsqueeze (i, last)
        kk = Unsqueeze (k, last)
        ij = Concat <axis = -1> (ii, ii, kk)
        y = ScatterND (x, ij, u) }}"""


OLD = """g (float[4,4] x, float[1,3] u) => (float[4,4] y) <int64[1,3] i = {1, 2, 3}>
    { y = ScatterElements <axis = 0> (x, i, u) }"""


GOLDEN = {
    "the main diagonal": row(*feeds(0)),
    "a diagonal beside it": row(*feeds(1)),
    "a diagonal that starts inside": row(*feeds(2)),
    "a number on a part of a diagonal": row(*feeds(2)),
    "numbers that are added": row(*feeds(0)),
    "axes of other sizes": row(*({"N": n, "M": n + more} for n in (0, 1, 3) for more in (0, 2))),
    # Behind the updates there is nothing that they could be aligned with.
    "a part in one piece": row(*feeds(2)),
    "a third axis of one position": row(*({"N": n, "p": p} for n in (0, 1, 3) for p in (0, -1))),
    "a third axis of which a part is written": row(
        *({"N": n, "p": 0} for n in (0, 1, 3)), rules=["diagonal"]
    ),
    "updates that reach past an axis of none": row(
        *({"N": n, "K": 0, "C": c} for n in (0, 1) for c in (0, 2))
    ),
    "indices without elements that nobody checks": row(
        *({"N": n, "M": m, "K": k} for n, m, k in [(3, 3, 2), (3, 3, 0), (5, 3, 0)])
    ),
    "updates are padded in front": row(rules=["diagonal"], opset=11),
    "strings are not padded but cut out": row(*feeds(1)),
}
test_golden = each(GOLDEN, "golden")


@pytest.mark.parametrize(
    ("axis", "width", "third", "reason"),
    [
        ("2", "1", "Identity (p)", Reason.UNKNOWN_SIGN),
        ("3", "2", "Identity (zero)", Reason.DIAGONAL),
    ],
)
def test_a_third_axis_that_is_written_in_part(
    axis: str, width: str, third: str, reason: Reason, refuses: Refuses
) -> None:
    refuses(OTHER.format(axis=axis, width=width, third=third), reason)


@pytest.mark.parametrize(
    ("kind", "reduction"), [("int16", "none"), ("bool", "max"), ("complex64", "add")]
)
def test_element_types_without_kernels(kind: str, reduction: str, refuses: Refuses) -> None:
    refuses(diagonal(0, 0, reduction=reduction).replace("float", kind), Reason.NO_KERNEL)


KEPT = {
    "no diagonal": Case(
        """g (float[N,M] x, int64[K,2] i, float[K] u) => (float[N,M] y)
        { y = ScatterND (x, i, u) }""",
        Reason.UNKNOWN_INDICES,
    ),
    "a diagonal that is counted from the end": Case(diagonal(-2, -2, less=0), Reason.UNKNOWN_SIGN),
    "a diagonal of three axes": Case(
        diagonal(0, 0)
        .replace("[N,N,C]", "[N,N,N]")
        .replace("[K,C]", "[K]")
        .replace("(i, j)", "(i, j, j)"),
        Reason.DIAGONAL,
    ),
    "two diagonals": Case(
        """g (float[N,N,M,M] x, float[N,M] u) => (float[N,N,M,M] y)
        <int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}, int64[1] front = {1}> {
            s = Shape (u)
            ns = Shape <end = 1> (u)
            ms = Shape <start = 1> (u)
            n = Squeeze (ns)
            m = Squeeze (ms)
            a = Range (zero, n, one)
            b = Range (zero, m, one)
            c = Unsqueeze (a, front)
            d = Expand (c, s)
            e = Expand (b, s)
            f = Unsqueeze (d, last)
            g = Unsqueeze (e, last)
            i = Concat <axis = -1> (f, f, g, g)
            y = ScatterND (x, i, u) }""",
        Reason.DIAGONAL,
    ),
    "padding in front needs operator set 11": Case(
        OLD.replace("ScatterElements", "Scatter"), Reason.OPSET, opset=9
    ),
}
test_kept = each(KEPT, "refuses")


# Right at every size, beside all other rules


def filled(text: str) -> str:
    """Return a model that writes a number."""
    text = text.replace("<int64 zero", "<float number = {-2.5}, int64 zero")
    return text.replace("y = S", "us = Shape (u) f = Expand (number, us) y = S").replace(
        "ij, u)", "ij, f)"
    )


def turned(text: str) -> str:
    """Return a model whose last two axes have the diagonal."""
    text = text.replace("[N,N,C] x, float[K,C] u", "[C,N,N] d, float[C,K] v")
    text = text.replace("[N,N,C] y", "[C,N,N] z")
    text = text.replace(
        "s = Shape <end", "x = Transpose <perm = [1, 2, 0]> (d) u = Transpose (v) s = Shape <end"
    )
    return text.removesuffix("}") + "z = Transpose <perm = [2, 0, 1]> (y) }"


STARTS = [(0, 0, 0), (1, 0, 1), (0, 1, 1), (3, 0, 3), (0, 2, 2), (1, 1, 1), (1, 2, 2), (2, 1, 2)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "min", "max"])
def test_any_start(reduction: str) -> None:
    """Also one that ends inside."""
    for a, b, less in [*STARTS, (0, 0, 2), (1, 0, 3)] if reduction == "none" else STARTS[:3]:
        text = turned(diagonal(a, b, less=less, reduction=reduction))
        for model in (text, filled(text)):
            assert_sound_at(model, *feeds(less))


@pytest.mark.parametrize("dtype", ["bool", "string", "float16", "int64", "uint8", "double"])
def test_types(dtype: str) -> None:
    assert_sound_at(diagonal(1, 0).replace("float", dtype), *feeds(1))


RANGE = """<int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}, int64[1] axis = {0},
    int64[1] single = {1}, int64[3] two = {2, 1, 1}, int64 minus = {-2}, float v = {3}> {"""
ALONG = """s = Shape <end = 1> (OF) n = Squeeze (s) r = Range (zero, n, one)
    i = Unsqueeze (r, last) ii = Concat <axis = -1> (i, i)"""
ODD: dict[str, tuple[str, list[dict[str, int]], int | None]] = {
    "an axis between, and one behind": (
        f"""g (float[N,A,M,R] x, float[N,A,R] u) => (float[N,A,M,R] z) {RANGE}
        {ALONG.replace("OF", "x")} t = Transpose <perm = [0, 2, 1, 3]> (x)
        y = ScatterND (t, ii, u) z = Transpose <perm = [0, 2, 1, 3]> (y) }}""",
        [
            {"N": n, "A": a, "M": m, "R": r}
            for n, a, m, r in [(0, 2, 3, 2), (1, 1, 1, 1), (2, 3, 4, 2), (3, 2, 3, 0), (3, 0, 5, 2)]
        ],
        0,
    ),
    "rows that are named from the end": (
        f"""g (float[N,M] x, float[K] u) => (float[N,M] z) {RANGE.replace("-2", "-1")}
        k = Shape (u) n = Squeeze (k) r = Range (zero, n, one) d = Add (r, minus)
        i = Unsqueeze (d, last) ii = Concat <axis = -1> (i, i) w = Expand (v, k)
        z = ScatterND (x, ii, w) }}""",
        [{"N": n, "M": m, "K": k} for n, m, k in [(4, 4, 4), (4, 5, 3), (2, 3, 1)]],
        1,
    ),
    "a dim that runs along no axis: the last of two updates is written": (
        f"""g (float[N,N] x, float[2,N] u) => (float[N,N] z) {RANGE}
        {ALONG.replace("OF", "x")} twice = Expand (ii, two) z = ScatterND (x, twice, u) }}""",
        sizes(N=(1, 3)),
        None,
    ),
    "a second axis of one position: no two updates go to two places": (
        f"""g (float[N,1] x, float[1,K] u) => (float[N,1] z) {RANGE}
        s = Shape <end = 1> (x) n = Squeeze (s) m = Add (n, minus) k = Max (m, zero)
        r = Range (zero, k, one) i = Add (r, one) c = Unsqueeze (k, axis)
        shape = Concat <axis = 0> (single, c) j = Expand (i, shape)
        z = ScatterElements <axis = 0> (x, j, u) }}""",
        [{"N": n, "K": max(n - 2, 0)} for n in (0, 1, 2, 3)],
        0,
    ),
    "positions that nobody checks: where K is 0, N of them may name N - 1": (
        f"""g (float[N,N,K] x, float[1,N,K] u) => (float[M,N,K] z) {RANGE}
        less = Slice (x, axis, last, axis) s = Shape <start = 1, end = 2> (less)
        n = Squeeze (s) r = Range (zero, n, one) i = Unsqueeze (r, last)
        k = Shape <start = 2> (less) shape = Concat <axis = 0> (single, s, k)
        j = Expand (i, shape) z = ScatterElements <axis = 0> (less, j, u) }}""",
        [{"N": n, "K": k} for n, k in [(0, 0), (1, 0), (2, 0), (5, 0), (0, 2)]],
        None,
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_what_looks_like_a_diagonal(name: str) -> None:
    text, given, left = ODD[name]
    assert_sound_at(text, *given, left=left)


@pytest.mark.parametrize(
    ("third", "width", "axis", "left"),
    [
        ("Identity (column)", 3, "3", 0),
        ("Identity (column)", 2, "3", None),  # not all of the axis
        ("Add (column, one)", 2, "3", None),
        ("Identity (zero)", 1, "3", None),
        ("Identity (row)", 1, "M", None),  # three axes
        ("Identity (p)", 1, "1", 0),  # wherever that is, within one position
        ("Identity (p)", 1, "2", None),
    ],
)
def test_a_third_index(third: str, width: int, axis: str, left: int | None) -> None:
    given = [{"N": n, "M": n, "p": p} for n in (0, 1, 4) for p in (0, -1)]
    assert_sound_at(OTHER.format(third=third, width=width, axis=axis), *given, left=left)


def test_old_operator_sets() -> None:
    """Pad takes no computed amounts there."""
    rows = ", ".join(str(n + 1) for n in range(99))
    text = f"""g (float[100,100] x, float[1,99] u) => (float[100,100] z)
        <int64[1,99] i = {{{rows}}}> {{ z = Scatter <axis = 0> (x, i, u) }}"""
    assert_sound_at(text, {}, left=None, opset=10)

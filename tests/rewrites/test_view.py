"""view: a region of one tensor is that tensor, sliced, transposed and given the right axes."""

import pytest

from onnx_scatterx import Reason
from tests.helpers.rules import Case, Golden, Refuses, rows, sizes

ALL_ROWS = """g (float[4,N] x, float[4,N] u) => (float[4,N] y) <int64[4,1] i = {%s}>
    { y = ScatterND (x, i, u) }"""
REVERSED = ALL_ROWS % "3, 2, 1, 0"
ONE_ROW = """g (float[1,N] x, float[N] u) => (float[1,N] y) <int64[1] i = {0}>
    { y = ScatterND (x, i, u) }"""
TRANSPOSED = """g (float[N,4] x, float[4,N] u) => (float[N,4] y) <int64[4,1] i = {0, 1, 2, 3}> {
        t = Transpose (x)
        z = ScatterND (t, i, u)
        y = Transpose (z) }"""
REPEATED = """g (float[4,N] x, float[N] u) => (float[4,N] y) <int64[4,1] i = {3, 2, 1, 0}> {
        s = Shape (x)
        e = Expand (u, s)
        y = ScatterND (x, i, e) }"""
READ = """g (float[4,N] x, float[4,N] u) => (float[N] y)
    <int64[4,1] i = {3, 2, 1, 0}, int64 one = {1}> {
        z = ScatterND (x, i, u)
        y = Gather (z, one) }"""
SPLIT = """g (float[B,T,6] x, float[B,T,6] u, float[B,T,1,3] v) => (float[B,T,2,3] y)
    <int64[6,1] all = {0, 1, 2, 3, 4, 5}, int64[1,1] second = {1}, int64[2] last = {2, 3},
     int64[1] zero = {0}, int64[1] two = {2}> {
        p = Transpose <perm = [2, 0, 1]> (x)
        q = Transpose <perm = [2, 0, 1]> (u)
        z = ScatterND (p, all, q)
        t = Transpose <perm = [1, 2, 0]> (z)
        s = Shape (x)
        first = Slice (s, zero, two)
        shape = Concat <axis = 0> (first, last)
        w = Reshape (t, shape)
        a = Transpose <perm = [2, 0, 1, 3]> (w)
        b = Transpose <perm = [2, 0, 1, 3]> (v)
        c = ScatterND (a, second, b)
        y = Transpose <perm = [1, 2, 0, 3]> (c) }"""


REVERSED_BY_INDICES = """g (float[N,2] x, float[N,2] u) => (float[M,2] y)
    <int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}, int64[1] from = {0},
     int64[1] to = {%s}, int64[1] axis = {0}, int64[1] step = {%s}> {
        s = Shape <end = 1> (x)
        n = Squeeze (s)
        m = Sub (n, one)
        r = Range (zero, n, one)
        p = Sub (m, r)
        i = Unsqueeze (p, last)
        z = ScatterND (x, i, u)
        y = Slice (z, from, to, axis, step) }"""


GOLDEN = {
    "a full cover is the updates": Case(ALL_ROWS % "0, 1, 2, 3", *sizes(N=(0, 1, 5))),
    "rows in reverse are a slice backwards": Case(REVERSED, *sizes(N=(0, 1, 5))),
    "updates that are cut are a slice of what they were": Case(
        """g (float[N,3] x, float[N,8] u) => (float[N,3] y)
        <int64[3,1] i = {2, 1, 0}, int64[1] start = {1}, int64[1] end = {7}, int64[1] axis = {1},
         int64[1] step = {2}> {
            v = Slice (u, start, end, axis, step)
            t = Transpose (x)
            w = Transpose (v)
            z = ScatterND (t, i, w)
            y = Transpose (z) }""",
        *sizes(N=(0, 1, 5)),
    ),
    "what may be empty is cut forwards and then reversed": Case(
        REVERSED_BY_INDICES % ("3", "1"), *sizes(N=(0, 1, 2, 5))
    ),
    "steps backwards from where there may be nothing stay apart": Case(
        REVERSED_BY_INDICES % ("99", "2"), *sizes(N=(0, 1, 2, 5))
    ),
    "bounds that only the run knows are computed": Case(
        f"""g (float[N,2] x, float[H,2] u) => (float[N,2] y) <int64 two = {{2}}> {{
            s = Shape <end = 1> (x)
            n = Squeeze (s)
            half = Div (n, two)
            {rows("i", "u", start="half")}
            y = ScatterND (x, i, u) }}""",
        *({"N": n, "H": n - n // 2} for n in (1, 2, 5)),
        by=["concat"],
    ),
    "axes in another order are a transpose": Case(TRANSPOSED, *sizes(N=(0, 1, 5))),
    "a row for a matrix of one row gets an axis": Case(ONE_ROW, *sizes(N=(0, 1, 5))),
    "a row that is read loses its axis": Case(READ, *sizes(N=(0, 1, 5)), gathers=True),
    "updates that are repeated are an expand": Case(REPEATED, *sizes(N=(0, 1, 5))),
    "a transposed tensor that others read is taken instead": Case(
        """g (float[4,N] x, float[N,4] u) => (float[4,N] y, float[4,N] w)
        <int64[4,1] i = {3, 2, 1, 0}> {
            t = Transpose (u)
            w = Neg (t)
            y = ScatterND (x, i, t) }""",
        *sizes(N=(0, 1, 5)),
    ),
    "an axis that is split between two writes is split first": Case(
        SPLIT, *sizes(B=(1, 2), T=(1, 3)), by=["concat"]
    ),
    "a shape with sizes of 0 is left where there is no allowzero": Case(
        SPLIT, *sizes(B=(1, 2), T=(1, 3)), by=["concat"], opset=13
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str, golden: Golden) -> None:
    GOLDEN[name].check(golden)


def test_two_sources_are_no_view(refuses: Refuses) -> None:
    refuses(
        """g (float[4,N] x, float[1,N] u) => (float[4,N] y) <int64[1,1] i = {0}>
        { y = ScatterND (x, i, u) }""",
        Reason.NO_RULE,
    )


def test_what_is_added_is_no_view(refuses: Refuses) -> None:
    text = ALL_ROWS.replace("ScatterND", 'ScatterND <reduction = "add">')
    refuses(text % "0, 1, 2, 3", Reason.NO_RULE)


def test_steps_need_operator_set_10(refuses: Refuses) -> None:
    text = """g (float[4,1] x, float[4,1] u) => (float[4,1] y) <int64[4,1] i = {3, 2, 1, 0}>
        { y = Scatter (x, i, u) }"""
    refuses(text, Reason.OPSET, opset=9)


@pytest.mark.parametrize("text", [REVERSED, ONE_ROW, READ])
def test_element_types_without_kernels(text: str, refuses: Refuses) -> None:
    refuses(text.replace("float", "complex64"), Reason.NO_KERNEL)

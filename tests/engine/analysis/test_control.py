"""What the interpreter says of loops, branches and scans."""

import numpy as np
import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.model_analysis import interpret
from tests.engine.analysis.known import N_FEEDS, known
from tests.helpers.judged import judge
from tests.helpers.support import i64, parse

LOOPS = {
    "a carried value grows": "vo = Concat<axis = 0>(vi, one)",
    "a carried value is kept": "vo = Identity(vi)",
    "a carried value is replaced": "vo = Identity(x)",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", LOOPS)
@pytest.mark.parametrize("gathered", ["vi", "one", "i"])
def test_loop(what: str, gathered: str) -> None:
    model = parse(
        f"""g (int64[N] x, int64 n, bool c, int64[M] v) => (r, s) {{
        one = Constant<value_ints = [1]>()
        r, s = Loop<body = b (int64 i, bool ci, vi) => (bool co, vo, so) {{
            co = Identity(ci)
            {LOOPS[what]}
            so = Identity({gathered})
        }}>(n, c, v)
        shape = Shape(r)
        again = Shape(s) }}""".replace("vi) =>", "int64[K] vi) =>")
    )
    accepted = 0
    for n in (0, 1, 3):
        for trips in (0, 1, 2):
            for go in (False, True):
                feed = {"x": i64(np.arange(n)), "n": i64(trips), "c": np.array(go)}
                accepted += judge(model, [feed | {"v": i64([4, 5])}])
    assert accepted >= 9


def test_loop_that_swaps() -> None:
    model = parse("""g (int64[N] x, int64[M] y, int64 n) => (a, b) {
        go = Constant<value = bool {1}>()
        a, b = Loop<body = l (int64 i, bool ci, int64[P] u, int64[Q] w) => (bool co, p, q) {
            co = Identity(ci)
            p = Identity(w)
            q = Identity(u)
        }>(n, go, x, y)
        sa = Shape(a)
        sb = Shape(b) }""")
    feeds = [{"x": i64([1]), "y": i64([1, 2]), "n": i64(n)} for n in range(4)]
    assert judge(model, feeds) == 4


def test_if_branches_that_agree_and_that_differ() -> None:
    model = parse("""g (int64[N] x, int64[M] y, bool c) => (a, b, d) {
        a, b, d = If<then_branch = t () => (a1, b1, d1) {
            a1 = Neg(x)
            b1 = Identity(x)
            d1 = Constant<value_ints = [1, 2]>()
        }, else_branch = e () => (a2, b2, d2) {
            a2 = Abs(x)
            b2 = Identity(y)
            d2 = Constant<value_ints = [1, 3]>()
        }>(c)
        s = Shape(a)
        u = Shape(b)
        v = Reshape(x, d) }""")
    feeds = [
        {"x": i64(np.arange(n)), "y": i64(np.arange(4)), "c": np.array(c)}
        for n in (2, 3)
        for c in (False, True)
    ]
    assert judge(model, feeds) == 2
    assert known(model, "s") == "(1,) [N]"


def test_facts_of_a_branch_hold_only_in_it() -> None:
    model = parse("""g (int64[N] x, bool c) => (r) {
        three = Constant<value_int = 3>()
        a = If<then_branch = t () => (a1) { a1 = Gather(x, three) },
               else_branch = e () => (a2) { a2 = Constant<value_int = 0>() }>(c)
        one = Constant<value_ints = [1]>()
        far = Constant<value_ints = [4]>()
        r = Slice(x, one, far) }""")
    feeds = [{"x": i64(np.arange(n)), "c": np.array(False)} for n in N_FEEDS]
    assert judge(model, feeds) == len(feeds)


def test_scan() -> None:
    model = parse("""g (int64[N] v, int64[T, M] xs) => (r, s) {
        r, s = Scan<num_scan_inputs = 1, body = b (int64[P] vi, int64[Q] xi) => (vo, so) {
            vo = Neg(vi)
            so = Identity(xi)
        }>(v, xs)
        shape = Shape(r)
        again = Shape(s) }""")
    feeds = [{"v": i64([1, 2]), "xs": np.ones((t, 3), np.int64)} for t in (1, 2, 5)]
    assert judge(model, feeds) == 3


def test_a_loop_in_a_function_that_is_called_twice() -> None:
    model = parse(
        """g (int64[N] x, int64 n, int64 m) => (a, b) {
            a = f.Grow(x, n)
            b = f.Grow(x, m)
            e = Equal(Shape(a), Shape(b))
        }
        <domain: "f", opset_import: ["" : 18]>
        Grow (x, n) => (r) {
            go = Constant<value = bool {1}>()
            one = Constant<value_ints = [1]>()
            r = Loop<body = b (int64 i, bool ci, int64[K] vi) => (bool co, vo) {
                co = Identity(ci)
                vo = Concat<axis = 0>(vi, one)
            }>(n, go, x) }""",
        ir_version=9,
    )
    feeds = [{"x": i64([1]), "n": i64(n), "m": i64(m)} for n in (0, 2) for m in (0, 1)]
    assert judge(model, feeds) == 4


def test_a_branch_that_cannot_run() -> None:
    model = parse("""g (int64[N] x, bool c) => (r) {
        two = Constant<value_ints = [1, 2]>()
        three = Constant<value_ints = [1, 2, 3]>()
        r = If<then_branch = t () => (a) { a = Add(two, three) },
               else_branch = e () => (b) { b = Identity(x) }>(c) }""")
    interpret(ir.from_proto(model))

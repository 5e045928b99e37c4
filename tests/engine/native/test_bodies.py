"""ScatterX in bodies of If, Loop and Scan: values that an outer graph reads are not overwritten."""

import numpy as np
import pytest

import onnx_scatterx
from tests.engine.native.row_writes import FEED, I
from tests.helpers.native_support import check, graphs, natives
from tests.helpers.pair import agree
from tests.helpers.support import f32, i64, parse, run, sample

ONE_ROW = "int64[3, 1] i, float[3, 4] y"

NESTED = {
    "loop": f"""g (int64 n, bool c, float[5, 4] x, {ONE_ROW}) => (float[5, 4] z)
        {{ z = Loop (n, c, x) <body = b (int64 k, bool go, float[5, 4] a)
            => (bool on, float[5, 4] o) {{ on = Identity(go)  t = ScatterND(a, i, y)
                                          o = ScatterND <reduction = "add"> (t, i, y) }}> }}""",
    "scan": f"""g (int64 n, bool c, float[5, 4] x, {ONE_ROW}, float[2, 3, 4] ys, int64[2, 3, 1] js)
        => (float[5, 4] z, float[2, 5, 4] all)
        {{ z, all = Scan <num_scan_inputs = 2,
            body = b (float[5, 4] a, float[3, 4] u, int64[3, 1] j)
            => (float[5, 4] o, float[5, 4] p) {{ o = ScatterND(a, j, u)  p = Neg(o) }}>
            (x, ys, js) }}""",
    "if in loop": f"""g (int64 n, bool c, float[5, 4] x, {ONE_ROW}) => (float[5, 4] z)
        {{ one = Constant <value_int = 1> ()
          z = Loop (n, , x) <body = b (int64 k, bool go, float[5, 4] a)
            => (bool on, float[5, 4] o) {{
                on = Identity(go)  early = Less(k, one)
                o = If (early) <
                  then_branch = s () => (float[5, 4] p) {{ p = ScatterND(a, i, y) }},
                  else_branch = e () => (float[5, 4] q) {{
                    m = ScatterND <reduction = "mul"> (a, i, y)
                    q = If (c) <
                      then_branch = s2 () => (float[5, 4] p2) {{ p2 = ScatterND(m, i, y) }},
                      else_branch = e2 () => (float[5, 4] q2) {{ q2 = Neg(m) }}> }}> }}> }}""",
    "loop in scan in if": f"""g (int64 n, bool c, float[5, 4] x, {ONE_ROW}, float[2, 3, 4] ys)
        => (float[5, 4] z)
        {{ z = If (c) <
            then_branch = s () => (float[5, 4] p) {{
              p = Scan <num_scan_inputs = 1, body = b (float[5, 4] a, float[3, 4] u)
                => (float[5, 4] o) {{
                  o = Loop (n, , a) <body = b2 (int64 k, bool go, float[5, 4] d)
                    => (bool on, float[5, 4] w) {{ on = Identity(go)  w = ScatterND(d, i, u) }}> }}>
                (x, ys) }},
            else_branch = e () => (float[5, 4] q) {{ q = ScatterND(x, i, y) }}> }}""",
    "a body's own indices": f"""g (int64 n, bool c, float[5, 4] x, {ONE_ROW}) => (float[5, 4] z)
        <int64 five = {{5}}>
        {{ z = Loop (n, , x) <body = b (int64 k, bool go, float[5, 4] a)
            => (bool on, float[5, 4] o) {{
                on = Identity(go)  j = Add(i, k)  w = Mod(j, five)
                at = Transpose <perm = [1, 0]> (a)  ab = Transpose <perm = [1, 0]> (at)
                o = ScatterND(ab, w, y) }}> }}""",
}


@pytest.mark.parametrize("name", NESTED)
def test_nested_bodies(name: str) -> None:
    """In bodies of Loop, Scan and If, and of one in another: run often, and not at all."""
    rng = np.random.default_rng(0)
    base = FEED | {"ys": sample("float32", 2, 3, 4, seed=2), "js": rng.integers(-5, 5, (2, 3, 1))}
    model = parse(NESTED[name])
    names = {value.name for value in model.graph.input}
    feeds = [
        {
            k: v
            for k, v in (base | {"n": np.array(n), "c": np.array(c), "i": i}).items()
            if k in names
        }
        for n, c, i in ((3, True, I), (2, False, I), (0, True, I), (4, True, i64([[1], [-4], [1]])))
    ]
    optimized = check(model, *feeds)
    before = [n for n in graphs(model) if n.op_type == "ScatterND"]
    assert len(natives(optimized)) == len(before)
    assert not [n for n in graphs(optimized) if n.op_type == "ScatterND"]
    with_threads = onnx_scatterx.session(optimized)  # ONNX Runtime's own optimizations on
    for feed in feeds:
        assert agree(run(model, feed), list(with_threads.run(None, feed)))


def test_a_body_writes_no_outer_value() -> None:
    """What a body reads from outside is not updated in place: every turn finds it as it was."""
    text = f"""g (int64 n, bool c, float[5, 4] x, {ONE_ROW})
        => (float[A, 5, 4] all, float[5, 4] after)
        {{ outer = Neg(x)
          all = Loop (n, c) <body = b (int64 k, bool go) => (bool on, float[5, 4] o) {{
              on = Identity(go)  s = CastLike(k, y)  u = Add(y, s)
              o = ScatterND <reduction = "add"> (outer, i, u) }}>
          after = Abs(outer) }}"""
    feed = {
        "n": np.array(4),
        "c": np.array(True),
        "x": f32(np.arange(20).reshape(5, 4)),
        "i": I,
        "y": f32(np.ones((3, 4))),
    }
    optimized = check(text, feed)
    assert len(natives(optimized)) == 1
    for _ in range(2):
        together = onnx_scatterx.session(optimized).run(None, feed)
        assert agree(run(parse(text), feed), list(together))


def test_random_loops() -> None:
    """Whatever the state, updates and indices of a loop: the same bits."""
    text = """g (int64 n, float[A, B] x, int64[N, 1] i, float[N, B] y)
        => (float[A, B] z, float[T, A, B] all)
        { z, all = Loop (n, , x) <body = b (int64 k, bool go, float[P, Q] a)
            => (bool on, float[P, Q] o, float[P, Q] seen) { on = Identity(go)
                t = ScatterND <reduction = "REDUCTION"> (a, i, y)
                o = ScatterND(t, i, y)  seen = Sub(o, t) }> }"""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rows, width, count = rng.integers(1, 6, 3)
        feed = {
            "n": np.array(rng.integers(0, 4)),
            "x": sample("float32", rows, width, seed=seed),
            "i": rng.integers(-rows, rows, (count, 1)),
            "y": sample("float32", count, width, seed=seed + 1),
        }
        reduction = ("add", "mul", "min", "max")[seed % 4]
        optimized = check(text.replace("REDUCTION", reduction), feed)
        assert len(natives(optimized)) == 2

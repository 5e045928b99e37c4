"""What is taken for known must be possible: from a contradiction, everything follows."""

from collections.abc import Mapping

import numpy as np
import pytest
from onnxruntime import __version__ as version

from onnx_scatterx.proof import judge
from onnx_scatterx.proof.building import Builder, Scope
from onnx_scatterx.proof.core import world
from onnx_scatterx.proof.core.arithmetic import integer
from onnx_scatterx.proof.core.logic import TRUE, equal
from onnx_scatterx.proof.core.reading import Graph
from tests.helpers.equivalence_support import assert_possible_anywhere
from tests.helpers.proving import prove
from tests.helpers.support import i64, parse
from tests.proof.differing_run import floats, unproven

ROWS = """s = Shape(x) n = Squeeze(s) r = Range(zero, n, one)"""
HEAD = "<int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}, int64[1] lone = {1}>"

READS = f"""g (float[N] x, int64[1] i) => (float[A] y, int64[B] p) {HEAD} {{
    {ROWS} p = Add(i, r) y = Gather(x, p) }}"""
MODELS: dict[str, tuple[str, Mapping[str, np.ndarray]]] = {
    "positions that are read": (READS, {"x": floats(3), "i": i64([0])}),
    "positions in columns": (
        f"""g (float[N, M] x, int64[K, 2] i, float[K] u)
        => (int64[K, 2] p, float[K] y, float[N, M] z) {HEAD} {{
            s = Shape<end = 1>(u) n = Squeeze(s) r = Range(zero, n, one) c = Unsqueeze(r, last)
            p = Add(i, c) y = GatherND(x, p) z = ScatterND(x, p, u) }}""",
        {"x": floats(2, 2), "i": i64([[0, 0], [0, 0]]), "u": floats(2)},
    ),
    "places of a mask": (
        f"""g (bool[N] b, float[N] x, float[K] u)
        => (int64[1, K] p, float[N] y, int64[N] c, float[K] t) {HEAD} {{
            p = NonZero(b) q = Transpose(p) y = ScatterND(x, q, u) t = GatherND(x, q)
            m = Cast<to = 7>(b) c = CumSum(m, zero) }}""",
        {"b": np.array([0, 1, 1], bool), "x": floats(3), "u": floats(2)},
    ),
    "places of a mask of two axes": (
        f"""g (bool[N, M] b, float[N, M] x, float[K] u)
        => (int64[2, K] p, float[N, M] y, float[A] z) {HEAD} {{
            p = NonZero(b) q = Transpose(p) y = ScatterND(x, q, u) z = GatherND(x, q) }}""",
        {"b": np.array([[0, 1], [1, 1]], bool), "x": floats(2, 2), "u": floats(3)},
    ),
    "an empty mask": (
        f"""g (bool[N] b, float[N] x, float[K] u) => (int64[1, K] p, float[N] y) {HEAD} {{
            p = NonZero(b) q = Transpose(p) y = ScatterND(x, q, u) }}""",
        {"b": np.zeros(2, bool), "x": floats(2), "u": floats(0)},
    ),
    "sums": (
        f"""g (int64[N, 20] x, int64[K, 1] i, int64[K] u, int64[M] d)
        => (int64[N, 20] c, int64[M] y, int64[20] t) {HEAD} {{
            c = CumSum(x, one) y = ScatterND<reduction = "add">(d, i, u) b = Cast<to = 9>(x)
            m = Cast<to = 7>(b) t = ReduceSum<keepdims = 0>(m, first) }}""".replace(
            "int64[1] lone", "int64[1] first = {0}, int64[1] lone"
        ),
        {"x": np.ones((2, 20), np.int64), "i": i64([[0], [0]]), "u": i64([1, 2]), "d": i64([5])},
    ),
    "greatest elements": (
        f"""g (float[N, M] x, float[M, 3] d) => (int64[M] p, float[M, 1] v, int64[M, 1] q,
            float[M, 3] y) {HEAD} {{
            p = ArgMax<axis = 0, keepdims = 0>(x) t = Transpose(x) v, q = TopK<axis = 1>(t, lone)
            y = Gather(d, p) }}""",
        {"x": floats(2, 3), "d": floats(3, 3)},
    ),
    "a branch": (
        f"""g (float[N] x, int64[1] i) => (float[A] y) <bool yes = {{1}}, {HEAD[1:]} {{
            y = If(yes) <then_branch = t () => (float[L] o) {{
                    {ROWS} p = Sub(r, i) o = Gather(x, p) }},
                else_branch = e () => (float[K] w) {{ w = Neg(x) }}> }}""",
        {"x": floats(3), "i": i64([1])},
    ),
    "greatest rows of a constant": (
        f"""g (int64[M] x) => (int64[2] v, int64[A] y) {HEAD[:-1]},
            int64[2, 17] t = {{{", ".join(map(str, [*range(17), *range(60, 43, -1)]))}}}> {{
            v = ReduceMax<keepdims = 0>(t, lone) y = Concat<axis = 0>(v, x) }}""",
        {"x": np.array([1])},
    ),
    "a search in rows": (
        f"""g (float[R, C] x, float[2, N] u) => (float[R, C] z) {HEAD[:-1]}, int64 five = {{5}},
            int64[2, 5] t = {{9, 1, 2, 3, 4, 2, 1, 6, 3, 7}}, int64[2, 1] two = {{0, 1}},
            int64[1] first = {{0}}> {{
            s = Shape<start = 1>(u) n = Squeeze(s, first) r = Range(zero, n, one) m = Mod(r, five)
            c = Gather<axis = 1>(t, m) a = Unsqueeze(c, last) w = Shape(u) e = Expand(two, w)
            b = Unsqueeze(e, last) i = Concat<axis = 2>(b, a) z = ScatterND(x, i, u) }}""",
        {"x": floats(3, 10), "u": floats(2, 2)},
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_is_known_of_elements_that_are_not_there(name: str) -> None:
    assert_possible_anywhere(*MODELS[name])


def test_facts_about_elements_that_are_not_there_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above fails if positions are said to be in range at places that there are not."""
    monkeypatch.setattr(world, "inside", lambda at, dims: TRUE)
    with pytest.raises(AssertionError, match="y of g"):
        assert_possible_anywhere(*MODELS["positions that are read"])


EINSUM = """g (float[P, N] w, float[R, N] v, float[K, M] z, float[K] c, float[300] x)
    => (float[A, B] o, float[L] y) <int64[1] one = {1}> {
    e = Einsum<equation = "ij,ij->ij">(w, v) p = Concat<axis = 0>(z, z) o = Concat<axis = 1>(e, p)
    s = Shape(x) %s t = Transpose(x) d = Concat<axis = 0>(t, t)
    b = Expand(c, q) f = Concat<axis = 0>(b, b) y = Concat<axis = 0>(f, f) }"""
MOVED = ("q = Min(s, one)", "r = Cast<to = 9>(s) q = Cast<to = 7>(r)")


def test_dims_that_onnx_runtime_infers_and_that_the_facts_refute() -> None:
    """For an Einsum that broadcasts it infers 1 row, and the Concat says that there are 2 K."""
    one = parse(EINSUM.replace("P, N", "1, N") % MOVED[0])
    wrong = f"ONNX Runtime {version} infers of 'e' that axis 0 has size 1"
    assert wrong in str(prove(one, one))
    other = parse(EINSUM % MOVED[0])
    assert f"Einsum gives the dims that ONNX Runtime {version} infers" in str(prove(other, other))


@pytest.mark.parametrize(("p", "rows"), [("1", 2), ("K", 150)])
def test_dims_that_an_assumption_would_prove(p: str, rows: int) -> None:
    """What is assumed of the Einsum is false if it broadcasts, and says too much of K.

    With P = K it says that K is 300, as ONNX Runtime infers of the Expand.
    """
    text = EINSUM.replace("P, N", f"{p}, N").replace("K, M", "150, M" if p == "K" else "K, M")
    one, other = (parse(text % sizes) for sizes in MOVED)
    k = 1 if p == "K" else rows
    feed = {"w": floats(1, 3), "v": floats(2 * rows, 3), "z": floats(rows, 2), "c": floats(k)}
    proof = unproven(one, other, {**feed, "x": floats(300)})
    assert f"ONNX Runtime {version} infers of 'b' that axis 0 has size 300" in str(proof)


def test_assumed_dims_that_contradict_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def contradiction(graph: Graph, scope: Scope, builder: Builder, *_: object) -> None:
        for size in (1, 2):
            builder.world.learn(equal(scope["x"].shape[0], integer(size)))

    monkeypatch.setattr(judge, "wrong_plan", contradiction)
    one = parse("g (float[N] x) => (float[N] y) { y = Neg(x) }")
    assert "dims that a runtime infers may be impossible together" in str(prove(one, one))

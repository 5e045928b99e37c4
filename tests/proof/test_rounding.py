"""Last bits of ONNX Runtime that are not those of the node alone: assumed, or not proven."""

import numpy as np
import onnx
import pytest

from onnx_scatterx.proof.assumed import SAME_BITS, SAME_ROWS, SIGN_OF_ZERO
from tests.helpers.proving import prove
from tests.helpers.support import parse
from tests.proof.differing_run import floats, outcome, unproven


@pytest.mark.parametrize(
    ("made", "read"),
    [
        ("w = Cast <to = 10> (x) t = Mul(w, w)", "v = Mul(m, w) y = Cast <to = 1> (v)"),
        ("t = Cast <to = 10> (x)", "v = Neg(m) y = Cast <to = 1> (v)"),
        ("t = Cast <to = 10> (x)", "v = Where(c, m, m) y = Cast <to = 1> (v)"),
    ],
)
def test_float16_may_be_kept_as_float32(made: str, read: str) -> None:
    """ONNX Runtime rounds in front of a Transpose, and not in front of a Mul or a Where."""
    text = f"g (float[1, N] x, bool[1] c) => (float[1, N] y) {{ {made} %s {read} }}"
    one = parse(text.replace("m,", "t,").replace("m)", "t)") % "")
    other = parse(text % "a = Transpose(t) m = Transpose(a)")
    feed = {"x": floats(1, 20), "c": np.array([True])}
    assert "gives float16, which ONNX Runtime may keep as float32" in str(
        unproven(one, other, feed)
    )


@pytest.mark.parametrize("node", ["Reshape(x, s)", "ScatterElements(x, s, u)", "Where(c, x, x)"])
def test_float16_that_is_only_moved(node: str) -> None:
    one = parse(f"""g (float16[N] x, float16[1] u, int64[1] s, bool[N] c) => (float16[M] y) {{
        y = {node} }}""")
    assert prove(one, one).proven


@pytest.mark.parametrize(
    "node",
    [
        "own.Reshape(x, s)",
        'ScatterElements <reduction = "add"> (x, s, u)',
        "MatMul(x, x)",
        "Neg(x)",
    ],
)
def test_float16_that_is_computed(node: str) -> None:
    one = parse(
        f"g (float16[N] x, float16[1] u, int64[1] s) => (float16[M] y) {{ y = {node} }}",
        more=', "own" : 1',
    )
    assert "gives float16" in str(prove(one, one))


def test_float16_of_a_branch() -> None:
    """Its type is not known to the judge, as the branch reads a value from outside."""
    text = """g (float[N] x, bool c) => (float[N] y) <bool yes = {1}> {
        t = If(c) <then_branch = t () => (float16[N] o) { o = Cast <to = 10> (x) },
            else_branch = e () => (float16[N] p) { z = Abs(x) p = Cast <to = 10> (z) }>
        u = Sqrt(t) v = %s y = Cast <to = 1> (v) }"""
    one = parse(text % "Exp(u)")
    other = parse(
        text
        % """If(yes) <then_branch = f () => (float16[N] q) { q = Exp(u) },
            else_branch = h () => (float16[N] r) { r = Neg(u) }>"""
    )
    for branch in other.graph.node[2].attribute:
        branch.g.output[0].type.tensor_type.ClearField("shape")
    unproven(one, other, {"x": np.abs(floats(40)), "c": np.array(True)})


def test_the_last_bits_of_a_double_gelu() -> None:
    text = """g (double[N] x) => (double[M] y) <int64[1] one = {1}, int64[1] all = {999}> { %s }"""
    op = 'Gelu <approximate = "tanh">'
    one = parse(text % f"z = {op} (x) y = Slice(z, one, all)", 20)
    other = parse(text % f"s = Slice(x, one, all) y = {op} (s)", 20)
    drawn = [floats(n, spread=2).astype(np.float64) for n in range(2, 300)]
    feed = next({"x": x} for x in drawn if outcome(one, {"x": x}) != outcome(other, {"x": x}))
    unproven(one, other, feed)


@pytest.mark.parametrize("op", ["Sin", "Cos", "Log"])
def test_the_last_bits_depend_on_the_place_in_the_first_model_too(op: str) -> None:
    """The second model has no new node of this operator."""
    text = f"""g (float[N] x) => (float[M] y, float[N] z)
        <int64[1] one = {{1}}, int64[1] all = {{99}}> {{
        z = {op}(x) s = Slice(x, one, all) y = %s }}"""
    one, other = parse(text % f"{op}(s)"), parse(text % "Slice(z, one, all)")
    drawn = [np.abs(floats(n, spread=30)) for n in range(2, 60)]
    feed = next({"x": x} for x in drawn if outcome(one, {"x": x}) != outcome(other, {"x": x}))
    unproven(one, other, feed)


def test_a_cast_to_uint32_depends_on_the_place() -> None:
    text = """g (float[N] x) => (uint32[M] y) <int64[1] one = {1}, int64[1] all = {99}> { %s }"""
    one = parse(text % "s = Slice(x, one, all) y = Cast <to = 12> (s)")
    other = parse(text % "s = Cast <to = 12> (x) y = Slice(s, one, all)")
    unproven(one, other, {"x": np.full(9, -1e19, np.float32)})


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers_are_squared_by_a_product_if_the_exponent_is_one_number(dtype: str) -> None:
    text = f"""g ({dtype}[N] x) => ({dtype}[N] y) <{dtype}[1] two = {{2}}> {{
        s = Shape(x) t = Expand(two, s) y = Pow(x, %s) }}"""
    feed = {"x": np.array([2**20 if dtype == "int32" else 2**40, 3], dtype)}
    unproven(parse(text % "two"), parse(text % "t"), feed)


@pytest.mark.parametrize(("dtype", "number"), [("int32", 2**31 - 1), ("int64", 2**53)])
def test_integers_are_summed_as_float64(dtype: str, number: int) -> None:
    """A sum that does not fit is cut off at the end of its type, and does not wrap around."""
    text = (
        f"""g ({dtype}[2] x) => ({dtype}[1] y) <int64[1] a = {{0}}, int64[1] b = {{1}}> {{ %s }}"""
    )
    one = parse(text % "y = ReduceSum(x, a)")
    other = parse(text % "c = Gather(x, a) d = Gather(x, b) y = Add(c, d)")
    unproven(one, other, {"x": np.array([number, 1], dtype)})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("y = Where(c, x, x)", "y = Identity(x)"),
        ("y = Max(a, x)", "s = Shape(x) e = Expand(a, s) y = Max(e, x)"),
    ],
)
def test_the_sign_of_a_zero_is_an_assumption(one: str, other: str) -> None:
    text = "g (float[N] x, float[1] a, bool[1] c) => (float[N] y) { %s }"
    pair = [parse(text % nodes) for nodes in (one, other)]
    feed = {"x": np.full(9, -0.0, np.float32), "a": np.zeros(1, np.float32), "c": np.array([True])}
    assert outcome(pair[0], feed) != outcome(pair[1], feed)
    for a, b in (pair, pair[::-1]):
        found = prove(a, b)
        assert found.proven
        assert "the sign of a zero does not count where Where, Min or Max" in str(found)


def test_a_constant_that_is_computed_is_an_assumption() -> None:
    """ONNX Runtime packs the stored one, and adds in another order."""
    text = """g (float[1, 67] x) => (float[1, 33] y) { v = Identity(w) y = MatMul(x, NAME) }"""
    one, other = (parse(text.replace("NAME", name)) for name in "wv")
    for model in (one, other):
        model.graph.initializer.append(onnx.numpy_helper.from_array(floats(67, 33), "w"))
    assert outcome(one, {"x": floats(1, 67)}) != outcome(other, {"x": floats(1, 67)})
    for pair in ((one, other), (other, one)):
        assert "MatMul is the same for a constant that is computed" in str(prove(*pair))
    assert "computed" not in str(prove(one, one))


@pytest.mark.parametrize(
    ("made", "chosen", "needed"),
    [
        ("p = Where(c, x, o)", "", SIGN_OF_ZERO),
        ("p = Exp(x)", "s = Exp(r)", SAME_BITS),
        ("p = MatMul(x, w)", "s = MatMul(r, w)", SAME_ROWS),
    ],
)
def test_a_node_of_both_models_that_is_compared_with_others(
    made: str, chosen: str, needed: str
) -> None:
    """Both models have all nodes that compute, and the second one gives another of them."""
    text = """g (float[N, 2] x, float[N, 2] o, bool[N] m)
        => (float[N, 2] p, float[K, 2] s, float[N, 2] y, float[N, 2] z)
        <float[2, 2] w = {{1, 2, 3, 4}}> {{ c = Unsqueeze(m, [1]) {}
        n = NonZero(m) i = Transpose(n) r = GatherND(x, i) {}
        y = ScatterND(o, i, s) z = {} }}"""
    chosen = chosen or "s = Identity(r)"
    of_all = "Identity(p)" if needed == SIGN_OF_ZERO else "Where(c, p, o)"
    whole = parse(text.format(made, chosen, "Identity(y)"))
    assert needed in prove(whole, parse(text.format(made, chosen, of_all))).assumed
    assert needed not in prove(whole, whole).assumed

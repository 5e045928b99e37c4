"""Memory that ONNX Runtime plans by dims that it infers: if they are wrong, nothing is proven."""

import re

import numpy as np
import onnx
import pytest
from onnxruntime import __version__ as version

import onnx_scatterx
from onnx_scatterx.proof.declarations import NOT_ASKED
from tests.helpers.proving import prove
from tests.helpers.support import parse
from tests.proof.differing_run import floats, outcome, unproven


@pytest.mark.parametrize(
    ("op", "node", "size"),
    [
        ("Einsum", 'e = Einsum <equation = "i,i->i"> (x, w)', 1),
        (
            "If",
            """e = If(c) <then_branch = p () => (int64[N] o) { o = Abs(w) },
                else_branch = q () => (int64[N] r) { r = Neg(w) }>""",
            3,
        ),
    ],
)
def test_memory_of_values_whose_dims_onnx_infers(op: str, node: str, size: int) -> None:
    """ONNX Runtime gives it to a value of other dims if these are wrong, and fails."""
    text = "g (int64[N] x, int64[M] w, bool c) => (int64[A] y, int64[B] z) { %s }"
    parts = (" u = Abs(x) v = Neg(u) z = Abs(v) ", " t = Neg(e) y = Neg(t) ")
    one, other = (
        parse(text % (parts[0] + node + parts[1])),
        parse(text % (node + "".join(parts[::-1]))),
    )
    feed = {"x": np.arange(size), "w": np.arange(5), "c": np.array(True)}
    assert outcome(one, feed)
    assert not outcome(other, feed)
    assert f"{op} gives the dims that ONNX Runtime {version} infers" in str(prove(one, other))


@pytest.mark.parametrize("size", ["N", "300"])
@pytest.mark.parametrize(("to", "proven"), [(9, False), (3, False), (2, False), (6, True)])
def test_memory_of_values_whose_sizes_are_cast(to: int, proven: bool, size: str) -> None:
    """ONNX infers sizes as if a Cast kept them: of 300, a bool is 1, and an int8 is 44."""
    text = """g (float[%s] x) => (float[K] y, float[L] z) <int64[1] one = {1}> {
        s = Shape(x) %s t = Transpose(x) u = Concat<axis = 0>(t, t) v = Concat<axis = 0>(u, u)
        z = Concat<axis = 0>(v, v)
        e = Expand(float [2], q) f = Concat<axis = 0>(e, e) y = Concat<axis = 0>(f, f) }"""
    least = "q = Min(s, one)" if to == 9 else "q = Identity(s)"
    one = parse(text % (size, least))
    other = parse(text % (size, f"r = Cast<to = {to}>(s) q = Cast<to = 7>(r)"))
    if (to, size) == (9, "300"):
        unproven(one, other, {"x": floats(300)})
    # Of an unknown size ONNX Runtime infers nothing, and only a bool is right: 0 or 1.
    assert prove(one, other).proven == (proven or (to, size) == (9, "N"))


def test_memory_of_values_whose_dims_onnx_runtime_infers() -> None:
    """Of its own operators, ONNX infers nothing: here it takes 0 windows for one."""
    text = """g (uint8[1, 1, 1] x) => (int64 y, uint8[1, 1, L] z) <float s = {1}, uint8 o = {0}> {
        %s }"""
    pool = """e = com.microsoft.QLinearAveragePool
        <kernel_shape = [3], ceil_mode = 1, strides = [2]>(x, s, o, s, o) y = Size(e) """
    moves = (
        "t = Transpose<perm = [0, 2, 1]>(x) u = Concat<axis = 2>(t, t) z = Concat<axis = 2>(u, u) "
    )
    one, other = (parse(text % body) for body in (moves + pool, pool + moves))
    for model in (one, other):
        model.opset_import.add(domain="com.microsoft", version=1)
    text = f"QLinearAveragePool gives the dims that ONNX Runtime {version} infers"
    assert text in str(prove(one, other))


def test_memory_of_values_whose_sizes_got_an_axis() -> None:
    """Of the column [[300], [0]] of sizes, ONNX infers the first one only."""
    text = """g (float[N, 300, 0] w, float[300] x) => (float[K, M] y, float[L] z)
        <int64 zero = {0}, int64[1] last = {-1}> {
        s = Shape<start = 1>(w) %s t = Transpose(x) u = Concat<axis = 0>(t, t)
        v = Concat<axis = 0>(u, u) z = Concat<axis = 0>(v, v)
        e = Expand(float [2], q) f = Concat<axis = 0>(e, e) y = Concat<axis = 0>(f, f) }"""
    one = parse(text % "q = Identity(s)")
    other = parse(text % "column = Unsqueeze(s, last) q = Gather<axis = 1>(column, zero)")
    unproven(one, other, {"w": floats(2, 300, 0), "x": floats(300)})


@pytest.mark.parametrize(
    ("dims", "sizes", "ends"),
    [
        (
            "12",
            """f = Cast<to = 1>(%s) g = Cast<to = 1>(n) h = Cast<to = 1>(m) r = Div(g, h)
            o = Div(f, r) q = Cast<to = 7>(o)""",
            "d = Concat<axis = 0>(e, e) y = Concat<axis = 0>(d, d)",
        ),
        ("4, 1", "q = Squeeze(%s)", "d = Mul(e, p) b = Neg(d) y = Neg(b)"),
    ],
)
def test_memory_of_values_whose_sizes_are_divided_or_squeezed(
    dims: str, sizes: str, ends: str
) -> None:
    """ONNX Runtime infers 12 / (7 / 2) = 4 of floats, too, and takes [4, 1] for [4]."""
    text = """g (float[%s] x, float[7] w, float[2] v, float[4] p) => (float[?] y, float[M] z)
        <float[1] c = {2}> { s = Shape(x) i = Identity(s) n = Shape(w) m = Shape(v) %s
        t = Transpose(p) u = Concat<axis = 0>(t, t) z = Concat<axis = 0>(u, u)
        e = Expand(c, q) %s }"""
    one, other = (parse(text % (dims, sizes % name, ends)) for name in "is")
    for made in (one, other):
        made.graph.output[0].type.tensor_type.ClearField("shape")
    x = floats(*map(int, dims.split(", ")))
    feed = {"x": x, "w": floats(7), "v": floats(2), "p": floats(4)}
    assert outcome(one, feed)
    unproven(one, other, feed)


def test_memory_of_values_whose_sizes_are_constants_in_the_first_model() -> None:
    text = """g (float[300] x) => (float[K] y, float[L] z) <int64[1] n = {300}> {
        s = %s r = Cast<to = 9>(s) q = Cast<to = 7>(r) t = Transpose(x)
        u = Concat<axis = 0>(t, t) v = Concat<axis = 0>(u, u) z = Concat<axis = 0>(v, v)
        e = Expand(float [2], q) f = Concat<axis = 0>(e, e) y = Concat<axis = 0>(f, f) }"""
    one, other = (parse(text % made) for made in ("Identity(n)", "Shape(x)"))
    unproven(one, other, {"x": floats(300)})


@pytest.mark.parametrize(
    ("n", "count", "used"),
    [
        (70000, 49000, "b = Cast<to = 6>(d) r = Div(m, b) q = Cast<to = 7>(r) e = Expand(c, q)"),
        (70000, 49000, "l = Cast<to = 7>(m) q = Div(l, d) e = Expand(c, q)"),
        (65536, 65536, "e = Slice(x, nil, m)"),
    ],
)
def test_memory_of_values_whose_sizes_wrap(n: int, count: int, used: str) -> None:
    """ONNX Runtime infers 70000 * 70000 / 100000 = 49000, and int32 wraps around."""
    text = """g (float[%d] x, float[100000] w, float[%d] p) => (float[K] y, float[M] z)
        <float[1] c = {2}, int32[1] nil = {0}> { s = Shape(x) d = Shape(w) i = Identity(s)
        a = Cast<to = 6>(%s) m = Mul(a, a) %s
        t = Transpose(p) u = Concat<axis = 0>(t, t) z = Concat<axis = 0>(u, u)
        f = Concat<axis = 0>(e, e) y = Concat<axis = 0>(f, f) }"""
    one, other = (parse(text % (n, count, name, used)) for name in "is")
    unproven(one, other, {"x": floats(n), "w": floats(100000), "p": floats(count)})


@pytest.mark.parametrize("bits", [32, 64])
def test_memory_of_a_range_whose_bounds_are_far_apart(bits: int) -> None:
    """ONNX infers its size from a difference that wraps around: here 5, where a run gives 0."""
    last = 2 ** (bits - 1) - 1
    text = f"""g (int{bits}[5] p) => (int{bits}[K] y, int{bits}[M] z) <int64[1] none = {{0}},
        int{bits} a = {{{last}}}, int{bits} b = {{{3 - last}}}, int{bits} one = {{1}}> {{
        %s t = Neg(p) u = Neg(t) z = Neg(u) f = Neg(e) g = Neg(f) y = Neg(g) }}"""
    zero = f"ConstantOfShape <value = int{bits}[1] {{0}}> (none)"
    one, other = (parse(text % f"e = {made}") for made in (zero, "Range(a, b, one)"))
    unproven(one, other, {"p": np.arange(5, dtype=f"int{bits}")})


@pytest.mark.parametrize("equal", [True, False])
def test_memory_of_values_within_a_branch(equal: bool) -> None:
    """The branch that is taken is followed, also if both models have it, with other names."""
    text = """g (float[300] x) => (float[K] y) <float[1] c = {2},
        bool yes = {1}> { n = Shape(x) m = Max(n, [1]) a = Reshape(x, m) %s }"""
    branch = """s = Shape(a) r = Cast<to = 9>(s) q = Cast<to = 7>(r) t = Transpose(a)
        u = Concat<axis = 0>(t, t) v = Concat<axis = 0>(u, u) z = Concat<axis = 0>(v, v)
        e = Expand(c, q) f = Concat<axis = 0>(e, e) g = Concat<axis = 0>(f, f)
        o = Concat<axis = 0>(z, g)"""
    other = re.sub(r"\b([srqtuvzefgo])\b", r"\1\1", branch).replace("(a", "(x").replace("a)", "x)")
    taken = """y = If(yes) <then_branch = p () => (float[L] %s) { %s },
        else_branch = n () => (float[L] w) { w = Neg(a) }>"""
    same = taken.replace("Neg(a)", "Neg(x)") % ("oo", other)
    models = [
        parse(text % (taken % ("o", branch) if equal else f"{branch} y = Identity(o)")),
        parse(text % same),
    ]
    for model in models:
        model.graph.output[0].type.tensor_type.ClearField("shape")
    proof = unproven(models[0], models[1], {"x": floats(300)})
    assert f"ONNX Runtime {version} infers of 'ee' that axis 0 has size 300" in str(proof)


def test_memory_that_is_given_to_a_value_whose_dim_has_the_same_name() -> None:
    """So ONNX Runtime may fail if dims of one name differ, and does not for the first model."""
    text = """g (int64[N] x, int64[N] w) => (int64[N] y, int64[M] z) <int64[1] o = {1}> {
        %s = %s(x%s) %s z = Neg(%s) }"""
    one = parse(text % ("y", "Neg", "", "", "w"))
    nodes = "u = Sub(t, o) y = Neg(u) s = Add(w, o) v = Sub(s, o)"
    other = parse(text % ("t", "Add", ", o", nodes, "v"))
    feed = {"x": np.arange(5), "w": np.arange(3)}
    assert outcome(one, feed)
    assert not outcome(other, feed)
    assert prove(one, other).proven
    assert prove(one, other, distrust_dims=True).kind == "unknown"


def test_a_stated_name_of_a_value_whose_rank_is_not_known() -> None:
    """ONNX Runtime gives the memory of such a value to another of the same dims."""
    text = """g (float[N] x, int64[K] s) => (float[N] z) {
        c = ConstantOfShape(s) d = Neg(c) e = ReduceSum <keepdims = 0> (d)
        t = Add(x, e) w = Abs(t) u = Add(w, e) z = Neg(u) }"""
    one, other = parse(text), parse(text)
    for name in "cdtw":
        other.graph.value_info.append(onnx.helper.make_tensor_value_info(name, 1, ["N"]))
    unproven(one, other, {"x": floats(6), "s": np.array([2])})


def test_verify_asks_onnx_runtime_in_its_process() -> None:
    text = """g (float[300] x) => (float[K] y) <int64[1] one = {1}> {
        s = Shape(x) %s e = Expand(float [2], q) y = Neg(e) }"""
    one = parse(text % "q = Min(s, one)")
    other = parse(text % "r = Cast<to = 9>(s) q = Cast<to = 7>(r)")
    same, wrong = (onnx_scatterx.verify(one, m, prove=True, samples=1) for m in (one, other))
    assert same.proof is not None
    assert same.proof.proven
    assert f"dims are inferred as by ONNX Runtime {version}" in same.proof.assumed
    assert f"ONNX Runtime {version} infers of 'e' that axis 0 has size 300" in str(wrong.proof)


def test_what_is_not_inferred_for_certain_is_assumed() -> None:
    """Nobody is asked, or a Loop has values that are not followed."""
    one = parse("""g (float[N] x, int64 n, bool c) => (float[N] y) {
        y = Loop(n, c, x) <body = b (int64 i, bool k, float[M] v) => (bool o, float[M] w) {
            o = Identity(k) w = Neg(v) }> }""")
    assert f"ONNX Runtime {version} infers no wrong dims within Loop" in prove(one, one).assumed
    assert NOT_ASKED in prove(one, one, planner=None).assumed
    assert NOT_ASKED in prove(one, one, planner=lambda _: None).assumed
    assert NOT_ASKED not in prove(one, one).assumed

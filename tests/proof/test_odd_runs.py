"""What ONNX Runtime does besides what a node says: it rounds later, plans memory, and draws."""

import re

import numpy as np
import pytest
from onnxruntime import __version__ as version

import onnx_scatterx
from onnx_scatterx.proof.declarations import NOT_ASKED
from tests.helpers.pair import open_session
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


def test_the_last_bits_of_a_double_gelu() -> None:
    text = """g (double[N] x) => (double[M] y) <int64[1] one = {1}, int64[1] all = {999}> { %s }"""
    op = 'Gelu <approximate = "tanh">'
    one = parse(text % f"z = {op} (x) y = Slice(z, one, all)", 20)
    other = parse(text % f"s = Slice(x, one, all) y = {op} (s)", 20)
    drawn = [floats(n, spread=2).astype(np.float64) for n in range(2, 300)]
    feed = next({"x": x} for x in drawn if outcome(one, {"x": x}) != outcome(other, {"x": x}))
    unproven(one, other, feed)


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


@pytest.mark.parametrize("op", ["BiasDropout", "Sampling"])
def test_operators_of_the_runtime_that_draw(op: str) -> None:
    text = "g (float[N] x) => (float[N] y, float[N] z) { y = com.microsoft.%s(x) %s }"
    pair = [
        parse(text % (op, node % op), more=', "com.microsoft" : 1')
        for node in ("z = com.microsoft.%s(x)", "z = Identity(y) w = com.microsoft.%s(x)")
    ]
    assert "draws at random" in str(prove(*pair))


@pytest.mark.parametrize("end", [2**31 - 1, 2**63 - 1])
def test_a_slice_backwards_to_the_greatest_end(end: int) -> None:
    """It takes all, and ONNX infers that it takes nothing: the default options fold by that."""
    one = parse("""g (float[5] x) => (int64[1] y) {
        t = Gather(x, [3, 2, 1, 0]) y = Shape(t) }""")
    other = parse(f"""g (float[5] x) => (int64[1] y) <int64[1] s = {{3}}, int64[1] e = {{{end}}},
        int64[1] a = {{0}}, int64[1] m = {{-1}}> {{ t = Slice(x, s, e, a, m) y = Shape(t) }}""")
    feed = {"x": floats(5)}
    assert outcome(one, feed) == outcome(other, feed)
    (folded,) = open_session(other, fused=True).run(None, feed)
    assert folded.tolist() == [0]
    assert prove(one, other).kind == "unknown"


def test_a_custom_operator_is_assumed_to_draw_nothing() -> None:
    model = parse("g (float[2, 2] x) => (float[2, 2] y) { y = their.own.Draw(x) }")
    model.opset_import.add(domain="their.own", version=1)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    proof = prove(model, model)
    assert proof.proven
    assert "operators of their.own are functions of their inputs, and draw nothing" in proof.assumed

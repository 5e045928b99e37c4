"""Functions that are named like the operators that the rules look for, or that hide such.

Of a function of the default domain, and of an operator that ONNX Runtime has in another, the
operator runs.
"""

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.targets.target import Target
from tests.helpers.judged import judge
from tests.helpers.support import assert_sound, f32, i64, parse, sample

RAISING = Target("raising", extra=frozenset({"TensorScatter"}))
MASK = np.array([True, False, False, True])


def model(graph: str, function: str, opset: int = 18, ir_version: int = 8) -> onnx.ModelProto:
    """Parse a graph and the one function that it calls."""
    head = f'<domain: "local", opset_import: ["" : {opset}]> '
    return parse(graph + head + function, opset, ir_version)


def test_a_slice_that_negates() -> None:
    # x[m] = w[:n] takes the updates from w itself.
    graph = """g (float[4] x, float[N] w, bool[4] m) => (float[4] y)
        <int64[1] zero = {0}, int64[1] one = {1}> {
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        s = Shape (i)
        k = Slice (s, zero, one)
        u = local.Slice (w, zero, k)
        y = ScatterND (x, i, u) }"""
    function = """Slice (w, a, k) => (u) {
        v = Slice (w, a, k)
        u = Neg (v) }"""
    feed = {"x": f32([1, 2, 3, 4]), "w": f32([7, 8, 9]), "m": MASK}
    assert_sound(model(graph, function), feed, left=0)


def test_an_expand_that_negates() -> None:
    # The mask is looked at before it was broadcast.
    graph = """g (float[2,4] x, float v, bool[4] m) => (float[2,4] y)
        <int64[1] zero = {0}, int64[1] one = {1}, int64[2] shape = {2, 4}> {
        e = local.Expand (m, shape)
        n = NonZero (e)
        i = Transpose <perm = [1, 0]> (n)
        s = Shape (i)
        k = Slice (s, zero, one)
        u = Expand (v, k)
        y = ScatterND (x, i, u) }"""
    function = """Expand (m, s) => (e) {
        n = Not (m)
        e = Expand (n, s) }"""
    feed = {"x": f32(np.arange(8).reshape(2, 4)), "v": f32(9), "m": MASK}
    assert_sound(model(graph, function), feed, left=0)


def test_a_transpose_that_negates() -> None:
    # A cache that is written behind a Transpose is raised to TensorScatter in front of it.
    graph = """g (float[2,5,3] x, float[2,2,3] u, int64 p) => (float[5,2,3] y)
        <int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64[1] last = {-1}> {
        r = Range (zero, two, one)
        c = Add (r, p)
        i = Unsqueeze (c, last)
        t = local.Transpose (x)
        v = Transpose <perm = [1, 0, 2]> (u)
        y = ScatterND (t, i, v) }"""
    function = """Transpose (x) => (y) {
        t = Transpose <perm = [1, 0, 2]> (x)
        y = Neg (t) }"""
    x, u = f32(np.arange(30).reshape(2, 5, 3)), f32(100 + np.arange(12).reshape(2, 2, 3))
    feeds = [{"x": x, "u": u, "p": i64(p)} for p in (0, 3, -2)]
    assert_sound(model(graph, function, 24, 11), *feeds, left=0, target=RAISING)


def test_positions_that_a_function_finds() -> None:
    # What they are counted in, or sorted by, is not seen outside of the function.
    graph = """g (float[6] x, bool[6] m, float[N] u, float[6] k, float[6] v)
        => (float[6] y, float[6] z) {
        y = ScatterND (x, local.rows (m), u)
        z = ScatterElements <axis = 0> (x, local.order (k), v) }"""
    functions = """<domain: "local", opset_import: ["" : 18]> rows (m) => (i) {
            n = Not (m)
            r = NonZero (n)
            i = Transpose <perm = [1, 0]> (r) }
        <domain: "local", opset_import: ["" : 18]> order (k) => (i) {
            six = Constant <value = int64[1] {6}> ()
            n = Neg (k)
            s, i = TopK (n, six) }"""
    m = np.array([1, 0, 0, 1, 1, 1], bool)
    feed = {"x": f32(np.arange(6)), "m": m, "u": f32([7, 8]), "k": f32([3, 1, 2, 9, 0, 5])}
    assert_sound(parse(graph + functions), feed | {"v": f32(np.arange(6, 12))})


def test_a_position_for_each_row_that_a_function_finds() -> None:
    graph = """g (float[3,5] x, float[3,5] k, float[3,1] u) => (float[3,5] y) {
        y = ScatterElements <axis = 1> (x, local.best (k), u) }"""
    function = """<domain: "local", opset_import: ["" : 18]> best (k) => (i) {
            n = Neg (k)
            a = ArgMax <axis = 1> (n)
            i = Identity (a) }"""
    feed = {"x": sample("float32", 3, 5), "k": sample("float32", 3, 5, seed=1)}
    u = sample("float32", 3, 1, seed=2)
    assert_sound(parse(graph + function), feed | {"u": u}, left=0)


ROW = """g (float[4] x, float[1] u, int64[1,1] q) => (float[4] y) {{
        i = {node} (q)
        y = ScatterND (x, i, u) }}
    <domain: "{domain}", opset_import: ["" : 18]> {name} (a) => (b) {{
        c = Constant <value = int64[1,1] {{2}}> ()
        b = Identity (c) }}"""
FED = [{"x": sample("float32", 4), "u": f32([9]), "q": i64([[k]])} for k in (0, 1, 3)]


@pytest.mark.parametrize("domain", ["", "ai.onnx"])
@pytest.mark.parametrize("node", ["Abs", "ai.onnx.Abs"])
def test_a_function_of_the_default_domain_is_never_called(domain: str, node: str) -> None:
    model = parse(ROW.format(node=node, domain=domain, name="Abs"))
    assert_sound(model, *FED)
    assert judge(model, FED) == len(FED)


def test_nor_one_of_an_overload() -> None:
    model = parse(ROW.format(node="Abs", domain="", name="Abs"))
    for named in (model.functions[0], model.graph.node[0]):
        named.overload = "other"
    model.ir_version = 10
    assert_sound(model, *FED)
    assert judge(model, FED) == len(FED)


def test_a_scatter_that_a_function_is_named_like() -> None:
    model = parse("""g (float[4] x, float[1] u) => (float[4] y) <int64[1,1] i = {1}> {
            y = ScatterND (x, i, u) }
        <domain: "", opset_import: ["" : 18]> ScatterND (a, b, c) => (d) { d = Neg (a) }
        <domain: "", opset_import: ["" : 18]> Concat (a, b, c) => (d) { d = Neg (a) }
        <domain: "", opset_import: ["" : 18]> Slice (a, b, c) => (d) { d = Neg (a) }""")
    assert_sound(model, *({k: f[k] for k in ("x", "u")} for f in FED), left=0)


@pytest.mark.parametrize("domain", ["com.microsoft", "local"])
@pytest.mark.parametrize("name", ["Unique", "Other"])
def test_a_domain_in_which_the_runtime_has_operators(domain: str, name: str) -> None:
    """com.microsoft has an operator Unique, which gives the different numbers of a vector."""
    model = parse(
        f"""g (float[4] x, float[2] u, float[4] q) => (float[4] y) {{
            a, b, c = {domain}.{name} (q)
            k = Shape (a)
            one = Constant <value = int64[1] {{1}}> ()
            i = Unsqueeze (b, one)
            h = Slice (i, one, k)
            v = Slice (u, one, k)
            y = ScatterND (x, h, v) }}
        <domain: "{domain}", opset_import: ["" : 18]> {name} (a) => (b, c, d) {{
            b = Constant <value = float[2] {{1, 1}}> ()
            c = Constant <value = int64[2] {{2, 3}}> ()
            d = Constant <value = int64[2] {{1, 1}}> () }}""",
        more=f', "{domain}" : 1',
    )
    feeds = [
        {"x": FED[0]["x"], "u": f32([8, 9]), "q": f32(q)} for q in ([5, 5, 6, 6], [5, 6, 5, 6])
    ]
    assert_sound(model, *feeds)
    assert judge(model, feeds) == len(feeds)
    (scatter,) = onnx_scatterx.inspect(model, target="standard").scatters
    assert (scatter.footprint == "unknown") is (domain != "local")


def test_a_target_without_the_operator_is_told_of_it() -> None:
    model = parse("""g (bool[4] x) => (int64[1,N] y) { y = NonZero (x) }
        <domain: "", opset_import: ["" : 18]> NonZero (a) => (b) { b = Identity (a) }""")
    npu = Target("npu", avoid=frozenset({"NonZero"}))
    (violation,) = onnx_scatterx.optimize(model, target=npu).report.violations
    assert violation.op == "NonZero"


def test_a_shape_that_gives_out_its_input() -> None:
    # The sizes of what a write gives are known without it, but not the other output.
    graph = """g (float[N] x, float[2] u) => (int64[1] n, float[N] z) {
        y = ScatterND (x, [[0], [1]], u)
        s, z = local.Shape (y)
        n = Neg (s) }"""
    function = """Shape (x) => (s, z) {
        s = Shape (x)
        z = Neg (x) }"""
    for target in ("standard", "qnn"):
        feeds = ({"x": sample("float32", size), "u": f32([8, 9])} for size in (2, 5))
        assert_sound(model(graph, function), *feeds, target=target, left=0)


@pytest.mark.parametrize("op", ["Transpose", "Identity"])
def test_a_move_without_an_input(op: str) -> None:
    graph = f"""g (float[2] x) => (float[2] y) {{
        u = local.{op} ()
        s = ScatterND (x, [[0], [1]], u)
        y = Neg (s) }}"""
    function = f"""{op} () => (u) {{
        u = Constant <value_floats = [1.0, 2.0]> () }}"""
    assert_sound(model(graph, function), {"x": f32([3, 4])}, left=0)

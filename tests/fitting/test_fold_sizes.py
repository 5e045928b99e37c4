"""What follows from sizes that are numbers is a constant, the same as ONNX Runtime computes."""

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx import ScatterXError
from onnx_scatterx.assumptions.fixed_sizes import Fix
from onnx_scatterx.engine.budget.limits import LIMITS, Limits
from onnx_scatterx.fitting import constant_finder, fold_sizes
from onnx_scatterx.passes import FixSizes, FoldSizes, InlineKnownIfs
from tests.helpers.pair import SESSIONS, Feed, Pair, agree
from tests.helpers.support import f32, nodes, parse, run, sample


def fixed(model: onnx.ModelProto, fix: Fix, target: str = "standard") -> onnx.ModelProto:
    """Return a model at fixed sizes, which is valid."""
    made = ir.from_proto(model)
    FixSizes(fix, target=target)(made)
    proto = ir.to_proto(made)
    onnx.checker.check_model(proto, full_check=True)
    return proto


def operators(model: onnx.ModelProto) -> list[str]:
    return sorted(node.op_type for node in nodes(model))


def same(model: onnx.ModelProto, fix: Fix, *feeds: Feed, target: str = "standard") -> list[str]:
    """Compare a model with itself at fixed sizes; return the operators that are left."""
    after = fixed(model, fix, target)
    pair = Pair(model, after)
    assert all(pair.accepts(feed) for feed in feeds)
    return operators(after)


SHAPE = """g (float[N, M] x) => (float[K] y) <int64[1] last = {-1}> {
    s = Shape (x)  n = ReduceProd <keepdims = 1> (s)  y = Reshape <allowzero = 1> (x, n) }"""


@pytest.mark.parametrize("n", [0, 2])
def test_strings_are_computed_in_the_run(n: int) -> None:
    model = parse("""g (string[N] x) => (string[M] y) {
        z = Slice (x, [2], [2])
        y = Concat <axis = 0> (z, x) }""")
    feed = {"x": np.array(["a", ""][:n], object)}
    assert same(model, {"N": n}, feed) == ["Concat", "Slice"]


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("m", [0, 1, 2])
def test_every_size(n: int, m: int) -> None:
    model = parse(SHAPE)
    left = same(model, {"N": n, "M": m}, {"x": sample("float32", n, m)})
    assert left == (["Reshape"] if n * m else ["Constant"])
    after = fixed(model, {"x": [n, m]})
    (output,) = after.graph.output
    assert [d.dim_value for d in output.type.tensor_type.shape.dim] == [n * m]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_an_expand_that_leaves_no_element(n: int) -> None:
    """ONNX Runtime's default options drop an Expand of one row to no rows, if that is constant."""
    model = parse("""g (float[N] x, float[1, 4] u) => (float[A, B] y, int64[2] r) {
            n = Shape (x)  s = Concat <axis = 0> (n, [4])  a = Neg (u)  e = Expand (a, s)
            r = Shape (e)  y = Mul (e, float 2.0) }""")
    feed = {"x": sample("float32", n), "u": sample("float32", 1, 4)}
    same(model, {"N": n}, feed)
    runs = [SESSIONS[1](m).run(None, feed)[0] for m in (model, fixed(model, {"N": n}))]
    assert agree(*runs)


def test_a_reshape_of_nothing_into_a_size_of_the_run() -> None:
    """ONNX's shape inference takes the size for -1, and refuses -1 beside a 0, once x is known."""
    model = parse("""g (float[N] x, float[M, 2] z) => (float[A, B] y) {
            n = Shape (x)  s = Concat <axis = 0> ([0], n)  none = ReduceProd <keepdims = 1> (s)
            few = Slice (x, [0], none)  r = Reshape (few, s)  y = Trilu (r) }""")
    feed = {"x": sample("float32", 3), "z": sample("float32", 2, 2)}
    assert all(session(model).run(None, feed)[0].shape == (0, 3) for session in SESSIONS)
    left = same(model, {"M": 2}, feed)
    assert left == operators(model)


def test_a_size_that_is_copied_beside_one_that_is_copied_from_nothing() -> None:
    """One 0 of the target stands for an empty dim, another one for a dim that is not empty."""
    model = parse("""g (float[N] x, float[M, 2] z) => (float[A, B, C] y) {
            n = Shape (x)  s = Concat <axis = 0> ([0], [0], n)
            none = ReduceProd <keepdims = 1> (s)
            few = Slice (z, [0], none)  r = Reshape (few, s)  y = Trilu (r) }""")
    feed = {"x": sample("float32", 3), "z": sample("float32", 2, 2)}
    assert all(session(model).run(None, feed)[0].shape == (0, 2, 3) for session in SESSIONS)
    assert same(model, {"M": 2}, feed) == operators(model)


def test_a_function_whose_sizes_are_known_a_round_later_stays_one() -> None:
    """A function is inlined if it computes sizes when nothing more is found to fold."""
    model = parse("""g (float[N] v, float[7] x) => (float[A] y) {
            n = Cast <to = 7> (Exp (Cast <to = 1> (Shape (v))))
            a = Reshape (x, n)
            y = f.tiled (a) }
        <domain: "f", opset_import: ["" : 18]> tiled (x) => (y) {
            s = Shape (x)
            y = Tile (x, s) }""")
    feed = {"v": f32([0, 0]), "x": sample("float32", 7)}
    left = same(model, {"N": 2}, feed, target="qnn")
    assert left == ["Constant", "Reshape", "Tile", "tiled"]


def test_a_branch_that_is_known_before_is_another_pass() -> None:
    """If nothing that is folded decides an If, it is left to InlineKnownIfs."""
    model = parse("""g (float[4] x) => (float[4] y) {
        c = Equal (Size (x), 4)
        y = If (c) <then_branch = t () => (p) { p = Neg (x) },
                    else_branch = e () => (q) { q = Abs (x) }> }""")
    for taken, step in ((["If"], FoldSizes), (["Neg"], InlineKnownIfs)):
        made = ir.from_proto(model)
        step(target="qnn")(made)
        assert [node.op_type for node in made.graph if node.op_type in ("If", "Neg")] == taken


def test_some_sizes_leave_the_rest_symbolic() -> None:
    text = """g (float[N, M] x) => (float[K, L] y) {
        s = Shape (x)  z = ConstantOfShape <value = float[1] {2}> (s)  y = Add (x, z) }"""
    left = same(parse(text), {"N": 2}, {"x": sample("float32", 2, 3)})
    assert left == ["Add", "ConstantOfShape", "Shape"]


def test_inputs_that_declare_one_name_need_not_agree() -> None:
    """For a device this is folded without being asked, so it must hold at sizes that differ."""
    text = """g (float[N] x, float[N] u, float[2, 3] c) => (bool[1] b, int64[2] s, float[A] y)
        <int64[1, 1] i = {0}> { m = Shape (x)  n = Shape (u)  b = Equal (m, n)  s = Shape (c)
            w = Slice (u, zero, one)  y = ScatterND (x, i, w) }"""
    model = parse(text.replace("{0}>", "{0}, int64[1] zero = {0}, int64[1] one = {1}>"))
    after = onnx_scatterx.optimize(model, target="qnn").model
    assert "Equal" in operators(after)
    c = sample("float32", 2, 3)
    pair = Pair(model, after)
    assert all(pair.accepts({"x": f32([1, 2]), "u": f32(u), "c": c}) for u in ([1, 2], [1, 2, 3]))


def test_declared_shapes_are_forgotten_or_found() -> None:
    text = """g (float[N, 4] x, bool[N] m) => (float[N, 4] y, int64[1, K] z, float[L] w)
        <float[N, 4] a, float[N, N] wrong> { a = Neg (x)  y = Abs (a)  z = NonZero (m)
        wrong = Flatten (y)  f = Reshape (y, all)  w = Identity (f) }"""
    model = parse(text.replace("<float", "<int64[1] all = {-1}, float", 1))
    after = fixed(model, {"N": 2})
    found = {
        v.name: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim]
        for v in (*after.graph.value_info, *after.graph.output)
        if v.name != "all"
    }
    assert found == {"a": [2, 4], "wrong": [2, 4], "y": [2, 4], "z": [1, "K"], "w": [8]}
    assert Pair(model, after).accepts({"x": sample("float32", 2, 4), "m": np.array([True, False])})


def test_outputs_that_are_known_keep_their_names() -> None:
    text = """g (float[N, 4] x) => (int64[2] s, int64 n, int64[2] again) {
        s = Shape (x)  n = Size (x)  again = Identity (s) }"""
    after = fixed(parse(text), {"N": 0})
    assert [v.name for v in after.graph.output] == ["s", "n", "again"]
    assert set(operators(after)) == {"Constant"}
    assert Pair(parse(text), after).accepts({"x": f32(np.zeros((0, 4)))})


def test_an_initializer_that_is_an_input_is_not_known() -> None:
    text = """g (float[N] x, int64[1] k) => (int64[1] y) <int64[1] k = {3}, int64[1] c = {4}> {
        s = Shape (x)  t = Add (s, k)  y = Add (t, c) }"""
    model = parse(text)
    assert same(model, {"N": 2}, {"x": f32([1, 2])}, {"x": f32([1, 2]), "k": np.array([7])}) == [
        "Add",
        "Add",
    ]
    old = parse(text, opset=8 + 1, ir_version=3)
    for name in ("c",):
        old.graph.input.add(name=name).type.CopyFrom(old.graph.input[1].type)
    assert same(old, {"N": 2}, {"x": f32([1, 2])}) == ["Constant"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("opset", [9, 11, 13, 18, 21, 24])
def test_every_operator_set(opset: int) -> None:
    text = """g (float[N, 4] x) => (float[A, B] y) <int64[1] z = {0}> {
        s = Shape (x)  n = Gather (s, 0)  f = Cast <to = 1> (n)  h = Sqrt (f)
        e = Expand (h, s)  y = Mul (x, e) }"""
    model = parse(text, opset=opset, ir_version=8 if opset < 20 else 10)
    assert same(model, {"N": 3}, {"x": sample("float32", 3, 4)}) == ["Mul"]


FLOATS = {
    "sizes of an image": ("a, b, c, d", """
        s = Shape <start = 2> (x)  f = Cast <to = 1> (s)  h = Mul (f, half)  e = Floor (h)
        i = Cast <to = 7> (e)  j = Concat <axis = 0> (two, i)
        y = ConstantOfShape <value = float[1] {1.5}> (j)"""),
    "encodings of positions": ("a, b, c, d", """
        s = Shape <start = 3> (x)  n = Squeeze (s)  r = Range (zero, n, one)  f = Cast <to = 1> (r)
        a0 = Div (f, third)  b0 = Sin (a0)  c0 = Cos (a0)  d0 = Exp (a0)  e0 = Add (b0, c0)
        f0 = Add (d0, e0)  y = Add (x, f0)"""),
    "a range of floats": ("a", """
        s = Shape <start = 3> (x)  n = Squeeze (s)  f = Cast <to = 1> (n)
        y = Range (third, f, half0)"""),
    "half precision": ("a", """
        s = Shape (x)  f = Cast <to = 10> (s)  h = Sqrt (f)  y = Cast <to = 1> (h)"""),
    "half precision that is moved": ("a, b, c, d", """
        s = Shape (x)  f = ConstantOfShape <value = float16[1] {11878}> (s)
        t = Transpose (f)  y = Cast <to = 1> (t)"""),
    "a mask": ("a, b, c, d", """
        s = Shape <start = 2> (x)  o = ConstantOfShape <value = float[1] {1}> (s)
        t = Trilu <upper = 0> (o)  b0 = Cast <to = 9> (t)  y = Where (b0, x, least)"""),
}  # fmt: skip
LEFT = {
    "encodings of positions": ["Add"],
    "a mask": ["Where"],
    "half precision": ["Cast", "Cast", "Sqrt"],
    "half precision that is moved": ["Cast"],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("size", [0, 1, 9])
def test_floats_keep_every_bit(kind: str, size: int) -> None:
    dims, body = FLOATS[kind]
    model = parse(f"""g (float[1, 2, H, W] x) => (float[{dims}] y) <float[1] half = {{0.5}},
        int64[2] two = {{1, 2}}, int64 zero = {{0}}, int64 one = {{1}}, float third = {{0.3}},
        float half0 = {{0.5}}, float least = {{-1e38}}> {{ {body} }}""")
    feed = {"x": sample("float32", 1, 2, size, size)}
    left = same(model, {"H": size, "W": size}, feed)
    is_empty = run(model, feed)[0].size == 0
    assert left == (["Constant"] if is_empty else LEFT.get(kind, ["Constant"]))


def test_constants_of_the_model_stay() -> None:
    text = """g (float[N] x) => (float[N] y) <float[2] w = {1, 2}, float[1] v = {3}> {
        q = Mul (w, v)  t = ReduceSum <keepdims = 0> (q)  y = Add (x, t) }"""
    assert same(parse(text), {"N": 2}, {"x": f32([1, 2])}) == ["Add", "Mul", "ReduceSum"]


def test_weights_are_not_folded() -> None:
    weights = onnx.numpy_helper.from_array(sample("float32", 64, 64), "w")
    text = """g (float[N] x) => (float[a, b] y) <float[1] w = {0}> { s = Shape (x)
        r = ConstantOfShape <value = int64[1] {1}> (s)  y = Gather (w, r) }"""
    model = parse(text.replace("float[1] w = {0}", "float[1, 1] w = {0}"))
    model.graph.initializer[0].CopyFrom(weights)
    assert same(model, {"N": 2}, {"x": f32([1, 2])}) == ["Gather"]


def test_random_numbers_are_drawn_at_run_time() -> None:
    text = """g (float[N] x) => (float[a] y) { s = Shape (x)
        z = ConstantOfShape (s)  r = RandomUniformLike (z)  y = Add (x, r) }"""
    assert operators(fixed(parse(text), {"N": 2})) == ["Add", "RandomUniformLike"]


def test_branches_that_are_known() -> None:
    text = """g (float[N, 4] x) => (float[a, b] y) {
        s = Shape <start = 0, end = 1> (x)  c1 = Greater (s, [1])  c = Squeeze (c1)
        y = If (c) <then_branch = t () => (float[p, q] u) { r = Shape (x)
            o = ConstantOfShape <value = float[1] {1}> (r)  u = Add (x, o) },
        else_branch = e () => (float[v, w] k) { k = Neg (x) }> }"""
    for n, left in (2, ["Add"]), (1, ["Neg"]), (0, ["Constant"]):
        assert same(parse(text), {"N": n}, {"x": sample("float32", n, 4)}) == left


def test_branches_that_a_float_decides() -> None:
    text = """g (float[N, 4] x) => (float[a, b] y) {
        s = Size (x)  f = Cast <to = 1> (s)  r = Sqrt (f)  c = Greater (r, float 2.0)
        y = If (c) <then_branch = t () => (float[p, q] u) { r0 = Shape (x)
            o = ConstantOfShape <value = float[1] {1}> (r0)  u = Add (x, o) },
        else_branch = e () => (float[v, w] k) { k = Neg (x) }> }"""
    for n, left in (2, ["Add"]), (1, ["Neg"]), (0, ["Constant"]):
        assert same(parse(text), {"N": n}, {"x": sample("float32", n, 4)}) == left


def test_branches_in_functions() -> None:
    text = """g (float[N, 4] x) => (float[a, b] y) { y = own.f (x) }
        <domain: "own", opset_import: ["" : 18]> f (v) => (w) {
            s = Shape <start = 0, end = 1> (v)  q = Squeeze (s)
            one = Constant <value_int = 1> ()  c = Greater (q, one)
            w = If (c) <then_branch = t () => (u) { u = Abs (v) },
                else_branch = e () => (k) { k = Neg (v) }> }"""
    model = parse(text)
    for n, left in (2, ["Abs"]), (1, ["Neg"]):
        assert same(model, {"N": n}, {"x": sample("float32", n, 4)}, target="qnn") == left


def test_branches_that_are_not_known() -> None:
    text = """g (float[N, 4] x, bool c) => (float[a, b] y) {
        s = Shape (x)
        y = If (c) <then_branch = t () => (float[p, q] u) { r = Shape (x)
            o = ConstantOfShape <value = float[1] {1}> (r)  u = Add (x, o) },
        else_branch = e () => (float[v, w] k) { z = ConstantOfShape (s)  k = Sub (x, z) }> }"""
    x = sample("float32", 2, 4)
    feeds = [{"x": x, "c": np.array(c)} for c in (True, False)]
    assert same(parse(text), {"N": 2}, *feeds) == ["Add", "If", "Sub"]


def test_results_of_branches_that_are_known() -> None:
    text = """g (float[N, 4] x, bool c) => (int64[a] y) {
        y = If (c) <then_branch = t () => (int64[p] u) { u = Shape (x) },
        else_branch = e () => (int64[v] k) { r = Shape (x)  k = Neg (r) }> }"""
    feeds = [{"x": sample("float32", 2, 4), "c": np.array(c)} for c in (True, False)]
    assert same(parse(text), {"N": 2}, *feeds) == ["Constant", "Constant", "If"]


def test_loops() -> None:
    text = """g (float[N, 2] x, int64 n) => (float[a, b] y) {
        y = Loop (n, , x) <body = l (int64 i, bool c, float[p, q] v)
            => (bool d, float[r, t] w) { s = Shape (v)  d = Identity (c)
                o = ConstantOfShape <value = float[1] {1}> (s)  w = Add (v, o) }> }"""
    for size, left in (3, ["Add", "Identity", "Loop"]), (0, ["Constant"]):
        feeds = [{"x": sample("float32", size, 2), "n": np.array(n)} for n in (0, 1, 3)]
        assert same(parse(text), {"N": size}, *feeds) == left


def test_loops_in_which_a_tensor_grows() -> None:
    text = """g (float[N, 2] x, int64 n) => (float[a, b] y) {
        y = Loop (n, , x) <body = l (int64 i, bool c, float[p, q] v)
            => (bool d, float[r, t] w) { s = Shape (v)  d = Identity (c)
                o = ConstantOfShape <value = float[1] {1}> (s)  w = Concat <axis = 0> (v, o) }> }"""
    feeds = [{"x": sample("float32", 3, 2), "n": np.array(n)} for n in (0, 1, 3)]
    left = same(parse(text), {"N": 3}, *feeds)
    assert left == ["Concat", "ConstantOfShape", "Identity", "Loop", "Shape"]


FUNCTIONS = """g (float[N, 4] x, float[M, 4] u) => (float[a, b] y, float[c, d] z) {
        y = own.f (x)  z = own.f (u) }
    <domain: "own", opset_import: ["" : 18]> f (v) => (w) {
        s = Shape (v)  o = ConstantOfShape <value = float[1] {1}> (s)  w = Add (v, o) }"""


def test_functions() -> None:
    model = parse(FUNCTIONS)
    feed = {"x": sample("float32", 2, 4), "u": sample("float32", 3, 4)}
    assert same(model, {"N": 2, "M": 2}, feed | {"u": feed["x"]}) == ["Add", "Constant", "f", "f"]
    assert same(model, {"N": 2, "M": 3}, feed) == ["Add", "ConstantOfShape", "Shape", "f", "f"]
    assert same(model, {"N": 2, "M": 3}, feed, target="qnn") == ["Add", "Add"]


def test_a_division_by_zero_is_left_as_it_is() -> None:
    model = parse("""g (float[N, 4] x) => (int64[A] k) {
        s = Shape (x)  k = Div (s, [0, 3]) }""")
    assert operators(fixed(model, {"N": 3})) == ["Div"]


def test_external_data_stay_outside(tmp_path: Path) -> None:
    text = """g (float[N, 4] x) => (float[a, b] y) <float[4, 8] w = {0}> {
        s = Shape (x)  o = ConstantOfShape <value = float[1] {1}> (s)  p = Add (x, o)
        y = MatMul (p, w) }"""
    model = parse(text.replace("{0}", f"{{{', '.join(['0.5'] * 32)}}}"))
    path = tmp_path / "in.onnx"
    onnx.save(model, path, save_as_external_data=True, size_threshold=0, location="w.bin")
    result = onnx_scatterx.optimize(path, target="qnn", fix={"N": 2})
    result.save(tmp_path / "out.onnx")
    assert operators(onnx.load(tmp_path / "out.onnx")) == ["Add", "MatMul"]
    assert onnx_scatterx.verify(path, tmp_path / "out.onnx", samples=4).same


@pytest.mark.parametrize("limits", [{"elements": 5}, {"folded_bytes": 40}, {"folding_runs": 0}])
def test_limits(limits: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (constant_finder, fold_sizes):
        monkeypatch.setattr(module, "LIMITS", Limits(**limits))
    text = """g (float[N, 4] x) => (float[a, b] y) {
        s = Shape (x)  o = ConstantOfShape <value = float[1] {1}> (s)  y = Add (x, o) }"""
    left = same(parse(text), {"N": 2}, {"x": sample("float32", 2, 4)})
    assert left == ["Add", "ConstantOfShape"]
    assert LIMITS.elements > 5


MASK = """g (float[N] x, float[N, N] a) => (float[N, N] y)
    <int64 zero = {0}, int64 one = {1}, int64[1] first = {0}, int64[1] last = {-1}> {
        n = Size (x)                       r = Range (zero, n, one)
        row = Unsqueeze (r, first)         column = Unsqueeze (r, last)
        ahead = Less (row, column)         f = Cast <to = 1> (ahead)
        y = Mul (a, f) }"""


@pytest.mark.parametrize(
    ("n", "target", "left"),
    [
        (64, "standard", ["Mul"]),  # 16 KiB
        (512, "standard", ["Cast", "Less", "Mul"]),  # 1 MiB, from rows of 4 KiB
        (512, "qnn", ["Mul"]),
    ],
)
def test_a_model_grows_by_half_at_most(n: int, target: str, left: list[str]) -> None:
    model = parse(MASK)
    assert (
        same(model, {"N": n}, {"x": f32([0] * n), "a": f32(np.ones((n, n)))}, target=target) == left
    )
    if target == "standard":
        assert fixed(model, {"N": n}).ByteSize() < model.ByteSize() + (1 << 16)


def test_a_large_model_may_grow_by_more() -> None:
    model = parse(MASK)
    weights = onnx.numpy_helper.from_array(np.zeros((512, 1024), np.float32), "w")
    model.graph.initializer.append(weights)
    model.graph.node.add(op_type="Neg", input=["w"], output=["z"])
    model.graph.output.add().CopyFrom(onnx.helper.make_tensor_value_info("z", 1, [512, 1024]))
    assert operators(fixed(model, {"N": 512})) == ["Mul", "Neg"]


def test_a_model_without_scatters_is_fixed_and_told() -> None:
    model = parse(SHAPE)
    result = onnx_scatterx.optimize(model, fix={"N": 2, "M": 3})
    assert operators(result.model) == ["Reshape"]
    assert result.report.to_dict()["fixed"] == {"N": 2, "M": 3}
    assert str(result.report).splitlines()[-1] == "sizes fixed: N = 2, M = 3"
    assert "<li>sizes fixed: N = 2, M = 3</li>" in result.report.to_html()
    assert model == parse(SHAPE)


def test_scatters_are_removed_at_fixed_sizes() -> None:
    """At these sizes alone the region is known, and the node is lowered with constant bounds."""
    text = """g (float[N, 4] x, float[M, 4] u) => (float[N, 4] y) {
            s = Shape <start = 0, end = 1> (u)  m = Squeeze (s)  r = Range (0, m, 1)
            i = Unsqueeze (r, [-1])  y = ScatterND (x, i, u) }"""
    model = parse(text)
    result = onnx_scatterx.optimize(model, target="standard", fix={"N": 5, "M": 2})
    assert operators(result.model) == ["Concat", "Slice"]
    feed = {"x": sample("float32", 5, 4), "u": sample("float32", 2, 4)}
    assert Pair(model, result.model).accepts(feed)


@pytest.mark.parametrize("target", ["standard", "scatterx", "qnn"])
def test_sizes_that_change_a_quantized_sum_are_an_error(target: str) -> None:
    """If the If is decided, only a quantizer reads the sum: ONNX Runtime adds integers."""
    text = """<ir_version: 10, opset_import: ["" : 21]>
        g (int8[N] qa, int8[N] qb, float[N] x) => (int8[N] y, float[N] p)
        <float s = {0.5}, int8 z = {0}, int64[1] two = {2}> {
            a = DequantizeLinear (qa, s, z)  b = DequantizeLinear (qb, s, z)
            t = Add (a, b)
            y = QuantizeLinear (t, s, z)
            n = Shape (x)  e = Equal (n, two)  c = Squeeze (e)
            p = If (c) <then_branch = A () => (float[N] u) { u = Neg (x) },
                        else_branch = B () => (float[N] v) { v = Abs (t) }> }"""
    why = r"the sizes \(N = 2\) cannot be written: ONNX Runtime would compute a node"
    for model in (onnx.parser.parse_model(text), ir.from_onnx_text(text)):
        with pytest.raises(ScatterXError, match=why):
            onnx_scatterx.optimize(model, target=target, fix={"N": 2})
    with pytest.raises(ScatterXError, match=why):
        FixSizes({"N": 2}, target=target)(ir.from_onnx_text(text))
    plain = text.replace("QuantizeLinear (t, s, z)", "Cast <to = 3> (t)")
    result = onnx_scatterx.optimize(ir.from_onnx_text(plain), target=target, fix={"N": 2})
    assert str(result.model.graph.inputs[0].shape) == "[2]"

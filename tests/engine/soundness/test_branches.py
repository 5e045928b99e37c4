"""An If with a known condition around scatters is replaced by the branch that is taken."""

import onnx
import onnx_ir as ir

from onnx_scatterx.passes import InlineKnownIfs
from tests.helpers.support import assert_sound, nodes, optimize, parse, sample

RANK = """
    shape = Shape (x)
    rank = Size (shape)
    zero = Constant <value = int64 {0}> ()
    scalar = Equal (rank, zero)
    d, j, w = If (scalar) <
        then_branch = a () => (float[M] p, int64[M] q, float[M] r) {
            line = Constant <value = int64[1] {-1}> ()
            p = Reshape (x, line)
            q = Reshape (i, line)
            r = Reshape (u, line) },
        else_branch = b () => (float[N,3] p, int64[N,1] q, float[N,1] r) {
            p = Identity (x)
            q = Identity (i)
            r = Identity (u) }>
    e = ScatterElements <axis = 1, reduction = "max"> (d, j, w)
    y = If (scalar) <
        then_branch = c () => (float[M] p) { p = Squeeze (e) },
        else_branch = d () => (float[M] p) { p = Identity (e) }>"""
FEEDS = [{"N": n, "i": sample("bool", n, 1).astype("int64") * 3 - 1} for n in (0, 1, 4)]


def operators(model: onnx.ModelProto) -> set[str]:
    return {node.op_type for node in nodes(model)}


def test_an_if_that_asks_for_a_rank() -> None:
    """Exporters write this for scatter_reduce; the branches claim shapes that are not so."""
    model = parse(f"g (float[N,3] x, int64[N,1] i, float[N,1] u) => (float[?,?] y) {{ {RANK} }}")
    assert_sound(model, *FEEDS, left=0)
    assert not {"If", "Size", "Squeeze"} & operators(optimize(model))


def test_a_scatter_that_only_the_other_branch_reads_is_dead() -> None:
    model = """g (float[4,3] x, float[1,3] u) => (float[4,3] y)
        <bool no = {0}, int64[1,1] i = {2}> {
            e = ScatterND (x, i, u)
            y = If (no) <
                then_branch = a () => (float[4,3] p) {
                    p = If (no) <
                        then_branch = c () => (float[4,3] q) { q = Neg (e) },
                        else_branch = d () => (float[4,3] q) { q = Identity (e) }> },
                else_branch = b () => (float[4,3] p) { p = Abs (x) }> }"""
    assert_sound(model, left=0)
    assert operators(optimize(parse(model))) == {"Abs"}


def test_names_constants_and_results_of_branches() -> None:
    """One name in many branches; a constant of a branch that is an output of the model."""
    model = """g (float[4,2] x, float[2,2] u, bool c) => (float[4,2] y, int64[2,1] k, float[4,2] t)
        <bool yes = {1}> {
            y, k = If (yes) <
                then_branch = a () => (float[4,2] r, int64[2,1] i) <int64[2,1] i = {1, 2}> {
                        s = Neg (x)
                        r = ScatterND (s, i, u) },
                else_branch = b () => (float[4,2] s, int64[2,1] i)
                    <int64[2,1] i = {3, 0}> { s = Abs (x) }>
            t = If (c) <
                then_branch = d () => (float[4,2] r) <int64[2,1] i = {0, 3}> {
                    s = Exp (x)
                    r = ScatterND (s, i, u) },
                else_branch = e () => (float[4,2] r) { r = ScatterND (x, k, u) }> }"""
    assert_sound(model, {"c": True}, {"c": False}, left=0)
    ifs = [node for node in nodes(optimize(parse(model))) if node.op_type == "If"]
    assert len(ifs) == 1


def test_the_model_that_was_read_keeps_its_names() -> None:
    """An ir.Model shares the constants of the ModelProto; a name of two branches is replaced."""
    given = parse("""g (float[4,2] x, float[2,2] u) => (float[4,2] y, float[4,2] t)
        <bool yes = {1}> {
            y = If (yes) <
                then_branch = a () => (float[4,2] r) <int64[2,1] i = {1, 2}> {
                    r = ScatterND (x, i, u) },
                else_branch = b () => (float[4,2] s) { s = Abs (x) }>
            t = If (yes) <
                then_branch = c () => (float[4,2] p) <int64[2,1] i = {0, 3}> {
                    p = ScatterND (x, i, u) },
                else_branch = d () => (float[4,2] q) { q = Abs (x) }> }""")
    before = given.SerializeToString(deterministic=True)
    model = ir.from_proto(given)
    InlineKnownIfs()(model)
    assert [node.op_type for node in model.graph] == ["ScatterND", "ScatterND"]
    assert given.SerializeToString(deterministic=True) == before


def test_a_condition_that_declared_dims_decide_is_not_known() -> None:
    """Inputs may break what they declare."""
    model = parse("""g (float[N,2] x, float[N,2] u) => (float[?,?] y)
        <int64[1,1] i = {1}, int64 at = {0}, float[1,2] w = {1, 2}> {
            m = Shape (x)
            n = Shape (u)
            same = Equal (m, n)
            c = Gather (same, at)
            e = ScatterND (x, i, w)
            y = If (c) <
                then_branch = a () => (float[?,?] p) { p = Identity (e) },
                else_branch = b () => (float[?,?] p) { p = Neg (e) }> }""")
    x = sample("float32", 4, 2)
    assert_sound(model, {"x": x, "u": x}, {"N": 5, "x": x}, left=0)
    assert "If" in operators(optimize(model))


def test_a_condition_that_can_be_overridden_is_not_known() -> None:
    model = parse("""g (float[4,2] x, bool c = {1}) => (float[4,2] y)
        <int64[1,1] i = {1}, float[1,2] w = {1, 2}> {
            e = ScatterND (x, i, w)
            y = If (c) <
                then_branch = a () => (float[4,2] p) { p = Identity (e) },
                else_branch = b () => (float[4,2] p) { p = Neg (e) }> }""")
    assert_sound(model, {}, {"c": False}, left=0)
    assert "If" in operators(optimize(model))


def test_before_ir_version_4_branches_stay() -> None:
    """An initializer must be an input there, so a graph cannot be given one of a branch."""
    model = parse(
        """g (float[4,2] x, bool c = {1}) => (float[4,2] y) {
            y = If (c) <
                then_branch = a () => (float[4,2] p) {
                    i = Constant <value = int64[1,1] {1}> ()
                    w = Constant <value = float[1,2] {1, 2}> ()
                    p = ScatterND (x, i, w) },
                else_branch = b () => (float[4,2] p) { p = Neg (x) }> }""",
        opset=11,
        ir_version=3,
    )
    assert_sound(model, left=0)
    assert "If" in operators(optimize(model))

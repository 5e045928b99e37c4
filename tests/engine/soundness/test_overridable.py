"""An initializer that is also a graph input is a default value, no constant."""

import numpy as np
import onnx_ir as ir
import pytest

from onnx_scatterx.fitting.check_target import violations
from onnx_scatterx.targets.catalogue import target_of
from tests.helpers.pair import Feed
from tests.helpers.support import assert_sound, i64, parse, sample

ROWS = [[1, 2], [0, 4], [3, 3], [-1, 0], [2, 1]]


def feeds(name: str, *values: object) -> list[Feed]:
    """The default first, then every other value."""
    return [{}, *({name: np.array(value)} for value in values)]


def test_indices_of_elements() -> None:
    model = """g (float[5,2] x, float[2,2] u, int64[2,2] i = {0, 0, 1, 1}) => (float[5,2] y) {
        y = ScatterElements <axis = 0> (x, i, u) }"""
    assert_sound(model, *feeds("i", i64([[4, 0], [1, 1]]), i64([[2, 2], [2, 2]])))


@pytest.mark.parametrize(("ir_version", "opset"), [(3, 11), (4, 11), (8, 11), (10, 11), (8, 18)])
def test_indices_in_ir_versions(ir_version: int, opset: int) -> None:
    # Before IR version 4 every initializer is an input; ONNX Runtime then lets none be fed.
    text = """g (float[5,2] x, float[2,2] u, int64[2,1] i = {1, 2}) => (float[5,2] y) {
        y = ScatterND (x, i, u) }"""
    count = len(ROWS) if ir_version == 3 else 0
    model = parse(text, opset, ir_version)
    assert_sound(model, *feeds("i", *i64(ROWS)[..., None]), rejected=count)


def test_indices_through_a_chain() -> None:
    model = """g (float[5,2] x, float[2,2] u, int64 first = {1}) => (float[5,2] y) {
            y = ScatterND (x, Unsqueeze (Add ([0, 1], first), [-1]), u) }"""
    assert_sound(model, *feeds("first", *(i64(n) for n in (0, 3, -1, -3))))


def test_the_end_of_a_range() -> None:
    model = """g (float[5,2] x, float[5,2] v, int64 end = {5}) => (float[5,2] y) {
            i = Unsqueeze (Range (0, end, 1), [-1])
            y = ScatterND (x, i, Slice (v, [0], Shape <end = 1> (i))) }"""
    assert_sound(model, *feeds("end", 0, 1, 4))


def test_the_start_of_a_slice() -> None:
    model = """g (float[5,2] x, float[2,2] u, int64[1] start = {1}, int64[1] end = {3})
        => (float[5,2] y) {
            y = ScatterND (x, Unsqueeze (Slice ([0, 1, 2, 3, 4], start, end), [-1]), u) }"""
    assert_sound(model, {}, *({"start": [n], "end": [n + 2]} for n in (0, 3, -4)))


def test_data_that_looks_like_zeros() -> None:
    model = """g (float[2,2] u, float[5,2] x = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) => (float[5,2] y)
        { y = ScatterND (x, [[1], [2]], u) }"""
    assert_sound(model, *feeds("x", sample("float32", 5, 2)), left=0)


def test_updates_that_look_constant() -> None:
    model = """g (float[2,2] x, float[2,2] u = {1, 1, 1, 1}) => (float[2,2] y)
        { y = ScatterND (x, [[0], [1]], u) }"""
    assert_sound(model, *feeds("u", sample("float32", 2, 2)), left=0)


def test_a_shape_that_looks_constant() -> None:
    # The data is as large as the caller wants; two rows cover it only by default.
    model = """g (float[2,3] u, int64[2] s = {2, 3}) => (float[N,3] y) {
        y = ScatterND (ConstantOfShape (s), [[0], [1]], u) }"""
    assert_sound(model, *feeds("s", *([n, 3] for n in (2, 3, 7))))


def test_captured_by_a_subgraph() -> None:
    model = """g (float[5,2] x, float[2,2] u, bool c, int64[2,1] i = {1, 2}) => (float[5,2] y) {
        y = If (c) <
            then_branch = a () => (float[5,2] p) { p = ScatterND (x, i, u) },
            else_branch = b () => (float[5,2] q) { q = Neg (x) }> }"""
    chosen = [{**feed, "c": np.array(True)} for feed in feeds("i", *i64(ROWS)[..., None])]
    assert_sound(model, *chosen, {**chosen[1], "c": np.array(False)})


def test_passed_to_a_function() -> None:
    model = parse("""g (float[5,2] x, float[2,2] u, int64[2,1] i = {1, 2}) => (float[5,2] y) {
            y = local.put (x, i, u) }
        <domain: "local", opset_import: ["" : 18]>
        put (data, rows, updates) => (out) { out = ScatterND (data, rows, updates) }""")
    assert_sound(model, *feeds("i", *i64(ROWS)[..., None]))


def test_the_initializer_of_a_branch_is_constant() -> None:
    model = """g (float[5,2] x, float[2,2] u, bool c) => (float[5,2] y) {
        y = If (c) <
            then_branch = a () => (float[5,2] p) <int64[2,1] i = {1, 2}> {
                p = ScatterND (x, i, u) },
            else_branch = b () => (float[5,2] q) <int64[2,1] i = {3, 4}> {
                q = ScatterND (x, i, u) }> }"""
    base = feeds("c", True, False)[1:]
    assert_sound(model, *base, left=0)


def test_a_default_of_another_size_than_its_name() -> None:
    """A model may declare ``like`` as long as ``x``, but its default has one element."""
    model = parse("""g (float[B,2] x, float[1] like = {3}) => (float[B,2] y) {
            i = Unsqueeze (Range (0, Size (like), 1), [-1])
            y = ScatterND (x, i, Slice (Neg (x), [0], Shape <end = 1> (i))) }""")
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "B"
    assert_sound(model, {"B": 3}, {"B": 3, "like": sample("float32", 3)})


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ("y = Pad (x, pads, d)", "qnn"),
        ("y = Pad (x, pads, d)", "coreml"),
        ("e = Expand (d, s) y = Add (x, e)", "nnapi"),
        ("e = Expand (d, s) y = Add (x, e)", "coreml"),
        ("y = Where (c, x, d)", "standard, limits.Where.broadcast = false"),
        ("b = Cast <to = 9> (x) f = Concat <axis = 1> (b, q) y = Cast <to = 1> (f)",
         "standard, limits.Concat.no_types = ['bool']"),
    ],
)  # fmt: skip
def test_forms_of_devices(body: str, target: str) -> None:
    model = f"""g (float[2,3] v, bool[2,3] c, float d = {{1}}, bool[2,3] q = {{1,0,0,1,1,0}})
        => (float[a,b] y) <int64[4] pads = {{0,1,1,0}}, int64[2] s = {{2,3}}> {{
            x = ScatterND (v, [[0]], float [[4, 5, 6]]) {body} }}"""
    others = {"d": 7}, {"q": sample("bool", 2, 3, seed=2)}
    assert_sound(model, {}, *others, target=target)


def test_a_dropout_that_may_train_is_no_constant() -> None:
    # It computes with constants alone, unless the default is overridden.
    model = """g (float[2] x, bool t = {0}) => (float[2] y) {
        y = Add (x, Dropout (float [1, 2], float 0.5, t)) }"""
    target = target_of("standard, avoid = ['Dropout']")
    assert violations(ir.from_proto(parse(model)), target)

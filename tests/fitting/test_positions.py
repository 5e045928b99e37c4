"""Positions of a promised number of chosen elements, for targets that find no unknown number."""

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.assumptions.clauses import read_clauses
from onnx_scatterx.engine.analysis import interpret
from tests.helpers.pair import assert_same
from tests.helpers.support import parse

READ = """g (float[%s, 3] x, %s) => (float[N, 3] y, int64[R, N] p) <%s> {
    %s n = NonZero(m) p = Identity(n) i = Transpose(n)
    r = GatherND(x, i) y = Softmax<axis=0>(r) }"""
SORTED, COUNTED = "standard, avoid = ['NonZero']", "standard, avoid = ['NonZero', 'TopK', 'ArgMax']"
MERGED = "standard, avoid = ['NonZero', 'GatherND']"
FIXED = "standard, static_only = true"  # it has NonZero, of sizes that are known only at run time
LAST, FIRST = 2**63 - 1, -(2**63)


def mask_of(shape: tuple[int, ...], number: int, *, run: bool, seed: int) -> np.ndarray:
    rng, size = np.random.default_rng(seed), int(np.prod(shape))
    start = int(rng.integers(size - number + 1))
    at = np.arange(start, start + number) if run else rng.permutation(size)[:number]
    return np.isin(np.arange(size), at).reshape(shape)


def nodes(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def found(text: str, target: str, assume: list[str], feed: dict[str, Any]) -> onnx.ModelProto:
    """Optimize a model in which no NonZero may be left, and compare it on a feed."""
    model = parse(text)
    result = onnx_scatterx.optimize(model, target=target, assume=assume)
    assert "NonZero" not in nodes(result.model)
    assert not result.report.violations
    assert_same(model, result.model, [feed])
    return result.model


@pytest.mark.parametrize(
    ("target", "shape"),
    [
        (SORTED, (2, 3)),
        (COUNTED, (1, 6)),
        (COUNTED, (7,)),
        (MERGED, (2, 3)),
        (FIXED, (7,)),
        ("qnn", (1, 6)),
        ("sophgo", (2, 3)),
    ],
)
def test_any_number(target: str, shape: tuple[int, ...]) -> None:
    size, dims = int(np.prod(shape)), ", ".join(map(str, shape))
    x = np.arange(3 * size, dtype=np.float32).reshape(*shape, 3)
    text = READ % (dims, f"bool[{dims}] m", "int64 c = {0}", "")
    for number, run in ((0, False), (1, False), (3, False), (3, True), (size, False)):
        mask = mask_of(shape, number, run=run, seed=number)
        said = f"one run of {number}" if run else f"exactly {number}"
        found(text, target, [f"m: {said}"], {"x": x, "m": mask})


@pytest.mark.parametrize(
    ("dtype", "text", "promise", "constant", "numbers"),
    [
        ("int64", "m = Equal(v, c)", "v == 7: exactly 3", 7, (7, 0)),
        ("int64", "m = Equal(c, v)", "7 == v: exactly 3", 7, (7, LAST)),
        ("int64", "m = Equal(v, c)", f"v == {LAST}: exactly 3", LAST, (LAST, FIRST)),
        ("int64", "m = GreaterOrEqual(c, v)", f"v <= {FIRST}: exactly 3", FIRST, (FIRST, LAST)),
        ("int64", "e = Equal(v, c) m = Not(e)", "v == 7: exactly 3", 7, (0, 7)),
        ("int64", "e = Equal(v, c) m = Not(e)", "v != 7: exactly 3", 7, (0, 7)),
        ("int32", "d = Sub(v, z) m = Less(d, c)", "d < -5: exactly 3", -5, (-6, -5)),
        ("int32", "m = Cast<to=9>(v)", "v: exactly 3", 1, (-3, 0)),
        ("int32", "m = Cast<to=7>(v)", "v: exactly 3", 1, (-3, 0)),
        ("int32", "m = Identity(v)", "v: exactly 3", 1, (9, 0)),
        ("float", "m = Greater(v, c)", "v > 0.1: exactly 3", 0.1, (0.2, float("nan"))),
        ("float", "e = Equal(c, v) m = Not(e)", "v != 0.1: exactly 3", 0.1, (float("nan"), 0.1)),
        ("float", "m = Cast<to=9>(v)", "v != 0: exactly 3", 1, (float("nan"), -0.0)),
        ("float", "m = Less(c, v)", "m: exactly 3", 0.5, (1.0, 0.5)),
    ],
)
def test_any_way_to_choose(
    dtype: str, text: str, promise: str, constant: float, numbers: tuple[float, float]
) -> None:
    """Which is promised of a value or of a comparison; 3 of 6 or, of the complement, the others."""
    array = np.array(
        [numbers[b] for b in (1, 0, 1, 0, 0, 1)], np.float32 if dtype == "float" else dtype
    )
    known = f"{dtype}[1] c = {{{constant}}}, {dtype} z = {{0}}"
    feed = {"x": np.arange(18, dtype=np.float32).reshape(6, 3), "v": array}
    model = READ % ("6", f"{dtype}[6] v", known, text)
    found(model, SORTED, [promise.replace("exactly", "at most"), promise], feed)


@pytest.mark.parametrize(
    ("text", "promise"),
    [
        ("w = Cast<to=6>(v) m = Cast<to=9>(w)", "v: exactly 3"),  # 2^32 becomes 0
        ("m = Equal(v, c)", "v == 8: exactly 3"),
        ("m = Less(v, c)", "v <= 7: exactly 3"),
        ("m = Cast<to=9>(v)", "v: at most 3"),
    ],
)
def test_promises_of_other_masks(text: str, promise: str) -> None:
    known = "int64 c = {7}, int64[1] six = {6}"
    model = parse(READ % ("6", "int64[6] v, bool[1] k", known, text))
    result = onnx_scatterx.optimize(model, target=SORTED, assume=[promise])
    assert nodes(result.model).count("NonZero") == 1
    assert result.report.violations


def test_a_bound_is_known_of_the_number() -> None:
    model = ir.from_proto(parse(READ % ("6", "bool[6] m", "int64 c = {7}", "")))
    known = interpret(model, assumed=read_clauses(["m: at most 4"]))
    (count,) = {known.values[v].dims[1] for v in model.graph.outputs[1:]}
    assert known.scopes[model.graph].facts.interval(count) == (0, 4)


def test_numbers_of_fixed_sizes_and_metadata() -> None:
    text = READ.replace("%s, 3", "%s, 3", 1) % ("S", "bool[S] m, float[k] w", "int64 c = {7}", "")
    model = parse(text)
    result = onnx_scatterx.optimize(
        model, target="qnn", assume=["m: one run of 2*k"], fix={"S": 8, "k": 2}
    )
    assert "NonZero" not in nodes(result.model)
    (entry,) = (e for e in result.model.metadata_props if e.key == "onnx_scatterx.assumes")
    assert entry.value == '{"m": "one run of 2*2"}'
    assert "m: one run of 2*2" in result.report.assumptions
    mask = mask_of((8,), 4, run=True, seed=3)
    feed = {"x": np.ones((8, 3), np.float32), "m": mask, "w": np.ones(2, np.float32)}
    assert_same(model, result.model, [feed])


@pytest.mark.parametrize("target", [SORTED, MERGED])
def test_sizes_without_a_number(target: str) -> None:
    """They keep their names, if one size of the mask is not 1."""
    for dims, shape in (("S", (5,)), ("1, S", (1, 5)), ("S, 1", (5, 1))):
        text = READ % (dims, f"bool[{dims}] m", "int64 c = {0}", "")
        for number, run in ((0, False), (2, False), (2, True), (5, False)):
            said = f"one run of {number}" if run else f"exactly {number}"
            x = np.arange(15, dtype=np.float32).reshape(*shape, 3)
            feed = {"x": x, "m": mask_of(shape, number, run=run, seed=1)}
            found(text, target, [f"m: {said}"], feed)


def test_a_function_of_few_rows_is_not_done_for_all() -> None:
    """It is computed on the promised rows, and written back by the running count of the mask."""
    text = """g (float[64, 2] x, bool[64] m, float[2, 8] a, float[8, 2] b) => (float[64, 2] y) {
        n = NonZero(m) i = Transpose(n) r = GatherND(x, i)
        h = MatMul(r, a) g = Relu(h) u = MatMul(g, b) y = ScatterND(x, i, u) }"""
    model, work = parse(text), {}
    for number in (2, 16):
        result = onnx_scatterx.optimize(
            model, target="qnn", last_bits=True, assume=[f"m: exactly {number}"]
        )
        assert not {"NonZero", "ScatterND"} & {*nodes(result.model)}
        work[number] = "TopK" not in nodes(result.model)
        feed = {
            "x": np.arange(128, dtype=np.float32).reshape(64, 2),
            "m": mask_of((64,), number, run=False, seed=1),
            "a": np.ones((2, 8), np.float32),
            "b": np.ones((8, 2), np.float32),
        }
        assert_same(model, result.model, [feed])
    assert work == {2: False, 16: True}  # 64 / 2 is more than the work limit 16


def test_two_masks_of_as_many_elements() -> None:
    """Rows that different masks choose do not meet, though there are as many."""
    text = """g (float[6, 2] x, bool[6] m, bool[6] k) => (float[6, 2] y) {
        n = NonZero(m) i = Transpose(n) r = GatherND(x, i)
        o = NonZero(k) j = Transpose(o) s = GatherND(x, j)
        u = Sub(r, s) y = ScatterND(x, i, u) }"""
    feed = {"x": np.arange(12, dtype=np.float32).reshape(6, 2)}
    feed |= {n: mask_of((6,), 2, run=False, seed=seed) for n, seed in (("m", 1), ("k", 2))}
    found(text, SORTED, ["m: exactly 2", "k: exactly 2"], feed)


BODY = "n = NonZero(k) i = Transpose(n) p = GatherND(x, i)"
BODIES = {
    "a branch": """g (float[6, 2] x, bool[6] k, bool c) => (float[N, 2] y) {
        y = If (c) <then_branch = a () => (float[N, 2] p) { %s },
            else_branch = b () => (float[M, 2] q) { q = Identity(x) }> }""",
    "a function": """<ir_version: 8, opset_import: ["" : 18, "f" : 1]>
        g (float[6, 2] x, bool[6] k, bool c) => (float[N, 2] y) { y = f.pick(x, k) }
        <domain: "f", opset_import: ["" : 18]> pick (x, k) => (p) { %s }""",
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies(name: str) -> None:
    """What is promised of a value is known where it is read."""
    model = parse(BODIES[name] % BODY)
    result = onnx_scatterx.optimize(model, target=SORTED, assume=["k: exactly 2"])
    assert not result.report.violations
    feed = {"x": np.arange(12, dtype=np.float32).reshape(6, 2), "c": np.array(True)}
    feed["k"] = mask_of((6,), 2, run=False, seed=4)
    assert_same(model, result.model, [feed])


COUNTS = """g (int64[1, 8] ids, float[1] u) => (float[K] y) <int64 c = {7}, int64[1] one = {1},
    int64[1] two = {2}, int64[1] flat = {-1}, int64[3] large = {4, 1, 8}> {
    m = Equal(ids, c) %s shape = Reshape(k, flat) e = Expand(u, shape) y = Neg(e) }"""


@pytest.mark.parametrize(
    "text",
    [
        "i = Cast<to = 7>(m) k = ReduceSum(i)",
        "i = Cast<to = 6>(m) f = Reshape(i, flat) s = ReduceSum(f) k = Cast<to = 7>(s)",
        "i = Cast<to = 7>(m) k = ReduceSum<keepdims = 0>(i, one)",
        "r = Expand(m, large) i = Cast<to = 7>(r) k = ReduceSum(i)",
        "r = Expand(m, large) n = NonZero(r) t = Shape(n) k = Slice(t, one, two)",
        "n = NonZero(m) t = Shape(n) k = Slice(t, one, two)",
    ],
)
@pytest.mark.parametrize("target", ["standard", "qnn"])
def test_a_promised_number_is_a_size(text: str, target: str) -> None:
    """The sum of a mask is the number of its elements, and an Expand repeats them."""
    model = parse(COUNTS % text)
    result = onnx_scatterx.optimize(model, target=target, assume=["ids == 7: exactly 3"])
    assert nodes(result.model) == ["Expand", "Neg"]
    ids = np.array([[7, 0, 7, 7, 1, 8, -7, 6]])
    assert_same(model, result.model, [{"ids": ids, "u": np.ones(1, np.float32)}])


@pytest.mark.parametrize(
    "text",
    [
        "f = Cast<to = 7>(ids) k = ReduceSum<keepdims = 0>(f, one)",  # not 0 and 1
        "i = Cast<to = 7>(m) k = ReduceSum<keepdims = 0>(i, zero)",  # each alone
        "i = Cast<to = 7>(m) k = ReduceMax<keepdims = 0>(i, one)",
    ],
)
def test_other_numbers_are_not_promised(text: str) -> None:
    head = "int64[1] one = {1}, int64[1] zero = {0}, int64 c = {0}"
    body = f"e = Equal(ids, c) m = Not(e) {text} s = Neg(k)"
    size = 8 if "zero)" in text else 1
    model = parse(f"g (int64[1, 8] ids) => (int64[{size}] s) <{head}> {{ {body} }}")
    result = onnx_scatterx.optimize(model, target="qnn", assume=["ids: exactly 3"])
    assert_same(model, result.model, [{"ids": np.array([[7, 0, 0, 7, 0, 0, -7, 0]])}])

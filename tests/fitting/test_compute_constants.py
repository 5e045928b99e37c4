"""Chains of constants that a compiler does not take are computed, as ONNX Runtime computes them."""

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx.doors.api.result import Result
from onnx_scatterx.fitting.constant_finder import NodeRunner
from onnx_scatterx.targets.catalogue import target_of
from tests.helpers.examples import examples
from tests.helpers.limited import limited
from tests.helpers.pair import assert_same
from tests.helpers.support import f32, nodes, parse, sample

NPU = (
    "standard, onnxruntime = false,"
    " avoid = ['ReduceL2', 'ReduceSumSquare', 'Erf', 'Not', 'RandomNormal']"
)
WEIGHTS = ", ".join(str(n % 7 - 3) for n in range(72))
WEIGHT_NORM = f"""g (float[2, 6, 8] x, float[1, 6, 8] u) => (float[2, 4, 8] z)
    <int64[1, 1] i = {{1}}, float[4, 6, 3] w = {{{WEIGHTS}}}, float[1, 1, 3] scale = {{1, 2, 3}},
     int64[2] axes = {{0, 1}}> {{
        y = ScatterND (x, i, u)
        n = ReduceL2 <keepdims = 1> (w, axes)
        q = Div (scale, n)
        v = Mul (q, w)
        p = Conv <pads = [1, 1]> (y, v)
        z = GELU (p) }}"""
GELU = WEIGHT_NORM.replace("GELU", "Gelu")
FEED = {"x": sample("float32", 2, 6, 8), "u": sample("float32", 1, 6, 8, seed=1)}


def optimized(
    text: str, target: str = NPU, opset: int = 20
) -> tuple[onnx.ModelProto, Result[onnx.ModelProto]]:
    model = parse(text)
    model.opset_import[0].version = opset
    return model, onnx_scatterx.optimize(model, target=target_of(target))


def operators(result: Result[onnx.ModelProto]) -> list[str]:
    return sorted(node.op_type for node in nodes(result.model))


def test_weight_norm_for_mnn() -> None:
    """MNN reduces all axes. In set 20 they are an input, and Gelu prevents an older set."""
    model, result = optimized(GELU, "mnn")
    assert operators(result) == ["Concat", "Conv", "Gelu", "Slice"]
    assert not result.report.violations
    assert result.report.packed == ("p",)
    assert "packs an operand that is a constant now, so last bits may differ (1): p" in str(
        result.report
    )
    assert_same(model, result.model, [FEED])


def test_what_is_too_large_is_kept_and_named() -> None:
    """Without the rest of the chain, what the refused node computes may be small enough."""
    text = GELU.replace("z = Gelu (p)", "r = Conv (y, w)  z = Gelu (p)")
    read_twice = text.replace("z)", "z, float[2, 4, 6] r)", 1)
    axes, norm = 16, 12  # bytes that are removed, and those that are written
    with limited(computed_bytes=norm - axes):
        _, result = optimized(read_twice)
        assert operators(result) == ["Concat", "Conv", "Conv", "Div", "Gelu", "Mul", "Slice"]
    with limited(computed_bytes=norm - axes - 1):
        _, result = optimized(read_twice)
        assert [v.op for v in result.report.violations] == ["ReduceL2"]
        _, result = optimized(GELU)  # as many bytes are removed
        assert operators(result) == ["Concat", "Conv", "Gelu", "Slice"]


@pytest.mark.parametrize(
    ("chain", "left"),
    [
        ("e = Erf (w)  f = Exp (e)  g = Relu (f)  h = Mul (y, g)", ["Mul"]),
        ("e = Exp (w)  f = Erf (e)  g = Neg (e)  k = Mul (y, g)  h = Mul (k, f)",
         ["Exp", "Mul", "Mul", "Neg"]),
        ("e = Erf (w)  f = Clip (e, , half)  h = Mul (y, f)", ["Mul"]),
        ("e = Exp (w)  h = Mul (y, e)", ["Exp", "Mul"]),
        ("e = Erf (v)  h = Mul (y, e)", ["Erf", "Mul"]),  # an input may take the place of v
        ("e = Erf (x)  f = Exp (e)  h = Mul (y, f)", ["Erf", "Exp", "Mul"]),
        ("a = Cast <to = 10> (w)  e = Erf (a)  f = Cast <to = 1> (e)  h = Mul (y, f)",
         ["Cast", "Cast", "Erf", "Mul"]),
        ("a = Cast <to = 9> (w)  b = Not (a)  e = Cast <to = 1> (b)  h = Mul (y, e)", ["Mul"]),
    ],
)  # fmt: skip
def test_which_chains_are_computed(chain: str, left: list[str]) -> None:
    model, result = optimized(f"""g (float[4] x, float[1] u, float[4] v) => (float[4] h)
        <int64[1, 1] i = {{1}}, float[4] w = {{-2, 0, 0.3, 5}}, float[4] v = {{1, 2, 3, 4}},
         float half = {{0.5}}> {{
            y = ScatterND (x, i, u)  {chain} }}""")
    assert [op for op in operators(result) if op not in ("Concat", "Slice")] == left
    assert_same(model, result.model, [{n: sample("float32", s) for n, s in (("x", 4), ("u", 1))}])


def test_a_node_without_one_of_its_outputs() -> None:
    outputs = [ir.Value(name=name) for name in ("y", "", "inverse")]
    node = ir.Node("", "Unique", [ir.Value(name="x")], outputs=outputs)
    with NodeRunner() as runner:
        found = runner.run(node, {"x": f32([9, 4, 9])}, 18)
    assert found is not None
    assert [array.tolist() for array in found] == [[4, 9], [1, 0, 1]]


def test_random_numbers_are_drawn_in_the_run() -> None:
    _, result = optimized("""g (float[4] x, float[1] u) => (float[4] h) {
        y = ScatterND (x, [[1]], u)  e = RandomNormal <shape = [4]> ()  h = Mul (y, e) }""")
    assert "RandomNormal" in operators(result)


@pytest.mark.parametrize("target", ["standard, avoid = ['ReduceL2']", "qnn"])
def test_onnx_runtime_computes_them_itself(target: str) -> None:
    _, result = optimized(WEIGHT_NORM.replace("GELU", "Relu"), target, 18)
    assert not result.report.packed


CHAIN = ["Erf", "Exp", "Relu", "Neg", "Sigmoid", "Softplus", "Atan", "Identity"]
TWO = ["Add", "Mul", "Div", "Max", "PRelu", "MatMul"]


@examples(30)
@given(st.data(), st.sampled_from([(4, 4), (1, 1), (0, 0), (5, 5)]))
def test_drawn_chains(data: st.DataObject, shape: tuple[int, int]) -> None:
    """What is computed has the bits that ONNX Runtime computes in the run, with either options."""
    made, lines = ["a", "b", "x"], []
    for at in range(data.draw(st.integers(1, 6))):
        op = data.draw(st.sampled_from(CHAIN + TWO))
        given = [data.draw(st.sampled_from(made)) for _ in range(1 + (op in TWO))]
        lines.append(f"v{at} = {op} ({', '.join(given)})")
        made.append(f"v{at}")
    lines.append(f"z = Add (y, v{len(lines) - 1})")
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    a, b = ("{" + ", ".join(map(str, rng.normal(0, 3, shape).ravel())) + "}" for _ in "ab")
    dims = ", ".join(map(str, shape))
    model = parse(f"""g (float[{dims}] x, float[0, {shape[1]}] u) => (float[{dims}] z)
        <int64[0, 1] i = {{}}, float[{dims}] a = {a}, float[{dims}] b = {b}> {{
            y = ScatterND (x, i, u)  {"  ".join(lines)} }}""")
    avoid = data.draw(st.sets(st.sampled_from(CHAIN + TWO), min_size=1))
    listed = ", ".join(f"'{op}'" for op in sorted(avoid))
    target = target_of(f"standard, onnxruntime = false, avoid = [{listed}]")
    result = onnx_scatterx.optimize(model, target=target)
    feed = {"x": sample("float32", *shape), "u": sample("float32", 0, shape[1])}
    if not result.report.packed:
        assert_same(model, result.model, [feed])


def test_chains_are_computed_in_the_order_of_the_graph() -> None:
    """Not in that of a set, which follows addresses: a limit may end between two of them."""
    count = 24
    chains = " ".join(f"a{n} = Not (m{n})  y{n} = And (x, a{n})" for n in range(count))
    masks = ", ".join(f"bool[2] m{n} = {{0, {n % 2}}}" for n in range(count))
    outputs = ", ".join(f"bool[2] y{n}" for n in range(count))
    target = target_of(NPU)
    result = onnx_scatterx.optimize(
        parse(f"g (bool[2] x) => ({outputs}) <{masks}> {{ {chains} }}"), target=target
    )
    written = [node.input[1] for node in result.model.graph.node]
    stored = [t.name for t in result.model.graph.initializer if t.name in written]
    assert len(stored) == count
    assert stored == written


def test_strings_are_not_computed() -> None:
    text = """g (bool[3] m, string[3] x) => (string[3] y) <string[1] w = {"a"}> {
        v = Expand (w, [3])  y = Where (m, v, x) }"""
    result = onnx_scatterx.optimize(parse(text), target=target_of(f"{NPU[:-1]}, 'Expand']"))
    assert operators(result) == ["Expand", "Where"]
    assert len(result.report.violations) == 1


def test_a_chain_that_the_target_folds_and_then_refuses() -> None:
    """RKNN takes GatherElements at computed indices, and knows what follows from constants."""
    model = parse("""g (float[2, 3, 4] x) => (float[2, 3, 3] y)
        <float[1, 3, 3] f = {0.5, 1.2, 2.9, 3, 0, 1, 2, 2, 2}> {
            c = Ceil (f)  i = Cast <to = 7> (c)  e = Expand (i, [2, 3, 3])
            y = GatherElements <axis = -1> (x, e) }""")
    result = onnx_scatterx.optimize(model, target="rknn")
    assert result.report.violations == ()
    assert [n.op_type for n in result.model.graph.node] == ["Reshape", "Gather", "Reshape"]
    assert_same(model, result.model, [{"x": sample("float32", 2, 3, 4)}])

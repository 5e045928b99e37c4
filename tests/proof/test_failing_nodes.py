"""Nodes that fail in ONNX Runtime on some inputs or on all, and nodes that run all the same."""

import numpy as np
import pytest

from onnx_scatterx import verify
from tests.helpers.proving import prove
from tests.helpers.support import parse
from tests.proof.differing_run import floats, outcome, unproven


def test_a_remainder_of_floats_without_fmod() -> None:
    text = "g (float[N] x) => (float[N] y) <float[1] one = {1}> { y = Mod <fmod = 1> (x, one) %s }"
    unproven(parse(text % ""), parse(text % "z = Mod(x, one)"), {"x": floats(3)})


@pytest.mark.parametrize("op", ["ScatterND", "ScatterElements"])
def test_a_reduction_of_conditions_that_no_output_reads(op: str) -> None:
    dims = "2, 1" if op == "ScatterND" else "2"
    text = f"""g (bool[4] x, bool[2] u) => (bool[4] y) <int64[{dims}] i = {{0, 1}}> {{ NODE
        y = Not(x) }}"""
    node = f'z = {op} <reduction = "max"> (x, i, u)'
    feed = {"x": np.ones(4, bool), "u": np.ones(2, bool)}
    unproven(parse(text.replace("NODE", "")), parse(text.replace("NODE", node)), feed)


@pytest.mark.parametrize(
    ("head", "node", "opset"),
    [
        ("float[6]", "a, , b = Split(x, three)", 18),
        ("float[3]", 'a = ScatterElements <reduction = "add"> (x, three, x)', 13),
        ("float[3]", "a = ConstantOfShape <value = float[2] {1, 2}> (three)", 18),
        ("float[3]", "a = Add(x, three)", 18),
        ("int64[3]", "a = And(x, x)", 18),
        ("int64[3]", "a = Not(x)", 18),
        ("int64[3]", "a = Mod <fmod = 1, axis = 1> (x, three)", 18),
    ],
)
def test_a_node_that_onnx_does_not_have(head: str, node: str, opset: int) -> None:
    text = f"g ({head} x) => ({head} y) <int64[3] three = {{2, 2, 2}}> {{ NODE y = Identity(x) }}"
    one, other = (parse(text.replace("NODE", n), opset) for n in ("", node))
    assert prove(one, one).proven
    assert prove(one, other).kind == "unknown"


def test_a_node_that_no_output_needs_may_fail() -> None:
    """By default, ONNX Runtime removes it, and the first model runs on more inputs."""
    text = """g (float[3] x, int64[1] i) => (bool[1] y) <int64[1] k = {3}, bool[1] t = {1}> {
        z = Gather(x, i) y = %s }"""
    one, other = (parse(text % node) for node in ("Less(i, k)", "Identity(t)"))
    assert not outcome(one, {"x": floats(3), "i": np.array([9])})
    assert "on which the first model runs without graph optimizations" in str(prove(one, other))


@pytest.mark.parametrize(
    ("head", "nodes"),
    [
        ("(float[1, 3] x) => (float[3] y)", "y = Squeeze(x, a)"),
        ("(int32[1, 3] x) => (int32[1, 3] y)", "y = ReduceMax(x, a)"),
        ("(float[1, 3] x) => (float[1, 3] y)", "y = Slice(x, a0, a1, a)"),
        ("(float[1, 3] x) => (float[2, 3] y)", "y = Pad(x, p, , a)"),
    ],
)
def test_axes_are_no_scalar(head: str, nodes: str) -> None:
    text = f"""g {head} <int64{{}} a = {{{{0}}}}, int64[1] a0 = {{{{0}}}}, int64[1] a1 = {{{{1}}}},
        int64[2] p = {{{{1, 0}}}}> {{{{ {nodes} }}}}"""
    x = np.ones((1, 3), np.int32 if "int32" in head else np.float32)
    unproven(parse(text.format("[1]")), parse(text.format("")), {"x": x})
    one = parse("g (float[3] x) => (float[1, 3] y) { y = Unsqueeze(x, 0) }")
    assert prove(one, one).proven


@pytest.mark.parametrize("op", ["Slice(x, nil, nil)", "Pad(x, nil)"])
def test_of_a_scalar_there_is_no_part(op: str) -> None:
    text = "g (float x) => (float y) <int64[0] nil = {}> { y = %s }"
    unproven(parse(text % "Identity(x)"), parse(text % op), {"x": np.array(3, np.float32)})


def test_a_zero_divides_nothing() -> None:
    """ONNX Runtime looks at all divisors, even if there is nothing to divide."""
    text = (
        """g (int64[N] x) => (int64[0] y) <int64[1] nil = {0}> { e = Slice(x, nil, nil) y = %s }"""
    )
    one = parse(text % "Identity(e)")
    for op in ("Div", "Mod"):
        unproven(one, parse(text % f"{op}(e, nil)"), {"x": np.array([4])})


@pytest.mark.parametrize("op", ["GatherElements(x, j)", "ScatterElements(x, j, u)"])
def test_no_indices_must_fit_all_the_same(op: str) -> None:
    text = """g (float[2, 3] x, int64[K, 5] i) => (int64[2] y) <int64[1] nil = {0}> {
        NODES y = Shape(i) }"""
    nodes = f"j = Slice(i, nil, nil) u = Cast <to = 1> (j) w = {op}"
    feed = {"x": floats(2, 3), "i": np.zeros((4, 5), np.int64)}
    unproven(parse(text.replace("NODES", "")), parse(text.replace("NODES", nodes)), feed)


def test_an_edge_of_which_nothing_is_left() -> None:
    text = "g (float[1, N] x) => (float[A, N] y) <int64[4] p = {-1, 0, 1, 0}> { y = %s }"
    one, other = (parse(text % way) for way in ("Identity(x)", 'Pad <mode = "edge"> (x, p)'))
    unproven(one, other, {"x": floats(1, 3)})


def test_one_scale_fits_any_number_of_places() -> None:
    text = """g (float[N, K] x, float[M] s) => (int64[1] y, uint8[N, K] q) {
        q = QuantizeLinear <axis = 1> (x, s) y = Shape %s }"""
    feed = {"x": floats(2, 5), "s": np.ones(1, np.float32)}
    unproven(parse(text % "(s)"), parse(text % "<start = 1> (x)"), feed)


def test_a_batch_of_indices_may_be_a_multiple() -> None:
    text = """g (float[N, 5, 2] x, int64[M, 1] i) => (float[M, 2] y, int64[1] z) {
        y = GatherND <batch_dims = 1> (x, i) z = Shape <end = 1> (%s) }"""
    feed = {"x": floats(2, 5, 2), "i": np.zeros((4, 1), np.int64)}
    unproven(parse(text % "i"), parse(text % "x"), feed)


def test_the_greatest_of_conditions_runs_without_elements() -> None:
    """ONNX Runtime refuses it if there is one, so that node is no fact about the inputs."""
    text = """g (bool[2, N] x, int64[2, N] i, bool[2, N] u) => (int64[A] y) {
        s = ScatterElements <axis = 1, reduction = "max"> (x, i, u) y = Shape(%s) }"""
    one, other = parse(text % "s"), parse(text % "x")
    empty = np.zeros((2, 0), bool)
    assert outcome(one, {"x": empty, "i": empty.astype(np.int64), "u": empty})
    assert "runs on no input" not in str(prove(one, other))


def test_a_second_model_that_does_not_load_is_not_the_same() -> None:
    one = parse("g (float[N] x) => (float[N] y) { y = Neg(x) }")
    other = parse("""g (float[4] x) => (float[4] y) {
        t = Cast <to = 16> (x) u = Neg(t) y = Neg(x) }""")
    found = verify(one, other, prove=True, samples=0)
    assert found.answer == "not compared"
    assert found.proof is not None
    assert "does not load" in str(found.proof)
    again = verify(one, other, prove=True, samples=1)
    assert again.answer == "different"
    assert again.proof is not None
    assert not again.proof.contradicted

"""What an answer says: its counterexample, its assumptions in order, why a model never runs."""

import json
from typing import Any

import onnx
import pytest

from onnx_scatterx import verify
from onnx_scatterx.proof.assumed import ALWAYS_ASSUMED, SAME_NAMES, SHORT_AXES
from onnx_scatterx.proof.declarations import InputClause
from tests.helpers.equivalence_support import proof_of
from tests.helpers.proving import prove
from tests.helpers.support import parse

pytestmark = pytest.mark.sampled(4)

RARE = """g (float[N, 2] x, int64[4] i) => (float[N, 2] y) <int64[1] size = {%d}, float one = {1}> {
    n = Shape <start = 0, end = 1> (x)  is = Equal (n, size)  more = Add (x, one)  %s }"""
COPY = RARE[: RARE.index("<")] + "{ y = Identity (x) }"


@pytest.mark.parametrize("size", [777, 100_003])
def test_a_size_at_which_models_differ_is_run(size: int) -> None:
    found = proof_of(COPY, RARE % (size, "y = Where (is, more, x)"))
    assert found.kind == "refuted"
    assert found.inputs["x"].shape == (size, 2)
    assert found.counterexample is not None
    assert (found.counterexample.sizes["N"], found.counterexample.tried) == (size, True)


@pytest.mark.parametrize("number", ["12345.678", "-3e38", "0.1"])
def test_a_float_at_which_models_differ_is_run(number: str) -> None:
    head = "g (float[N] x) => (float[N] y) "
    rare = f"<float c = {{{number}}}, float o = {{7}}> {{ t = Equal (x, c) y = Where (t, o, x) }}"
    assert proof_of(head + "{ y = Identity (x) }", head + rare).kind == "refuted"


def test_inputs_that_are_too_large_to_be_run() -> None:
    """The counterexample stands in the text and in the JSON: its sizes, and its elements."""
    label = """z = Constant <value_ints = [3]> () l = Constant <value_ints = [77]> ()
        e = Gather (i, z) h = Equal (e, l) b = And (is, h) y = Where (b, more, x)"""
    one, other = parse(COPY), parse(RARE % (1 << 30, label))
    found = verify(one, other, prove=True, samples=2)
    assert found.answer == "not proven"
    assert found.proof is not None
    example = found.proof.to_dict()["counterexample"]
    assert example == json.loads(json.dumps(example))
    assert example["sizes"]["N"] == 1 << 30
    assert {"input": "i", "index": [3], "value": 77} in example["elements"]
    assert not example["tried"]
    (line,) = (line for line in str(found).split("\n") if "counterexample:" in line)
    assert "N = 1073741824" in line
    assert "i[3] = 77" in line
    assert line.endswith("its inputs are too large to be run")
    assert verify(one, one, prove=True, samples=1).to_dict()["proof"]["counterexample"] is None


def test_a_counterexample_without_empty_axes_is_shown() -> None:
    """An empty input says little. That of an unmodelled function may be none, and it is said."""
    head = "g (float[N] x) => (float[N] y) { %s y = Where (c, s, s) }"
    one = head % "e = Exp (x) s = Neg (e) c = Less (e, x)"
    found = proof_of(one, head % "e = Exp (x) s = Neg (e) c = Less (x, e)")
    assert found.proven  # both branches are the same
    head = "g (float[N] x) => (bool[N] y) { e = Exp (x) y = %s }"
    found = proof_of(head % "Greater (e, x)", head % "GreaterOrEqual (e, x)")
    assert found.kind == "unknown"
    assert found.counterexample is not None
    assert found.counterexample.sizes["N"] > 0
    assert "may be none" in str(found)


def reason(before: str, after: str | None = None, **options: Any) -> str:
    """Return why the outputs are not proven, because the first model never runs."""
    found = prove(parse(before), parse(after or before), **options)
    assert found.kind == "unknown"
    (why,) = {verdict.why for verdict in found.outputs.values()}
    return why


NEVER = "the first model runs on no input"
TWO_SIZES = """g (float[N] x, float[N] y) => (float[A] z)
    <int64[1] two = {2}, int64[1] three = {3}> { p = Reshape (x, two) z = Reshape (y, three) }"""
LONG = """g (int64 n) => (bool[1] z)
    <int64 zero = {0}, int64 one = {1}, int64[1] long = {2147483648}> {
     p = Add (n, %s) r = Range (zero, p, one) s = Shape (r) z = Less (s, long) }"""


def test_the_assumption_without_which_the_first_model_runs() -> None:
    shape = (
        "g (float[N] x) => (float[A] z) { p = Constant <value_ints = [%s]> () z = Reshape (x, p) }"
    )
    assert reason(TWO_SIZES) == f"{NEVER}, if {SAME_NAMES}: --distrust-dims does not assume this"
    assert NEVER not in str(prove(parse(TWO_SIZES), parse(TWO_SIZES), distrust_dims=True))
    assert reason(TWO_SIZES.replace("(y,", "(x,")) == NEVER
    promise = [InputClause("N", ">=", 3)]
    assert reason(shape % "2", clauses=promise) == f"{NEVER}, if N >= 3"
    fixed = (shape % "2").replace("[N]", "[4]")
    assert reason(shape % "2", fixed) == f"{NEVER} with N = 4, which the second model has fixed"
    assert reason(LONG.replace("Add (n, %s)", "Max (n, long)")) == f"{NEVER}, if {SHORT_AXES}"


def test_an_axis_is_shorter_than_2_to_the_31() -> None:
    """That is a fact of the first model, also of a length that is computed."""
    for summand in ("zero", "one"):
        one = LONG % summand
        assert prove(parse(one), parse(one.replace("Less (s, long)", "Equal (s, s)"))).proven
    less = LONG.replace("2147483648", "2147483647") % "one"
    assert not prove(parse(less), parse(less.replace("Less (s, long)", "Equal (s, s)"))).proven
    whole = """g (float[1] x) => (bool z) <int64 low = {-9223372036854775808}, int64 one = {1},
        int64 high = {9223372036854775807}, int64[1] five = {5}> {
        r = Range (low, high, one) s = Shape (r) t = Less (s, five) z = Squeeze (t) }"""
    assert reason(whole) == f"{NEVER}, if {SHORT_AXES}"


def test_two_inputs_of_one_name_are_refused() -> None:
    one = parse("g (float[N] x, float[N] y) => (float[N] z) { z = Neg (x) }")
    other = onnx.ModelProto()
    other.CopyFrom(one)
    other.graph.input.append(one.graph.input[1])
    for pair in ((one, other), (other, one), (other, other)):
        assert str(prove(*pair).outputs[""]) == "unknown: two inputs of one name"


def test_what_decides_is_assumed_first_and_each_in_a_line() -> None:
    head = "g (bool[N] c, float[N] x, float[N] w) => (float[N] y) {{ e = Neg (x) {} }}"
    one = head.format("n = Not (c) y = Where (n, w, e)")
    found = proof_of(one, head.format("y = Where (c, e, w)"))
    assert found.proven
    text = str(found).split("\n")
    assert text[0] == (
        "proven the same, for all sizes and all inputs on which the first model runs, "
        "without graph optimizations"
    )
    start = text.index("  assumed:") + 1
    assert [line.strip() for line in text[start : start + len(found.assumed)]] == list(
        found.assumed
    )
    assert found.to_dict()["assumed"] == list(found.assumed)
    assert found.assumed[0].startswith("the sign of a zero")
    assert found.assumed.index(SAME_NAMES) < found.assumed.index(ALWAYS_ASSUMED[0])
    assert found.assumed[-1] == SHORT_AXES


def test_a_refutation_is_printed_once() -> None:
    head = "g (float[N] x) => (float[N] y) { y = %s (x) }"
    found = verify(parse(head % "Neg"), parse(head % "Abs"), prove=True, samples=3)
    assert found.proof is not None
    assert found.proof.refutation
    assert str(found).count(found.proof.refutation) == 1
    assert str(found).startswith("refuted: the models differ\n")
    assert {d["draw"] for d in found.to_dict()["differences"] if "solver" in d["flavour"]} == {None}


def test_the_elements_of_a_counterexample_are_run_beyond_those_that_are_asked() -> None:
    """Of a large input, Z3 determines the first elements, and those that the statement reads."""
    head = "g (int64[5000] i) => (bool[1] y) <int64[1] at = {4321}, int64[1] n = {99}> {"
    one = head + " e = Gather (i, at) d = Sub (e, e) y = Greater (d, n) }"
    found = proof_of(one, head + " e = Gather (i, at) y = Equal (e, n) }")
    assert found.kind == "refuted"
    assert found.inputs["i"][4321] == 99


def test_that_axes_are_short_is_always_an_assumption() -> None:
    one = parse("""g (int64 n) => (int64[M] y) {
        r = Range(0, n, 1) c = Cast <to = 6> (r) y = Cast <to = 7> (c) }""")
    other = parse("""g (int64 n) => (int64[M] y) { y = Range(0, n, 1) }""")
    assert "every axis is shorter than 2^31" in str(prove(one, other))


def test_a_size_that_is_fixed_in_one_of_two_inputs() -> None:
    one = parse("g (float[N] x, float[N] w) => (float[M] y) { y = Concat <axis = 0> (x, w) }")
    other = parse("""g (float[4] x, float[N] w) => (float[M] y) {
        c = Concat <axis = 0> (x, w) y = Reshape(c, [8]) }""")
    found = verify(one, other, prove=True, samples=5)
    assert found.answer == "same", found
    assert "for N = 4, which the second model has fixed, and all inputs" in str(found)
    assert verify(one, other, prove=True, samples=5, distrust_dims=True).answer == "different"


def test_assumptions_on_shapes() -> None:
    one = parse("g (float x) => (int64[A] y) { y = Shape(x) }")
    assert "an input that is stated to be a scalar is one" in str(prove(one, one))
    resized = parse("""g (float[1, N] x) => (float[1, M] y) {
        y = Resize <mode = "nearest"> (x, , float [1, 2]) }""")
    assert "2^24 elements" in str(prove(resized, resized))


def test_a_custom_operator_is_assumed_to_draw_nothing() -> None:
    model = parse("g (float[2, 2] x) => (float[2, 2] y) { y = their.own.Draw(x) }")
    model.opset_import.add(domain="their.own", version=1)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    proof = prove(model, model)
    assert proof.proven
    assert "operators of their.own are functions of their inputs, and draw nothing" in proof.assumed

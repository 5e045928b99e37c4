"""Draws that keep promises of how many elements are chosen: they are made, or found by runs."""

from typing import Any

import numpy as np
import pytest

from onnx_scatterx import VerifyError, optimize, verify
from onnx_scatterx.compare.result import Verification
from tests.helpers.assumed import source_of
from tests.helpers.support import parse

pytestmark = pytest.mark.sampled(6)

READ = """g (float[%s, 2] x, %s) => (float[N, 2] y) <int64 c = {151655}, float h = {0.5}> {
    %s n = NonZero(m) i = Transpose(n) y = GatherND(x, i) }"""


def verified(text: str, promise: str, **options: Any) -> Verification:
    """Compare a model with one that holds under a promise, which its metadata state."""
    model = parse(text)
    result = optimize(model, target="qnn", assume=[promise])
    assert "NonZero" not in [node.op_type for node in result.model.graph.node]
    return verify(model, result.model, samples=6, **options)


@pytest.mark.parametrize(
    ("text", "promise"),
    [
        (READ % ("40", "bool[40] m", ""), "m: exactly 33"),
        (READ % ("40", "int64[40] v", "m = Equal(v, c)"), "v == 151655: one run of 9"),
        (READ % ("40", "int64[40] v", "m = Equal(v, c)"), "m: exactly 9"),
        (READ % ("40", "float[40] v", "e = Less(h, v) m = Not(e)"), "m: one run of 38"),
        (READ % ("6", "float[6] v", "w = Exp(v) m = Greater(w, h)"), "w > 0.5: exactly 4"),
    ],
)
def test_kept(text: str, promise: str) -> None:
    """The new model gives other results if the promise is broken, so it was not."""
    found = verified(text, promise)
    assert (found.answer, found.accepted) == ("same", 6)
    assert promise in found.stated


def test_sizes_with_so_many_elements() -> None:
    model = parse(READ % ("S", "bool[S] m", ""))
    found = verify(model, model, samples=4, assume=["m: exactly 20"])
    assert found.answer == "same"
    assert min(found.sizes["S"]) >= 20


def test_no_draw_keeps_a_promise() -> None:
    text = READ % ("40", "float[40] v", "w = Abs(v) u = Neg(w) m = Greater(u, h)")
    found = verified(text, "m: exactly 39")
    assert (found.answer, found.accepted) == ("not compared", 0)
    assert str(found).startswith("not compared: no drawn input keeps the promise 'm: exactly 39'")
    assert found.shortfall == "could not compare: no drawn input keeps the promise 'm: exactly 39'"
    assert found.to_dict()["unkept"] == ["m: exactly 39"]


def test_promises_that_cannot_be_kept() -> None:
    model = parse(READ % ("40", "bool[40] m", ""))
    with pytest.raises(VerifyError, match="the model has no such value"):
        verify(model, model, assume=["q: exactly 3"])
    model = parse(READ % ("4", "float[4] v", "w = Exp(v) m = Greater(w, h)"))
    with pytest.raises(VerifyError, match="'w': it holds float, neither bools nor integers"):
        verify(model, model, assume=["w: exactly 3"])


def test_type_of_a_value_that_only_a_run_shows() -> None:
    """ONNX infers nothing of the operators of ONNX Runtime."""
    text = READ % ("4", "float[4] v", "w = com.microsoft.Gelu(v) m = Greater(w, h)")
    model = parse(text, more=', "com.microsoft": 1')
    with pytest.raises(VerifyError, match="'w': it holds float, neither bools nor integers"):
        verify(model, model, assume=["w: exactly 3"])


def test_promise_about_a_value_that_both_models_lack() -> None:
    """What is done with a written model holds without the promises by which it was written."""
    text = READ % ("40", "int64[40] v", "m = Equal(v, c)")
    first = optimize(parse(text), target="qnn", assume=["m: exactly 0"]).model
    assert "m" not in [name for node in first.graph.node for name in node.output]
    second = optimize(first, target="standard", assume=["v: unique"]).model
    found = verify(first, second, samples=4)
    assert (found.answer, found.accepted) == ("same", 4)
    assert "m: exactly 0" not in found.assumed
    with pytest.raises(VerifyError, match="the model has no such value"):
        verify(first, second, assume=["m: exactly 0"])


def test_several_promises_of_one_input() -> None:
    """The elements of one are not taken for another."""
    model = parse("g (int64[30] v) => (int64[30] y) { y = Neg(v) }")
    promises = ["v == 5: exactly 9", "v == 7: one run of 8", "v > 100: at most 4", "v: exactly 28"]
    source, kept = source_of(model, promises), 0
    for number in range(12):
        drawn = source.draw(number)
        if drawn is not None:
            v = drawn[0].feeds["v"]
            at = np.flatnonzero(v == 7)
            assert ((v == 5).sum(), at.size, (v != 0).sum()) == (9, 8, 28)
            assert at[-1] - at[0] == 7
            kept += 1
            source.tell(drawn[1], True)
    assert kept >= 6


def test_counterexamples_that_break_a_promise() -> None:
    """They do not refute a proof."""
    before = parse("g (bool[3] m) => (int64[1] y) { c = Cast<to=7>(m) y = ReduceSum(c) }")
    after = parse("g (bool[3] m) => (int64[1] y) { c = Cast<to=7>(m) y = ReduceMax(c) }")
    kept = verify(before, after, prove=True, samples=6, assume=["m: at most 1"])
    assert kept.proof is not None
    assert (kept.differences, kept.proof.contradicted) == ((), False)
    assert verify(before, after, samples=6).answer == "different"

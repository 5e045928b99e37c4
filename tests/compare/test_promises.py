"""Promises about inputs, as the draws and a proof read them: what breaks one decides nothing."""

from typing import Any

import numpy as np
import onnx
import pytest

from onnx_scatterx import verify
from onnx_scatterx.compare.result import Verification
from tests.helpers.support import parse

pytestmark = pytest.mark.sampled(5)

SIZE = """g (float[N] x, float[K] w, int64[1] a) => (bool[1] z) {
    s = Shape(x) t = Max(s, [2]) z = Greater(%s, a) }"""
ORDER = """g (int64[3] i) => (bool[1] z) {
    p = Gather(i, [0]) q = Gather(i, [1]) z = %s }"""
BOUND = """g (float[n] x, int64[3] i) => (bool[3] z) {
    s = Shape(x) t = Mul(s, [2]) z = %s }"""
BOTH = """g (float[N] x, int64[M] N) => (bool[M] z) <int64[1] one = {1}> {
    z = %s }"""


def proved(before: onnx.ModelProto, after: onnx.ModelProto, **options: Any) -> Verification:
    return verify(before, after, prove=True, samples=5, **options)


def test_a_dim_that_is_called_as_the_place_of_another() -> None:
    """With ``distrust_dims``, a promise about it is none about the dim at that place."""
    pair = [parse(SIZE % name) for name in ("s", "t")]
    assert proved(*pair, assume=["N >= 2"]).answer == "same"
    for model in pair:
        model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "x[0]"
    for distrusted in (False, True):
        found = proved(*pair, assume=["x[0] >= 2"], distrust_dims=distrusted)
        assert found.proof is not None
        assert not found.proof.contradicted
        assert found.proof.kind in ("refuted", "proven for sizes")


def test_two_sizes_of_one_text() -> None:
    """The sizes of an answer would be those of either."""
    model = parse(SIZE % "s")
    first, second = (i.type.tensor_type.shape.dim[0] for i in model.graph.input[:2])
    first.Clear()
    assert proved(model, model).answer == "same"
    second.dim_param = "x[0]"
    found = proved(model, model)
    assert found.answer == "not proven"
    assert "two sizes are called 'x[0]'" in str(found)


@pytest.mark.parametrize(
    ("text", "before", "after", "promise", "distrusted"),
    [
        (ORDER, "LessOrEqual(p, q)", "Equal(p, p)", "i: nondecreasing", False),
        (ORDER, "Equal(p, q)", "Greater(p, p)", "i: unique", False),
        (BOUND, "Less(i, t)", "Equal(i, i)", "i < 2*n", False),
        (BOTH, "Greater(N, one)", "Equal(N, N)", "N >= 2", False),
        (SIZE.replace("Greater(%s, a)", "%s"), "Equal(s, t)", "Equal(s, s)", "N >= 2", True),
    ],
)
def test_a_counterexample_that_breaks_a_promise(
    text: str, before: str, after: str, promise: str, distrusted: bool
) -> None:
    """A proof does not use these promises, and no run is a refutation that they exclude."""
    pair = parse(text % before), parse(text % after)
    assert proved(*pair, distrust_dims=distrusted).answer == "different"
    found = proved(*pair, assume=[promise], distrust_dims=distrusted)
    assert found.answer == "not proven", found


@pytest.mark.parametrize(
    ("before", "after", "promise", "numbers"),
    [
        ("int64[M] i) => (int64[M]", "int64[M] i) => (int64[M]", "i: nonnegative", [-1]),
        ("int64[M] i) => (int64[M]", "int64[2] i) => (int64[2]", "M >= 0", [1, -1, 1]),
        ("int64[M] i) => (int64[M]", "int64[M] i) => (int64[M]", "i > 0", [2, -1]),
    ],
)
def test_given_inputs_that_break_a_promise_contradict_no_proof(
    before: str, after: str, promise: str, numbers: list[int]
) -> None:
    one, other = (
        parse(f"g ({head} z) {{ z = {op}(i) }}")
        for head, op in ((before, "Abs"), (after, "Abs" if "[2]" in after else "Identity"))
    )
    assert proved(one, other, assume=[promise]).answer == "same"
    found = proved(one, other, assume=[promise], feeds=[{"i": np.array(numbers)}])
    assert found.answer == "different"
    assert found.proof is not None
    assert (found.proof.kind, found.proof.contradicted) == ("refuted", False)

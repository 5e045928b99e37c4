"""Promises about inputs, as the draws and a proof read them: what breaks one decides nothing."""

from typing import Any

import onnx
import pytest

from onnx_scatterx import verify
from onnx_scatterx.judges.verification.result import Verification
from tests.helpers.support import parse

pytestmark = pytest.mark.sampled(5)

SIZE = """g (float[N] x, float[K] w, int64[1] a) => (bool[1] z) <int64[1] two = {2}> {
    s = Shape(x) t = Max(s, two) z = Greater(%s, a) }"""


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

"""What onnx.checker refuses, and ONNX Runtime runs: accepted if it is certain what it means."""

import onnx
import onnx.checker
import pytest

import onnx_scatterx
from onnx_scatterx import ModelError
from tests.helpers.pair import agree
from tests.helpers.support import assert_sound, parse, run, sample

GROUPS = """g (float[1,4,3,3] x, float[1,3,3] u, float[K] more) => (float[1,4,3,3] y)
    <float[2] s = {1.0, 2.0}, float[2] b = {0.5, 0.25}> {
        z = GroupNormalization <num_groups = 2> (x, s, b)
        y = ScatterND (z, [[0, 2]], u) }"""
LAYERS = """g (float[4,3] x, float[1,3] u) => (float[4,3] y) <float[3] s = {1.0, 2.0, 3.0}> {
    z = LayerNormalization <axis = -1> (x, s)
    y = ScatterND (z, [[1]], u) }"""
GELU = """g (float[N,3] x, float[1,3] u) => (float[N,3] y) {
    z = com.microsoft.Gelu (x)
    y = ScatterND (z, [[1]], u) }"""
BRANCH = """g (float[4,3] x, float[1,3] u, bool c) => (float[4,3] y)
    <float[3] s = {1.0, 2.0, 3.0}> {
    z = If (c) <then_branch = t () => (float[4,3] p) { p = LayerNormalization <axis = -1> (x, s) },
                else_branch = e () => (float[4,3] q) { q = Neg (x) }>
    y = ScatterND (z, [[1]], u) }"""
CALLED = """g (float[1,4,3] x, float[1,3] u) => (float[1,4,3] y) <float[2] s = {1.0, 2.0}> {
    z = own.norm (x, s)
    y = ScatterND (z, [[0, 2]], u) }
    <domain: "own", opset_import: ["" : 18]>
    norm (x, s) => (y) { y = GroupNormalization <num_groups = 2> (x, s, s) }"""
IDLE = """g (float[4,3] x, float[1,3] u) => (float[4,3] y) {
    z = own.used (x)
    y = ScatterND (z, [[1]], u) }
    <domain: "own", opset_import: ["" : 18]> used (x) => (y) { y = Neg (x) }
    <domain: "own", opset_import: ["" : 18]> idle (x) => (y) { y = NoSuchOp (x) }"""

ACCEPTED = {
    "GroupNormalization 18": parse(GROUPS, 18),
    "GroupNormalization 20": parse(GROUPS, 20, 9),
    "LayerNormalization 11": parse(LAYERS, 11),
    "LayerNormalization 16": parse(LAYERS, 16),
    "LayerNormalization in a branch": parse(BRANCH, 13),
    "GroupNormalization in a function": parse(CALLED, 18),
    "com.microsoft without an import": parse(GELU, 17),
    "a function that is not called": parse(IDLE, 18),
}


@pytest.mark.parametrize("what", ACCEPTED)
def test_what_onnx_runtime_runs_is_accepted(what: str) -> None:
    model = ACCEPTED[what]
    with pytest.raises(onnx.checker.ValidationError):
        onnx.checker.check_model(model)
    feeds = [{"N": 2, "K": 1}] if "c" not in {i.name for i in model.graph.input} else ()
    assert_sound(model, *feeds, left=0)
    assert onnx_scatterx.inspect(model, target="standard").removed == 1
    assert "removed, written by" in onnx_scatterx.explain(model, target="standard")
    result = onnx_scatterx.optimize(model, target="standard")
    assert onnx_scatterx.verify(model, result.model, samples=3).same
    assert onnx_scatterx.optimize(result.model, target="standard").report.nodes_after


REFUSED = {
    "ONNX Runtime knows no Scatter of set 11": (
        parse("g (float[4] x, int64[1] i) => (float[4] y) { y = Scatter (x, i, x) }", 11),
        "Scatter is deprecated",
    ),
    "GroupNormalization began with set 18": (parse(GROUPS, 17), "No Op registered for Group"),
    "which version ai.onnx.ml has is for the runtime to say": (
        parse("g (float[4,3] x) => (y) { y = ai.onnx.ml.Normalizer (x) }"),
        "No opset import for domain 'ai.onnx.ml'",
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_not_certain_is_refused(why: str) -> None:
    model, message = REFUSED[why]
    with pytest.raises(ModelError, match=message):
        onnx_scatterx.optimize(model)


def test_a_raised_group_normalization_has_a_scale_for_each_channel() -> None:
    model = ACCEPTED["GroupNormalization 18"]
    raised = onnx_scatterx.optimize(model, target="standard", opset=21).model
    feed = {"x": sample("float32", 1, 4, 3, 3), "u": sample("float32", 1, 3, 3)}
    feed["more"] = sample("float32", 1)
    (before,), (after,) = run(model, feed), run(raised, feed)
    assert agree(before, after)

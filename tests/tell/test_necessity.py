"""Which assumptions are needed: those are named in the report and the metadata, and no others."""

import onnx_ir as ir

import onnx_scatterx
from onnx_scatterx.assumptions.clauses import METADATA
from onnx_scatterx.tell.builder import AXES
from tests.assumptions.test_assumptions import BOXES, CACHE, optimized
from tests.helpers.support import parse
from tests.text.test_reasons import OPSET, nd


def test_only_what_is_needed_is_named() -> None:
    assume = ["D <= 9", "pos: contiguous, nonnegative", "N >= 2", "pos: unique"]
    result = optimized(CACHE, assume)
    report = result.report
    said = [a for a in report.assumptions if not a.startswith(("declared-dims", "axis-limit"))]
    assert said == ["pos: contiguous", "pos: nonnegative"]
    assert report.not_needed == ("D <= 9", "N >= 2", "pos: unique")
    assert {p.key: p.value for p in result.model.metadata_props} == {
        METADATA: '{"pos": "contiguous, nonnegative"}'
    }
    assert report.to_dict()["not_needed"] == list(report.not_needed)
    told = onnx_scatterx.explain(parse(CACHE), assume=assume).splitlines()
    assert [line.split("   ")[-1].strip() for line in told if ": contiguous" in line] == [
        "pos: contiguous"
    ]


def test_each_scatter_names_its_own() -> None:
    text = f"""{OPSET} g (float[N,2] x, float[M,2] z, float[2,2] u, float[1,2] v, int64 p)
        => (float[N,2] y, float[M,2] w) <int64[2,1] i = {{3, -1}}, int64[2] rows = {{1, 1}}> {{
            [first] y = ScatterND (x, i, u)
            j = Reshape (p, rows)
            [second] w = ScatterND (z, j, v) }}"""
    result = onnx_scatterx.optimize(
        parse(text),
        target="standard",
        assume=["N >= 5", "p >= 0", "M <= 7"],
        rules=["view", "concat"],
    )
    own = {s.node: list(s.facts) for s in result.report.scatters}
    assert own == {"first": [AXES, "N >= 5"], "second": [AXES, "p >= 0"]}


def test_what_is_assumed_is_nothing_that_the_model_checks() -> None:
    text = nd("N,2", "", "2,2", "<int64[2,1] i = {3, -1}>")
    told = onnx_scatterx.explain(parse(text), assume="N >= 5")
    assert f"assumed   {AXES}\n            N >= 5" in told
    assert "N - 5 >= 0" not in told


def test_what_changes_nothing_leaves_no_trace() -> None:
    model = parse(CACHE)
    result = onnx_scatterx.optimize(model, target="standard", assume=["N <= 40", "pos: unique"])
    assert result.report.not_needed == ("N <= 40", "pos: unique")
    assert not result.model.metadata_props
    assert result.report.scatters == onnx_scatterx.inspect(model, target="standard").scatters


def test_of_two_that_say_the_same_one_is_named() -> None:
    result = onnx_scatterx.optimize(
        parse(nd("N,2", "", "2,2", "<int64[2,1] i = {3, -1}>")),
        target="standard",
        assume=["N >= 5", "N >= 6"],
    )
    assert result.report.removed == 1
    assert result.report.not_needed == ("N >= 5",)


def test_nothing_is_believed_the_next_time() -> None:
    model = ir.from_proto(parse(CACHE))
    assuming = onnx_scatterx.passes.RemoveScatters(
        target="standard", assume={"pos": "contiguous, nonnegative"}
    )
    assert assuming(model.clone()).modified
    report = onnx_scatterx.inspect(
        model, target="standard", rules=BOXES, assume=["pos: contiguous"]
    )
    assert report.removed == 0
    assert onnx_scatterx.inspect(model, target="standard").removed == 0
    assert onnx_scatterx.passes.RemoveScatters(target="standard")(model).model is model
    assert METADATA not in model.metadata_props

"""The promises that were given: a changed model, its report and each removed scatter name them."""

import onnx_ir as ir

import onnx_scatterx
from onnx_scatterx.assumptions.clauses import METADATA
from onnx_scatterx.tell.builder import AXES
from tests.helpers.assumed import BOXES, optimized
from tests.helpers.kept_scatters import CACHE, nd
from tests.helpers.support import parse

SAID = ["D <= 9", "pos: contiguous", "pos: nonnegative", "pos: unique"]


def test_all_that_were_given_are_named() -> None:
    assume = ["D <= 9", "pos: contiguous, nonnegative, unique"]
    result = optimized(CACHE, assume)
    (scatter,) = result.report.scatters
    assert list(result.report.assumptions[-4:]) == list(scatter.facts[-4:]) == SAID
    assert result.report.to_dict()["assumptions"][-4:] == SAID
    assert str(result.report).splitlines()[-4:] == [f"  {said}" for said in SAID]
    assert {p.key: p.value for p in result.model.metadata_props} == {
        METADATA: '{"D": "<= 9", "pos": "contiguous, nonnegative, unique"}'
    }
    told = [line.split("  ")[-1].strip() for line in explained(CACHE, assume)]
    assert [line for line in told if line in SAID] == SAID


def explained(text: str, assume: list[str]) -> list[str]:
    return onnx_scatterx.explain(parse(text), assume=assume).splitlines()


def test_only_removed_scatters_name_them() -> None:
    text = """<ir_version: 8, opset_import: ["" : 18]>
        g (float[N,2] x, float[M,2] z, float[2,2] u, float[1,2] v, int64[1,1] j)
        => (float[N,2] y, float[M,2] w) {
            [first] y = ScatterND (x, [[3], [-1]], u)
            [second] w = ScatterND (z, j, v) }"""
    report = onnx_scatterx.inspect(
        parse(text), target="standard", assume=["N >= 5"], rules=["view", "concat"]
    )
    own = {s.node: "N >= 5" in s.facts for s in report.scatters}
    assert own == {"first": True, "second": False}
    assert report.assumptions == (AXES, "N >= 5")


def test_what_is_assumed_is_nothing_that_the_model_checks() -> None:
    text = nd("N,2", "", "2,2", "<int64[2,1] i = {3, -1}>")
    told = onnx_scatterx.explain(parse(text), assume="N >= 5")
    assert f"assumed   {AXES}\n            N >= 5" in told
    assert "N - 5 >= 0" not in told


def test_a_model_that_is_changed_in_another_way_names_them() -> None:
    model = parse("""g (float[N,2] x, int64[M,1] i, float[M,2] u) => (float[N,2] y) {
            y = ScatterND (x, i, u) }""")
    result = onnx_scatterx.optimize(model, target="standard", assume=["N >= 5"], opset=20)
    assert result.report.removed == 0
    assert result.report.assumptions == ("N >= 5",)
    assert [p.value for p in result.model.metadata_props] == ['{"N": ">= 5"}']


def test_a_model_that_is_not_changed_names_none() -> None:
    model = parse(CACHE)
    result = onnx_scatterx.optimize(model, target="standard", assume=["N <= 40", "pos: unique"])
    assert result.report.assumptions == ()
    assert not result.model.metadata_props
    assert result.report.scatters == onnx_scatterx.inspect(model, target="standard").scatters


def test_they_follow_those_of_the_given_model() -> None:
    model = parse(nd("N,2", "", "2,2", "<int64[2,1] i = {3, -1}>"))
    model.metadata_props.add(key=METADATA, value='{"N": "<= 9"}')
    result = onnx_scatterx.optimize(model, target="standard", assume=["N >= 5", "N <= 9"])
    assert [p.value for p in result.model.metadata_props] == ['{"N": "<= 9, >= 5"}']


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


def test_different_values_may_be_one_place() -> None:
    """-1 and 7 are. The report says that a second promise is missing."""
    model = parse("""<ir_version: 8, opset_import: ["" : 18]>
        g (float[8,2] x, int64[3,1] i, float[3,2] u) => (float[8,2] y) {
            y = ScatterND (x, i, u) }""")
    hint = "'i' may be one place, such as -1 and 7: promise 'i: nonnegative', too"
    for assume, told in {
        "": False,
        "i: unique": True,
        "i: nonnegative": False,
        "i: unique, nonnegative": False,
    }.items():
        report = onnx_scatterx.inspect(model, assume=[assume] if assume else [])
        assert (hint in str(report)) == told
        assert (report.scatters[0].unique == "proven") == ("unique, " in assume)

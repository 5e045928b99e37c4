"""A model is lowered for its target after the scatters that the older set lacks are gone."""

import onnx
import onnx.checker
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.fitting.lower_rewritten import lower_rewritten
from onnx_scatterx.targets.target import Target
from tests.helpers.pair import Pair
from tests.helpers.support import feed_of, i64, parse, scatters

CACHE = """g (float[B,S,4] c, float[B,T,4] k, int64[B] at) => (float[B,S,4] y) {{
    z = TensorScatter <axis = 1, mode = "{mode}"> (c, k{at})
    {rest} }}"""
SIZES = {"B": 2, "S": 8, "T": 3, "at": i64([1, 5])}


def written(rest: str = "y = Neg (z)", mode: str = "linear", *, starts: bool = False) -> str:
    return CACHE.format(mode=mode, at=", at" if starts else "", rest=rest)


def assert_lowered(
    model: onnx.ModelProto, target: str | Target, version: int, ir_version: int
) -> onnx_scatterx.Report:
    """Assert that no scatter is left, and that the operator set is this one."""
    result = onnx_scatterx.optimize(model, target=target)
    assert not scatters(result.model)
    assert (result.model.opset_import[0].version, result.model.ir_version) == (version, ir_version)
    onnx.checker.check_model(result.model, full_check=True)
    assert Pair(model, result.model).accepts(feed_of(model, SIZES, 0))
    assert result.report.opset_lowered == version
    assert result.report.opset_kept is None
    assert not [v for v in result.report.violations if "operator set" in v.why]
    return result.report


@pytest.mark.parametrize("opset", [24, 25, 26])
@pytest.mark.parametrize(
    ("mode", "starts"), [("linear", False), ("linear", True), ("circular", True)]
)
@pytest.mark.parametrize(
    ("target", "version"), [("standard, max_opset = 20", 20), ("standard, max_opset = 17", 17)]
)
def test_a_tensorscatter_is_removed_and_the_model_is_lowered(
    opset: int, mode: str, starts: bool, target: str, version: int
) -> None:
    model = parse(written(mode=mode, starts=starts), opset, 11)
    assert_lowered(model, target, version, {17: 8, 20: 9}[version])


def test_what_the_older_set_lacks_is_written_as_onnx_defines_it() -> None:
    model = parse(written("y = Swish (z)"), 24, 11)
    report = assert_lowered(model, "standard, max_opset = 20", 20, 9)
    assert report.defined == ("y (Swish)",)
    assert report.opset_lines()[0] == "lowered to operator set 20, as standard needs it"


def test_a_reduction_that_the_older_set_lacks() -> None:
    text = """g (float[3,4] x, float[1,4] u) => (float[3,4] y) {
        y = ScatterND <reduction = "max"> (x, [[1]], u) }"""
    assert_lowered(parse(text, 18), "standard, max_opset = 17", 17, 8)


def test_a_loop_that_is_written_anew_is_lowered_in_the_end() -> None:
    """A model that is restored gets its IR version back, as its operator set."""
    text = """g (float[B,S,4] c, float[B,T,4] k, int64[B] at, int64 n) => (y, w) {
        y = TensorScatter <axis = 1> (c, k)
        yes = Cast <to = 9> (n)
        w = Loop <body = b (int64 i, bool p) => (bool q, r) {
            q = Identity (p)
            r = ScatterND (c, [[[0]]], Unsqueeze (Gather (c, [1]), [0])) }> (n, yes) }"""
    model = parse(text, 24, 11)
    result = onnx_scatterx.optimize(model, target="standard, max_opset = 20")
    for trips in (0, 1, 2):
        assert Pair(model, result.model).accepts(feed_of(model, SIZES | {"n": i64(trips)}, 0))
    assert result.model.opset_import[0].version == (24 if scatters(result.model) else 20)


@pytest.mark.parametrize(
    ("rest", "target", "why"),
    [
        ("y = BitCast <to = 6> (z)", "tensorrt", "y (BitCast): operator set 26, and tensorrt"),
        ("y = Neg (z)", "rknn", "z (TensorScatter): operator set 26, and rknn takes 19"),
    ],
)
def test_what_is_in_the_way_is_named(rest: str, target: str, why: str) -> None:
    model = parse(written(rest, "circular", starts=True), 26, 11)
    result = onnx_scatterx.optimize(model, target=target)
    assert result.report.opset_kept == 26
    assert result.report.opset_lowered is None
    assert (result.model.opset_import[0].version, result.model.ir_version) == (26, 11)
    assert [v for v in map(str, result.report.violations) if v.startswith(why)]


def test_a_scatterx_keeps_the_set_of_its_fallback() -> None:
    model = parse(written(), 24, 11)
    caches = "scatterx, max_opset = 20"
    result = onnx_scatterx.optimize(model, target=caches)
    versions = {f.opset_import[0].version for f in result.model.functions}
    assert versions <= {result.model.opset_import[0].version}


def test_what_was_not_rewritten_is_not_lowered() -> None:
    model = ir.from_proto(parse("g (float[N] x) => (float[N] y) { y = Neg (x) }"))
    assert not lower_rewritten(Job(model, Settings.of(target="standard, max_opset = 17")))
    assert model.opset_imports[""] == 18

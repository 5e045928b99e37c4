"""With ``opset``, models are raised to a newer operator set, or lowered to an older one."""

import logging
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import ModelError, ScatterXError
from onnx_scatterx.ir.opset import write_for_opset
from onnx_scatterx.optimizer.targets.target import Target
from tests.helpers.support import f32, i64, parse

MODELS = Path(__file__).parents[2] / "models"
CACHES = Target("caches", extra=frozenset({"TensorScatter"}))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", ["dynamo", "dynamo_dynamic", "ts"])
def test_caches_become_tensor_scatter(how: str) -> None:
    path = MODELS / f"kv_cache_{how}.onnx"
    result = onnx_scatterx.optimize(path, target=CACHES, opset=24)
    scatters = [n.op_type for n in result.model.graph.node if "Scatter" in n.op_type]
    assert scatters == ["TensorScatter", "TensorScatter"]
    onnx.checker.check_model(result.model, full_check=True)
    assert onnx_scatterx.verify(path, result.model, samples=12).same


def test_a_model_without_scatters_is_raised_too() -> None:
    model = parse("g (float[N] x) => (float[N] y) { y = Neg(x) }")
    raised = onnx_scatterx.optimize(model, opset=24).model
    assert {o.domain: o.version for o in raised.opset_import} == {"": 24}
    assert onnx_scatterx.verify(model, raised, samples=4).same
    assert onnx_scatterx.optimize(raised, opset=24).model is raised


def test_a_newer_operator_set_is_lowered(tmp_path: Path) -> None:
    text = "g (float[N] x) => (float[N] y) { y = Neg(x) }"
    lowered = onnx_scatterx.optimize(parse(text, opset=20), opset=17)
    assert lowered.model.opset_import[0].version == 17
    assert lowered.model.ir_version == 8
    onnx.checker.check_model(lowered.model, full_check=True)

    for name, version in ("new", 18), ("old", 13):
        onnx.save(parse(text, version), tmp_path / name)
    with ThreadPoolExecutor() as threads:
        paths = [tmp_path / "new", tmp_path / "old"]
        outcomes = onnx_scatterx.optimize_many(
            paths, tmp_path / "out", executor=threads, opset=17
        ).outcomes
    assert [onnx.load(str(o.output)).opset_import[0].version for o in outcomes] == [17, 17]


# What cannot be lowered, and why.
KEPT = {
    "y = Gelu(x)": "y (Gelu): began with 20",
    "y = Cast <to = 1, saturate = 1> (x)": "y (Cast): changed after 18",
    'y = Pad <mode = "wrap"> (x, p)': "y (Pad): changed after 18",
    "y = AveragePool <kernel_shape = [2], ceil_mode = 1> (x)": "y (AveragePool): changed after 19",
    "b = Cast <to = 9> (x) m = ReduceMax (b) y = Cast <to = 1> (m)": "m (ReduceMax): takes no ",
    "q = Cast <to = 17> (x) y = Cast <to = 1> (q)": "q (Cast): takes no tensor(float8",
    "b = Cast <to = 9> (x) y = If (b) <then_branch = t () => (float o) { o = Gelu (x) },"
    " else_branch = e () => (float q) { q = Neg (x) }>": "o (Gelu): began with 20",
}
OLDER = {"Cast": 18, "Pad": 18, "AveragePool": 19}


@pytest.mark.parametrize("body", KEPT)
def test_models_that_cannot_be_lowered(body: str) -> None:
    model = parse(f"g (float[1, 1, 4] x, int64[6] p) => (float[a, b, c] y) {{ {body} }}", opset=22)
    said = KEPT[body]
    older = next((v for op, v in OLDER.items() if f"({op})" in said), 19)
    with pytest.raises(ModelError, match=rf"lowered to operator set {older}: {re.escape(said)}"):
        onnx_scatterx.optimize(model, opset=older)
    assert model.opset_import[0].version == 22


# What can, since only element types came with the newer set.
LOWERED = [
    "y = ConstantOfShape (p)",
    "n = IsNaN (x) y = Cast <to = 1> (n)",
    "s = Shape (x) y = Reshape (x, s)",
    'y = Pad <mode = "edge"> (x, p)',
    "y = AveragePool <kernel_shape = [2]> (x)",
    "y = Transpose (x)",
    "m = ReduceMax <keepdims = 1> (x) y = Sin (m)",
    "i = Constant <value_ints = [0]> () u = Unsqueeze (x, i) y = Squeeze (u, i)",
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("body", LOWERED)
def test_a_lowered_model_computes_the_same(body: str) -> None:
    model = parse(
        f"g (float[1, 1, 4] x, int64[6] p) => (float[...] y) {{ {body} }}".replace(
            "[...]", "[a, b, c, d, e, f]" if "OfShape" in body else "[a, b, c]"
        ),
        opset=22,
    )
    lowered = onnx_scatterx.optimize(model, opset=19).model
    assert lowered.opset_import[0].version == 19
    onnx.checker.check_model(lowered, full_check=True)
    feeds = [{"x": f32([[[1, -2, np.nan, 4]]]), "p": i64([0, 0, 1, 0, 0, 1])}]
    assert onnx_scatterx.verify(model, lowered, samples=0, feeds=feeds).same


def test_functions_are_lowered_too() -> None:
    model = ir.from_onnx_text("""<ir_version: 10, opset_import: ["" : 21, "own" : 1]>
        g (float[N] x) => (float[N] y) { y = own.f (x) }
        <domain: "own", opset_import: ["" : 21]> f (a) => (b) { b = Neg (a) }""")
    assert not write_for_opset(model, 18).obstacles
    (function,) = model.functions.values()
    assert (function.opset_imports[""], model.ir_version) == (18, 8)
    onnx.checker.check_model(ir.to_proto(model), full_check=True)


def test_a_target_that_reads_no_newer_set() -> None:
    npu = Target("npu", max_opset=19)
    text = "g (float[4, 2] x, float[1, 2] u) => (float[4, 2] z) <int64[1, 1] i = {{1}}> {{ {0} }}"
    model = parse(text.format("y = ScatterND(x, i, u) z = Neg(y)"), opset=22)
    result = onnx_scatterx.optimize(model, target=npu)
    assert (result.model.opset_import[0].version, result.report.removed) == (19, 1)
    assert result.report.to_dict()["opset_lowered"] == 19
    assert not result.report.violations
    assert "lowered to operator set 19, as npu needs it" in str(result.report)
    onnx.checker.check_model(result.model, full_check=True)
    assert onnx_scatterx.verify(model, result.model, samples=4).same

    model = parse(text.format("y = ScatterND(x, i, u) z = Gelu(y)"), opset=22)
    result = onnx_scatterx.optimize(model, target=npu)
    assert (result.model.opset_import[0].version, result.report.removed) == (22, 1)
    assert result.report.opset_kept == 22
    (violation,) = result.report.violations
    assert str(violation) == ("z (Gelu): operator set 22, and npu takes 19: began with 20")
    with pytest.raises(ScatterXError, match="operator set 24: the target npu reads up to 19"):
        onnx_scatterx.optimize(model, target=npu, opset=24)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("version", [13, 16, 18])
def test_new_nodes_fit_the_lowered_operator_set(version: int) -> None:
    """Rules write their nodes as the set wants them that the model is lowered to."""
    text = """g (float[4, N] x, float[M, N] u, int64[1] at, float[K, N] v) => (float[4, N] z) {
            s = Slice (u, [0], at)
            y = ScatterND (x, [[1], [3]], u)
            z = ScatterND <reduction = "add"> (y, [[1], [3]], u) }"""
    model = parse(text.replace(' <reduction = "add">', "") if version < 16 else text, opset=21)
    result = onnx_scatterx.optimize(model, target="standard", opset=version)
    assert result.report.removed == 2
    assert result.model.opset_import[0].version == version
    onnx.checker.check_model(result.model, full_check=True)
    assert onnx_scatterx.verify(model, result.model, samples=6).same


def test_models_that_cannot_be_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    model = parse("g (float[N] x) => (float[N] y) { y = Neg(x) }")
    with pytest.raises(ScatterXError, match="onnx knows 9 to"):
        onnx_scatterx.optimize(model, opset=999)

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("no adapter\nfor Neg")

    def skips(model: ir.Model, version: int, **_: object) -> None:
        model.opset_imports[""] = version
        home = "onnxscript.version_converter._version_converter"
        logging.getLogger(home).warning("Skipping version conversion for node %s", "Neg")

    cases = (fails, ": no adapter for Neg"), (skips, ": Skip.*Neg"), (lambda *_, **__: None, "24$")
    for converter, because in cases:
        monkeypatch.setattr("onnxscript.version_converter.convert_version", converter)
        with pytest.raises(ModelError, match=f"cannot be raised to operator set (24)?{because}"):
            onnx_scatterx.optimize(model, opset=24)


def test_a_skipped_node_is_an_error_even_if_the_log_is_off() -> None:
    """onnxscript says in its log alone that it leaves a node as it was."""
    text = """<ir_version: 8, opset_import: ["" : 18]>
        g (float[2, 4] x, float[2] one, int64[n] to) => (float[?] y)
        { r = Reshape(x, to)  y = GroupNormalization <num_groups = 2> (r, one, one) }"""
    for level in logging.NOTSET, logging.CRITICAL:
        logging.disable(level)
        try:
            with pytest.raises(ModelError, match=r"cannot be raised .*GroupNormalization"):
                onnx_scatterx.optimize(ir.from_onnx_text(text), opset=22)
        finally:
            logging.disable(logging.NOTSET)


def test_sets_that_only_onnx_converts() -> None:
    model = parse("g (float[N] x) => (float[N] y) { y = Neg(x) }", opset=13)
    for version in 17, 20, 26:
        raised = onnx_scatterx.optimize(model, opset=version).model
        assert raised.opset_import[0].version == version


def test_the_command_line(tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    assert (
        main(["optimize", str(MODELS / "kv_cache_ts.onnx"), "-o", str(out), "--opset", "24"]) == 0
    )
    assert next(o.version for o in onnx.load(out).opset_import if not o.domain) == 24

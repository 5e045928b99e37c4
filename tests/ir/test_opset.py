"""Models are raised to a newer operator set where that is asked for."""

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import onnx
import onnx.parser
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.cli import main
from onnx_scatterx.errors import ModelError, ScatterXError
from onnx_scatterx.targets.target import Target
from tests.helpers.support import parse

MODELS = Path(__file__).parents[2] / "models"
CACHES = Target("caches", extra=frozenset({"TensorScatter"}))


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
    assert onnx_scatterx.optimize(raised, opset=20).model is raised


def test_a_newer_operator_set_is_kept_and_told(tmp_path: Path) -> None:
    model = parse("g (float[N] x) => (float[N] y) { y = Neg(x) }", opset=18)
    result = onnx_scatterx.optimize(model, opset=17)
    assert result.model is model
    line = "operator set 18 is kept, as no model is lowered"
    assert str(result.report).splitlines() == ["no scatter in this model", line]
    assert result.report.to_dict()["opset_kept"] == 18
    assert f"<li>{line}</li>" in result.report.to_html()
    for same in 18, None:
        report = onnx_scatterx.optimize(model, opset=same).report
        assert report.opset_kept is None
        assert report.lines() == []

    for name, version in ("new", 18), ("old", 13):
        text = "g (float[N] x) => (float[N] y) { y = Neg(x) }"
        onnx.save(parse(text, version), tmp_path / name)
    with ThreadPoolExecutor() as threads:
        paths = [tmp_path / "new", tmp_path / "old"]
        new, old = onnx_scatterx.optimize_many(
            paths, tmp_path / "out", executor=threads, opset=17
        ).outcomes
    assert new.done == f"no scatter in this model; {line}"
    assert old.done == "no scatter in this model"
    assert old.output is not None
    assert onnx.load(old.output).opset_import[0].version == 17


def test_what_cannot_be_raised(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_what_is_skipped_is_an_error_where_the_log_is_turned_off() -> None:
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

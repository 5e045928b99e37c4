"""What `optimize` is asked for besides a model: a check, a target that takes all, progress."""

import logging
import pickle
from pathlib import Path
from typing import Any

import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.compare import verifying
from onnx_scatterx.compare.draws.how_many import MOST_DRAWS
from onnx_scatterx.compare.result import Verification
from onnx_scatterx.errors import VerifyError
from tests.helpers.support import parse

ROW = """g (float[4, 2] x, float[1, 2] y) => (float[4, 2] z)
    <int64[1, 1] i = {1}> { z = ScatterND(x, i, y) }"""
AT_RUN = """g (float[N, 2] x, int64[K, 1] i, float[K, 2] y) => (float[N, 2] z)
    { z = ScatterND(x, i, y) }"""
FIXED = AT_RUN.replace("[N,", "[5000,").replace("[K,", "[200,")
NEVER = """g (float[2] x) => (float[3] y) <int64[1] shape = {3}> { y = Reshape (x, shape) }"""
MODEL = Path(__file__).parents[2] / "models" / "box_update_dynamo.onnx"


def test_verify() -> None:
    result = onnx_scatterx.optimize(parse(ROW), verify={"samples": 3, "seed": 5})
    assert result.verification is not None
    assert (result.verification.accepted, result.verification.seed) == (3, 5)
    assert onnx_scatterx.optimize(parse(ROW)).verification is None
    default = onnx_scatterx.optimize(parse(ROW), verify=True).verification
    assert default is not None
    assert default.accepted == MOST_DRAWS


def test_the_repr_is_one_line(tmp_path: Path) -> None:
    """What was done, for which target, and the file, if there is one."""
    result = onnx_scatterx.optimize(parse(ROW), target="qnn, add = ['NonZero']")
    done = result.report.summary()
    assert done.startswith("1 of 1 scatters removed")
    assert repr(result) == f"<Result: {done}, target \"qnn, add = ['NonZero']\">"
    onnx.save(parse(ROW), tmp_path / "row.onnx")
    result = onnx_scatterx.optimize(tmp_path / "row.onnx")
    assert repr(result).endswith(f", target 'scatterx', from {str(tmp_path / 'row.onnx')!r}>")


def test_what_is_assumed_is_verified() -> None:
    found = onnx_scatterx.optimize(
        parse(AT_RUN), verify={"samples": 4}, assume=["N >= 3"]
    ).verification
    assert found is not None
    assert min(found.sizes["N"]) >= 3


def test_a_difference_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    true = verifying.verify

    def wrong(before: Any, after: Any, **told: Any) -> Verification:
        return true(before, parse(ROW.replace("ScatterND(x, i, y)", "Neg(x)")), **told)

    monkeypatch.setattr(verifying, "verify", wrong)
    with pytest.raises(
        onnx_scatterx.DifferenceError, match=r"the optimized model differs: output 'z'"
    ) as found:
        onnx_scatterx.optimize(parse(ROW), verify=True)
    assert found.value.verification.differences
    again = pickle.loads(pickle.dumps(found.value))
    assert str(again) == str(found.value)
    assert not again.verification.same


def test_what_cannot_be_compared_is_an_error() -> None:
    with pytest.raises(VerifyError, match="could not be compared: not compared: the first model"):
        onnx_scatterx.optimize(parse(NEVER), verify={"samples": 2})


def test_strict() -> None:
    with pytest.raises(
        onnx_scatterx.TargetError, match="1 violation of the target ncnn: "
    ) as found:
        onnx_scatterx.optimize(parse(FIXED), target="ncnn", strict=True)
    assert found.value.report.violations
    assert found.value.result.report is found.value.report
    again = pickle.loads(pickle.dumps(found.value))
    assert again.report.target == "ncnn"
    assert again.result.model == found.value.result.model
    assert onnx_scatterx.optimize(parse(ROW), target="ncnn", strict=True).report.removed == 1


def test_progress() -> None:
    told: list[tuple[str, int, int]] = []
    checks = {"samples": 2}
    onnx_scatterx.optimize(MODEL, on_progress=lambda *stage: told.append(stage), verify=checks)
    assert [stage for stage in told if stage[0] != "verifying"] == [
        ("reading", 0, 0),
        ("analysing", 0, 0),
        ("planning", 1, 2),
        ("planning", 2, 2),
    ]
    assert told[-1] == ("verifying", 2, 2)
    for model, last in ((MODEL, "planning"), (parse(FIXED), "trying what would help")):
        told.clear()
        assert onnx_scatterx.explain(
            model, target="standard", on_progress=lambda *stage: told.append(stage)
        )
        assert told[0] == ("reading", 0, 0)
        assert told[-1][0] == last


def test_log(caplog: pytest.LogCaptureFixture) -> None:
    model = parse(ROW)
    model.graph.node[0].name = "a\x1bname"
    with caplog.at_level(logging.INFO, "onnx_scatterx"):
        onnx_scatterx.optimize(model)
    assert [r.getMessage() for r in caplog.records] == [
        "reading",
        "analysing",
        "1 of 1 scatters removed, 1 -> 3 nodes",
    ]
    caplog.clear()
    with caplog.at_level(logging.DEBUG, "onnx_scatterx"):
        onnx_scatterx.optimize(model)
    said = [r.getMessage() for r in caplog.records]
    assert "planning 1 of 1: a\\x1bname" in said
    assert "ran the pass LowerScatters" in said
    assert any(line.startswith("ScatterND a\\x1bname: removed") for line in said)


def test_a_callback_that_raises_stops_it() -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = onnx.ModelProto()
    before.CopyFrom(model := parse(ROW))
    with pytest.raises(KeyboardInterrupt):
        onnx_scatterx.optimize(model, on_progress=stop)
    assert model == before

"""Nodes that a target runs on its host are written only for a scatter that not even it runs."""

from pathlib import Path

import numpy as np
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.targets.catalogue import target_of
from tests.helpers.pair import assert_same
from tests.helpers.support import parse, sample

HOST = ("ScatterND", "Cast", "CumSum", "Equal", "Where", "Expand", "Gather")
NPU = ", ".join(f"limits.{operator}.native = false" for operator in HOST)
TAKEN = """g (float[8] x, bool[8] m, float[8] v) => (float[8] y) {
    n = NonZero (m) i = Transpose <perm = [1, 0]> (n)
    s = Shape (i) first = Constant <value = int64[1] {0}> () k = Gather (s, first)
    none = Constant <value = int64[1] {0}> ()
    u = Slice (v, none, k)
    y = ScatterND (x, i, u) }"""


def feeds() -> list[dict[str, np.ndarray]]:
    masks = [np.arange(8) % every == 0 for every in (1, 2, 3, 9)] + [np.zeros(8, bool)]
    return [{"x": sample("float32", 8), "m": m, "v": sample("float32", 8, seed=1)} for m in masks]


@pytest.mark.parametrize("lacking", [True, False])
def test_the_host_is_a_second_choice(lacking: bool) -> None:
    """It helps if the indices are computed by what the target lacks."""
    avoid = 'avoid = ["NonZero"], ' if lacking else ""
    model = parse(TAKEN)
    result = onnx_scatterx.optimize(model, target=f"standard, {avoid}{NPU}")
    assert result.report.removed == lacking
    assert_same(model, result.model, feeds())
    on_host = {v.op for v in result.report.violations if v.on_host}
    assert ("ScatterND" in on_host) != lacking
    assert ("Where" in on_host) == lacking


def test_what_the_device_itself_runs_comes_first() -> None:
    """One scatter is a Pad and slices; the other needs the host."""
    text = TAKEN.replace("=> (float[8] y) {", "=> (float[8] y, float[8] z) {").replace(
        "y = ScatterND (x, i, u) }",
        """y = ScatterND (x, i, u)
        two = Constant <value = int64[2, 1] {2, 3}> ()
        to = Constant <value = int64[1] {2}> ()
        w = Slice (v, none, to)
        z = ScatterND (x, two, w) }""",
    )
    model = parse(text)
    result = onnx_scatterx.optimize(model, target=f'standard, avoid = ["NonZero"], {NPU}')
    assert result.report.removed == 2
    assert set(result.report.scatters[1].written) <= {"Slice", "Concat"}
    assert_same(model, result.model, feeds())


def test_types_that_run_on_the_host(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = 'standard, limits.Add = {native = ["float"], no_types = ["uint8"]}'
    text = """g (float[2] f, int64[2] i, uint8[2] u) => (float[2] a, int64[2] b, uint8[2] c)
        { a = Add (f, f) b = Add (i, i) c = Add (u, u) }"""
    found = onnx_scatterx.inspect(parse(text), target=target).violations
    said = [(v.node, v.why.removeprefix("standard "), v.on_host) for v in found]
    assert said == [("b", "runs Add on its host", True), ("c", "takes no Add of uint8", False)]
    path = tmp_path / "npu.toml"
    path.write_text('name = "npu"\n[limits.Add]\nnative = ["float"]\n')
    assert main(["targets", str(path)]) == 0
    assert "Add: runs on the host, so it is avoided, unless of float" in capsys.readouterr().out
    path.write_text('name = "npu"\n[limits.Add]\nnative = []\n')
    assert main(["targets", str(path)]) == 0
    assert "Add: runs on the host, so it is avoided\n" in capsys.readouterr().out
    path.write_text('name = "npu"\n[limits.Add]\nnative = ["flaot"]\n')
    with pytest.raises(ScatterXError, match=r"limits.Add.native has 'flaot', which is not"):
        target_of(str(path))

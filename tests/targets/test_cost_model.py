"""Measuring a machine, and valuing symbolic sizes: what target `ort-cpu` weighs plans by."""

from pathlib import Path

import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.doors.benchmarking import calibrate
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.optimizer.symbolic.terms import element, size, term
from onnx_scatterx.optimizer.targets.costs import (
    KINDS,
    OTHER,
    VARIABLE,
    Machine,
    NodeCosts,
    Sizes,
    TimeCosts,
    Work,
    calibration_file,
    local_machine,
)
from tests.helpers.pair import assert_same
from tests.helpers.slow_machine import SLOW, use_slow_machine
from tests.helpers.support import parse, sample


def test_calibrate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = Machine(1.0, dict.fromkeys(KINDS, 1.0), dict.fromkeys(KINDS, 1.0))
    monkeypatch.setattr(calibrate, "calibrate", lambda **_: machine)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv(VARIABLE, raising=False)
    assert main(["calibrate"]) == 0
    assert str(calibration_file()) in capsys.readouterr().out
    assert local_machine() == machine
    assert main(["calibrate", "-o", str(tmp_path / "other.toml")]) == 0
    assert Machine.read(tmp_path / "other.toml") == machine
    assert main(["calibrate", "-o", str(tmp_path / "no" / "other.toml")]) == 2


def test_a_machine_is_measured() -> None:
    measured = calibrate.calibrate(rows=1 << 10)
    assert measured.launch > 0
    assert set(measured.byte) == set(measured.run) == set(KINDS)
    assert all(time >= 0 for time in (*measured.byte.values(), *measured.run.values()))


def test_what_comes_with_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    assert local_machine().launch > 100
    monkeypatch.setenv(VARIABLE, str(tmp_path / "missing.toml"))
    with pytest.raises(ScatterXError, match="cannot be read"):
        local_machine()


def test_sizes() -> None:
    batch, rows = size("batch"), size("rows")
    assert Sizes().value(rows * batch) == OTHER
    assert Sizes({"rows": 3}).product((rows, batch + 1, size("x.height") - 700)) == 0
    assert Sizes().value(element("table", (rows,), name="table")) == 1
    with pytest.raises(ScatterXError, match="must not be negative"):
        Sizes({"rows": -1})


def test_time_is_nodes_and_bytes_and_runs() -> None:
    machine = Machine(100.0, dict.fromkeys(KINDS, 0.5), dict.fromkeys(KINDS, 2.0))
    costs = TimeCosts(machine, Sizes())
    work = [Work("Slice", (term(3), term(4)), 1)]
    assert costs.weigh(2, work, ir.DataType.FLOAT) == 2 * 100 + 3 * 4 * 4 * 0.5 + 3 * 2
    assert NodeCosts().weigh(2, work, ir.DataType.FLOAT) == 2


def test_sizes_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here ScatterX copies slowly: for few rows it still saves a launch."""
    use_slow_machine(tmp_path, monkeypatch)
    text = """g (float[rows, 64] x, float[1, 64] y) => (float[rows, 64] z)
        { z = ScatterND(x, [[0]], y) }"""
    speed = dict.fromkeys(KINDS, 0.1) | {"ScatterX": 1.0}
    machine = Machine(1000.0, speed, dict.fromkeys(KINDS, 0.0))
    calibration_file().write_text(machine.to_toml())
    feed = {"x": sample("float32", 3, 64), "y": sample("float32", 1, 64)}
    for rows, expected in ((2, ["ScatterX"]), (10**6, ["Slice", "Concat"])):
        made = onnx_scatterx.optimize(parse(text), target="ort-cpu", size_hint={"rows": rows}).model
        assert [node.op_type for node in made.graph.node] == expected
        assert_same(parse(text), made, [feed], library=True)


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("launch = ", "is not TOML"),
        ("launch = 1", "must have launch"),
        (SLOW.to_toml().replace("Pad", "Pat"), "must have Concat"),
        (SLOW.to_toml().replace("launch = 1", "launch = -1"), "are numbers"),
    ],
)
def test_a_machine_that_cannot_be_read(tmp_path: Path, text: str, because: str) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(text)
    with pytest.raises(ScatterXError, match=because):
        Machine.read(path)

"""Measuring a machine, and valuing symbolic sizes: what target `ort-cpu` weighs plans by."""

from pathlib import Path

import pytest

from onnx_scatterx.doors.benchmarking import calibrate
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.optimizer.symbolic.terms import element, size
from onnx_scatterx.optimizer.targets.costs import (
    KINDS,
    OTHER,
    VARIABLE,
    Machine,
    Sizes,
    calibration_file,
    local_machine,
)


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

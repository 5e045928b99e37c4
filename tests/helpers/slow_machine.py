"""A machine that is slow at all but ScatterX, so that the target `ort-cpu` writes ScatterX."""

from pathlib import Path

import pytest

from onnx_scatterx.optimizer.targets.costs import KINDS, VARIABLE, Machine

SLOW = Machine(1.0, dict.fromkeys(KINDS, 1.0) | {"ScatterX": 0.01}, dict.fromkeys(KINDS, 1.0))


def use_slow_machine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `ort-cpu` read the costs of the slow machine from a file in a folder."""
    (folder / "machine.toml").write_text(SLOW.to_toml())
    monkeypatch.setenv(VARIABLE, str(folder / "machine.toml"))

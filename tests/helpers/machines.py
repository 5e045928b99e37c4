"""Machines for which the target `ort-cpu` writes."""

import pytest

from onnx_scatterx.engine.device import costs
from onnx_scatterx.engine.device.costs import KINDS, Machine

SLOW = Machine(1.0, dict.fromkeys(KINDS, 1.0) | {"ScatterX": 0.01}, dict.fromkeys(KINDS, 1.0))
"""It is slow at all but ScatterX, so that the target writes ScatterX."""


def use_machine(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `ort-cpu` have the costs of a machine."""
    monkeypatch.setattr(costs, "SERVER", machine)

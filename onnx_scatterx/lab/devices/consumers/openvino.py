"""OpenVINO, on the CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from onnx_scatterx.lab.devices.adapter import Adapter, Answer


class OpenVINO(Adapter):
    """Lets OpenVINO read the file, and compute in float32 instead of the CPU's preferred type."""

    name = "openvino"
    packages = ("openvino",)

    def version(self) -> str:
        import openvino

        return str(openvino.__version__).partition("-")[0]

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        import openvino

        core = openvino.Core()
        exact = {"INFERENCE_PRECISION_HINT": "f32"}
        compiled = core.compile_model(core.read_model(str(model)), "CPU", exact)
        results = compiled(_by_port(compiled.inputs, feeds))
        return Answer("taken", [np.array(results[port]) for port in compiled.outputs])


def _by_port(ports: Sequence[Any], feeds: Mapping[str, np.ndarray]) -> dict[Any, np.ndarray]:
    """Return the inputs by their ports.

    OpenVINO may give the name of an unused input to an output. If inputs have no names, they are
    taken in order.
    """
    named = {port: name for port in ports for name in port.names if name in feeds}
    others = iter([name for name in feeds if name not in named.values()])
    return {port: feeds[named.get(port) or next(others)] for port in ports}


adapter = OpenVINO()

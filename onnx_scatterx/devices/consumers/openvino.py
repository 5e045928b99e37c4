"""OpenVINO, on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from onnx_scatterx.devices.adapter import Adapter, Answer


class OpenVINO(Adapter):
    """Reads the file itself, at any sizes; computes in float32, not in what the CPU prefers."""

    name = "openvino"
    packages = ("openvino",)
    profile = "openvino"

    def version(self) -> str:
        import openvino

        return str(openvino.__version__).partition("-")[0]

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        import openvino

        core = openvino.Core()
        exact = {"INFERENCE_PRECISION_HINT": "f32"}
        compiled = core.compile_model(core.read_model(str(model)), "CPU", exact)
        results = compiled(dict(feeds))
        return Answer("taken", [np.array(results[place]) for place in compiled.outputs])


adapter = OpenVINO()

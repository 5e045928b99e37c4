"""tinygrad's reader of ONNX, on the CPU, for which clang compiles, or on the device of ``DEV``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from onnx_scatterx.lab.devices.adapter import Adapter, Answer


class Tinygrad(Adapter):
    """Lets tinygrad run node by node; each result is compiled when it is read."""

    name = "tinygrad"
    packages = ("tinygrad",)

    def version(self) -> str:
        from importlib.metadata import version

        import tinygrad

        os.environ.setdefault("CACHELEVEL", "0")  # no database in the home of the user
        if "DEV" not in os.environ and not list(tinygrad.Device.get_available_devices()):
            raise RuntimeError("it finds no device: for the CPU it needs clang on the PATH")
        return version("tinygrad")

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        from tinygrad.nn.onnx import OnnxRunner

        outputs = OnnxRunner(str(model))(dict(feeds))
        return Answer("taken", {name: value.numpy() for name, value in outputs.items()})


adapter = Tinygrad()

"""OpenCV's DNN module, on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from onnx_scatterx.lab.devices.adapter import Adapter, Answer


class OpenCV(Adapter):
    """Lets OpenCV read the file, in which all sizes must be numbers."""

    name = "opencv"
    packages = ("opencv-python-headless",)

    def version(self) -> str:
        import cv2

        return str(cv2.__version__)

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        import cv2

        net = cv2.dnn.readNetFromONNX(str(model))
        for name, array in feeds.items():
            net.setInput(array, name)
        names = list(net.getUnconnectedOutLayersNames())
        return Answer("taken", dict(zip(names, net.forward(names), strict=True)))


adapter = OpenCV()

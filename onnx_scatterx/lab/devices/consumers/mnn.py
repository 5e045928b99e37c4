"""MNN, on the CPU: its converter writes a file of MNN, which is run as a module.

The script `mnnconvert` installs a package after a conversion, with the first pip on the PATH. So
the converter's extension module is called instead, with an empty PATH.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from onnx_scatterx.lab.devices.adapter import Adapter, Answer, captured, reason_in

_SIGNS = ("Not Support", "not support", "rror", "Can't", "can't", "Don't", "nvalid", "ailed")


class Mnn(Adapter):
    """Gives integers to MNN, and gets them back, as int32: MNN lacks int64."""

    name = "mnn"
    packages = ("MNN",)

    def version(self) -> str:
        os.environ["PATH"] = ""
        import _tools  # noqa: F401 - is it there?
        import MNN

        return str(MNN.version())

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        os.environ["PATH"] = ""
        import _tools
        import MNN

        target = directory / "model.mnn"
        files = ["--modelFile", str(model), "--MNNModel", str(target)]
        with captured() as printed:
            _tools.mnnconvert(["mnnconvert", "-f", "ONNX", *files, "--bizCode", "check"])
            text = printed()
        if not target.exists() or "Converted Success" not in text:
            return Answer("refused", message=reason_in(text, *_SIGNS))
        inputs, outputs = _ends(text)
        with captured() as printed:
            net = MNN.nn.load_module_from_file(
                str(target), [name for name in feeds if name in inputs], outputs
            )
            variables = [_variable(MNN.expr, feeds[name]) for name in feeds if name in inputs]
            results = net.forward(variables)
            arrays = [np.array(output.read()) for output in results]
            text = printed()
        if any(not output.dtype for output in results) or len(arrays) != len(outputs):
            return Answer("refused", message=reason_in(text, *_SIGNS))
        return Answer("taken", dict(zip(outputs, arrays, strict=True)))


def _ends(text: str) -> tuple[list[str], list[str]]:
    """Return the names of inputs and outputs that the converter prints."""
    ends: dict[str, list[str]] = {}
    for line in text.splitlines():
        head, colon, names = line.partition(":")
        if colon and head.strip() in ("inputTensors", "outputTensors"):
            listed = names.strip().removeprefix("[").removesuffix("]")
            ends[head.strip()] = [name.strip() for name in listed.split(", ") if name.strip(", ")]
    return ends.get("inputTensors", []), ends.get("outputTensors", [])


def _variable(expr: Any, array: np.ndarray) -> Any:
    """Return an input as MNN takes it."""
    kind = array.dtype.kind
    narrow = {"f": np.float32, "i": np.int32, "u": np.int32, "b": np.int32}[kind]
    if array.dtype in (np.uint8, np.int8):
        narrow = array.dtype.type
    array = np.ascontiguousarray(array.astype(narrow))
    name = {"float32": "float", "int32": "int", "uint8": "uint8", "int8": "int8"}[array.dtype.name]
    kinds = getattr(expr, name)
    return expr.const(array, array.shape, expr.NCHW, kinds)


adapter = Mnn()

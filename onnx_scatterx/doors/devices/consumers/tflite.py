"""TensorFlow Lite, on the CPU: onnx2tf converts the file, and LiteRT runs the result in float32.

onnx2tf takes inputs of 3 to 5 dims as images, and transposes them. Here it is told not to, so that
inputs and outputs have the shapes of the model. Operators of TensorFlow that are not TensorFlow
Lite's are refused.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from onnx_scatterx.doors.devices.adapter import Adapter, Answer, captured

_IMAGES = "calibration_image_sample_data_20x128x128x3_float32.npy"


class TFLite(Adapter):
    """Converts a copy, because onnx2tf writes the simplified model over the file."""

    name = "tflite"
    packages = ("onnx2tf",)
    profile = "tflite"

    def version(self) -> str:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        # onnx2tf starts the program onnxsim, which is installed beside the interpreter.
        os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        import ai_edge_litert.interpreter  # noqa: F401 - is it there?
        import onnx2tf

        return str(onnx2tf.__version__)

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        import onnx
        import onnx2tf
        from ai_edge_litert.interpreter import Interpreter

        loaded = onnx.load(str(model))
        onnx.save(loaded, "model.onnx")
        # It would download these images for a model whose inputs look like images.
        np.save(_IMAGES, np.random.default_rng(0).random((20, 128, 128, 3), np.float32))
        with captured() as printed:
            try:
                network = onnx2tf.convert(
                    "model.onnx",
                    output_folder_path="network",
                    keep_shape_absolutely_input_names=list(feeds),
                    non_verbose=True,
                )
            except (Exception, SystemExit) as error:
                return _refusal(error, printed())
        runner = Interpreter("network/model_float32.tflite").get_signature_runner()
        details = runner.get_input_details()
        inputs = [value.name for value in loaded.graph.input if value.name in feeds]
        keys = zip(network.input_names, inputs, strict=True)
        found = runner(**{key: feeds[name].astype(details[key]["dtype"]) for key, name in keys})
        names = [value.name for value in loaded.graph.output]
        if len(names) != len(network.output_names):  # constant outputs are missing
            return Answer("taken", found)
        return Answer("taken", {n: found[k] for n, k in zip(names, network.output_names)})


def _refusal(error: BaseException, printed: str) -> Answer:
    """Return the error, and the node that was converted."""
    nodes = re.findall(r"onnx_op_name: (\S+)", printed)
    said = re.findall(r"ERROR:\S* (.*)", printed)
    message = f"{type(error).__name__}: {error}"
    if isinstance(error, SystemExit):  # the reason is only printed
        message = said[0] if said else message
    node = getattr(error, "onnx_op_name", None) or (nodes or [""])[-1]
    return Answer("refused", message=message, node=node)


adapter = TFLite()

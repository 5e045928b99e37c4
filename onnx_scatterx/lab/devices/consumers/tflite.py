"""TensorFlow Lite, on the CPU: onnx2tf converts the file, and LiteRT runs the result in float32.

onnx2tf takes inputs of 3 to 5 dims for images, and moves their channels to the end. An option turns
this off, except for an output after a Conv. If an output has another shape than the model's, the
model is converted once more with flat outputs, since a shape does not always show where the
channels are. Operators of TensorFlow that are not TensorFlow Lite's are refused.

Of what onnx2tf writes, only the file in float32 is made: most of the time goes into one in float16,
and into notes about layers, which are not read and hold all weights as text.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from onnx_scatterx.lab.devices.adapter import Adapter, Answer, captured

_BEFORE = "v_"  # TensorFlow refuses names of values and nodes that begin with a slash
_FILE = "network/model_float32.tflite"
_IMAGES = "calibration_image_sample_data_20x128x128x3_float32.npy"


class TFLite(Adapter):
    """Converts a copy of the file for the shapes of the inputs: onnx2tf changes the file."""

    name = "tflite"
    packages = ("onnx2tf",)

    def version(self) -> str:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        # onnx2tf starts the program onnxsim, which is installed beside the interpreter.
        os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        import ai_edge_litert.interpreter  # noqa: F401 - is it there?
        import onnx2tf

        # Without onnxsim, onnx2tf goes on, but transposes constants instead of folding them.
        subprocess.run(["onnxsim", "--help"], capture_output=True, check=True)
        return str(onnx2tf.__version__)

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        import onnx
        import onnx2tf
        from ai_edge_litert.interpreter import Interpreter

        fed = {_BEFORE + name: array for name, array in feeds.items()}
        # For inputs that look like images, onnx2tf would otherwise download this file.
        np.save(_IMAGES, np.random.default_rng(0).random((20, 128, 128, 3), np.float32))
        for flat in (False, True):
            copy, shapes = _prepared(onnx.load(str(model)), fed, flat)
            onnx.save(copy, "model.onnx")
            with captured() as printed, _float32_alone():
                try:
                    network = onnx2tf.convert(
                        "model.onnx",
                        output_folder_path="network",
                        keep_shape_absolutely_input_names=list(fed),
                        non_verbose=True,
                    )
                except (Exception, SystemExit) as error:
                    return _refusal(
                        error, printed(), {node.name for node in copy.graph.node if node.name}
                    )
            if not (any(network.onnx_output_layouts.values()) or _differ(network.outputs, shapes)):
                break  # no channels are at the end
        if len(network.output_names) != len(shapes):
            return Answer("refused", message="it removes a constant output")
        names = [value.name for value in copy.graph.input if value.name in fed]
        run = _run if Interpreter(_FILE).get_signature_list() else _run_unnamed
        results = run(
            Interpreter(_FILE),
            {(name, key): fed[name] for name, key in zip(names, network.input_names, strict=True)},
            network.output_names,
        )
        outputs = zip(shapes.items(), network.output_names, strict=True)
        return Answer(
            "taken",
            {
                name.removeprefix(_BEFORE): results[key].reshape(
                    shape if flat and shape else results[key].shape
                )
                for (name, shape), key in outputs
            },
        )


@contextlib.contextmanager
def _float32_alone() -> Iterator[None]:
    """Let TensorFlow convert to float32 only, and write no notes about layers."""
    import tensorflow as tf
    from tensorflow.lite.python import lite

    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError):  # another Keras takes longer
            from tf_keras.src.saving.legacy.saved_model.base_serialization import SavedModelSaver

            stack.enter_context(mock.patch.object(SavedModelSaver, "tracking_metadata", "{}"))
        for kind in (lite.TFLiteKerasModelConverterV2, lite.TFLiteConverterV2):

            def convert(converter: Any, whole: Any = kind.convert) -> bytes:
                halved = tf.float16 in converter.target_spec.supported_types
                return b"" if halved else whole(converter)

            stack.enter_context(mock.patch.object(kind, "convert", convert))
        yield


def _run(
    interpreter: Any, arrays: Mapping[tuple[str, str], np.ndarray], outputs: Sequence[str]
) -> Mapping[str, np.ndarray]:
    """Run the signature of a file; each input has two names, and the first that it knows is taken.

    An input that is also an output has the name of the output in onnx2tf's list.
    """
    runner = interpreter.get_signature_runner()
    details = runner.get_input_details()
    keys = {name if name in details else key: array for (name, key), array in arrays.items()}
    return runner(**{key: array.astype(details[key]["dtype"]) for key, array in keys.items()})  # type: ignore[no-any-return]


def _run_unnamed(
    interpreter: Any, arrays: Mapping[tuple[str, str], np.ndarray], outputs: Sequence[str]
) -> Mapping[str, np.ndarray]:
    """Run a file without a signature, as onnx2tf writes one for a Conv of several groups.

    Its inputs have the model's names, in another order; its outputs have the model's order.
    """
    interpreter.allocate_tensors()
    by_name = {key: array for names, array in arrays.items() for key in reversed(names)}
    for detail in interpreter.get_input_details():
        name = detail["name"].removeprefix("serving_default_").partition(":")[0]
        interpreter.set_tensor(detail["index"], by_name[name].astype(detail["dtype"]))
    interpreter.invoke()
    places = [detail["index"] for detail in interpreter.get_output_details()]
    return dict(zip(outputs, map(interpreter.get_tensor, places), strict=True))


def _prepared(
    model: Any, feeds: Mapping[str, np.ndarray], flat: bool
) -> tuple[Any, dict[str, list[int]]]:
    """Return a model with prefixed names and fixed input shapes, and the shapes of its outputs.

    If `flat`, outputs of 3 and more dims are flattened: before a Reshape, onnx2tf moves the
    channels back. The shape of an output is empty if it has fewer than 3 dims, or is not known.
    """
    import onnx
    import onnx.compose
    from onnx.helper import make_node, make_tensor_value_info

    copy = onnx.compose.add_prefix(model, _BEFORE, rename_functions=False)
    for value in copy.graph.input:
        if value.name in feeds:
            dims = value.type.tensor_type.shape.dim
            for dim, extent in zip(dims, feeds[value.name].shape, strict=True):
                dim.dim_value = extent
    copy = onnx.shape_inference.infer_shapes(copy, data_prop=True)
    copy.graph.initializer.append(onnx.numpy_helper.from_array(np.array([-1]), "flat"))
    shapes: dict[str, list[int]] = {}
    for value in copy.graph.output:
        kind = value.type.tensor_type
        known = all(dim.HasField("dim_value") for dim in kind.shape.dim)
        shape = [dim.dim_value for dim in kind.shape.dim if known]
        shapes[value.name] = shape if len(shape) > 2 else []
        if flat and shapes[value.name]:
            name = f"{value.name}_flat"
            copy.graph.node.append(make_node("Reshape", [value.name, "flat"], [name]))
            value.CopyFrom(make_tensor_value_info(name, kind.elem_type, [int(np.prod(shape))]))
    return copy, shapes


def _differ(outputs: Any, shapes: Mapping[str, list[int]]) -> bool:
    """Return whether an output has another shape than the model's."""
    pairs = zip(outputs, shapes.values(), strict=False)
    return any(shape and list(output.shape) != shape for output, shape in pairs)


def _refusal(error: BaseException, printed: str, names: set[str]) -> Answer:
    """Return the error, and the node of the model that was converted."""
    message = f"{type(error).__name__}: {error}"
    said = re.findall(r"ERROR:\S* (.*)", printed)
    if isinstance(error, SystemExit) and said:  # the reason is only printed
        message = said[0]
    nodes = [getattr(error, "onnx_op_name", ""), *re.findall(r"onnx_op_name: (\S+)", printed)]
    node = next((n for n in nodes if n in names), "")
    return Answer("refused", message=message, node=node.removeprefix(_BEFORE))


adapter = TFLite()

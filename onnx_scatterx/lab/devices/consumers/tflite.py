"""TensorFlow Lite, on the CPU: onnx2tf converts the file, and LiteRT runs the result in float32.

onnx2tf takes inputs of 3 to 5 dims for images, and moves their channels to the end. An option turns
this off, except for an output after a Conv. If an output has another shape than the model's, the
model is converted once more with flat outputs, since a shape does not always show where the
channels are. Operators of TensorFlow that are not TensorFlow Lite's are refused.

Of what onnx2tf writes, only the file in float32 is made, without the traces of all layers that
Keras saves, and after onnx2tf has given back its copies of the weights. onnx2tf compares most nodes
with ONNX Runtime, and computes the network from its beginning for each of them: here, each value is
computed once.
"""

from __future__ import annotations

import contextlib
import gc
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
_NETWORK = "network"
_FILE = "network.tflite"
_HELD = 1 << 28
"""Bytes of the values that are kept for the next node."""
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

        from onnx_scatterx.processes import map_large_blocks

        map_large_blocks()
        fed = {_BEFORE + name: array for name, array in feeds.items()}
        # For inputs that look like images, onnx2tf would otherwise download this file.
        np.save(_IMAGES, np.random.default_rng(0).random((20, 128, 128, 3), np.float32))
        for flat in (False, True):
            copy, shapes = _prepared(onnx.load(str(model)), fed, flat)
            onnx.save(copy, "model.onnx")
            named = {node.name for node in copy.graph.node if node.name}
            names = [value.name for value in copy.graph.input if value.name in fed]
            del copy  # it holds all weights
            with captured() as printed:
                try:
                    saved = _saved(names, None if flat else shapes)
                    if saved:
                        _write()
                except (Exception, SystemExit) as error:
                    return _refusal(error, printed(), named)
            if saved:
                break
        assert saved
        keys, given = saved
        if len(given) != len(shapes):
            return Answer("refused", message="it removes a constant output")
        results = _run(
            {(name, key): fed[name] for name, key in zip(names, keys, strict=True)}, given
        )
        outputs = zip(shapes.items(), given, strict=True)
        return Answer(
            "taken",
            {
                name.removeprefix(_BEFORE): results[key].reshape(
                    shape if flat and shape else results[key].shape
                )
                for (name, shape), key in outputs
            },
        )


def _saved(
    names: Sequence[str], shapes: Mapping[str, list[int]] | None
) -> tuple[list[str], list[str]] | None:
    """Save the network of "model.onnx", and return the names of its inputs and outputs.

    Return None if its outputs do not have these `shapes`, or have their channels at the end. All
    that onnx2tf holds is free afterwards.
    """
    import onnx2tf
    import tensorflow as tf
    from tf_keras.src.saving.legacy import saving_utils

    with _remembered():
        network = onnx2tf.convert(
            "model.onnx",
            output_folder_path=_NETWORK,
            keep_shape_absolutely_input_names=list(names),
            disable_model_save=True,
            non_verbose=True,
        )
    moved = any(network.onnx_output_layouts.values())
    if shapes is not None and (moved or _differ(network.outputs, shapes)):
        return None
    module = tf.Module()
    module.run = saving_utils.trace_model_call(network)
    module.weights = module.run.graph.variables  # the network knows not all of them
    tf.saved_model.save(module, _NETWORK, signatures=module.run)
    return list(network.input_names), list(network.output_names)


def _write() -> None:
    """Write the file in float32 from the saved network, by the options of onnx2tf."""
    import tensorflow as tf
    import tf_keras
    from tensorflow.lite.python import lite

    from onnx_scatterx.processes import give_back

    tf_keras.backend.clear_session()
    gc.collect()
    give_back()
    converter = lite.TFLiteSavedModelConverterV2(_NETWORK, {"serve"}, ["serving_default"])
    converter.target_spec.supported_ops = [
        tf.lite.OpsSet.TFLITE_BUILTINS,
        tf.lite.OpsSet.SELECT_TF_OPS,
    ]
    with mock.patch.object(lite, "_deduplicate_readonly_buffers", lambda model: model):
        written = converter._convert_from_saved_model(tf.compat.v1.GraphDef())
    Path(_FILE).write_bytes(written)


@contextlib.contextmanager
def _remembered() -> Iterator[None]:
    """Let onnx2tf compute each value of the network once, not once for each node that it checks.

    Its modules import the function that computes them when they are first used, and keep it.
    """
    from onnx2tf.utils import common_functions

    computed = common_functions.dummy_tf_inference

    def infer(*, model: Any, verification_datas: Any = None, **given: Any) -> Any:
        if _known and verification_datas is None:
            model = _known[-1].of(model)
        return computed(model=model, verification_datas=verification_datas, **given)

    if not _known:
        common_functions.dummy_tf_inference = infer
    _known[:] = [_Known()]
    try:
        yield
    finally:
        _known[:] = [_Known()]


class _Known:
    """The values of a network for the inputs that onnx2tf draws, the last ones that were used."""

    def __init__(self) -> None:
        self._values: dict[str, tuple[Any, Any]] = {}  # with the tensors, which keep their ids

    def of(self, model: Any) -> Any:
        """Return what stands for a model: a function of its inputs, with its outputs."""

        def call(inputs: Mapping[str, Any], training: bool) -> list[Any]:
            return self._outputs(model, inputs)

        call.outputs = model.outputs  # type: ignore[attr-defined]
        return call

    def _outputs(self, model: Any, inputs: Mapping[str, Any]) -> list[Any]:
        import tensorflow as tf

        values: dict[str, tuple[Any, Any]] = {}  # which this call has used
        left = list(model.outputs)
        while left:
            tensor = left[-1]
            key, history = str(id(tensor)), tensor._keras_history
            node = history.layer._inbound_nodes[history.node_index]
            if key in values:
                left.pop()
            elif key in self._values:
                values[key] = self._values[key]
            elif node.is_input:
                values[key] = tensor, tf.convert_to_tensor(inputs[tensor.name], tensor.dtype)
            elif missing := [t for t in node.keras_inputs if str(id(t)) not in values]:
                left.extend(missing)
            else:
                read = {i: [values[i][1]] * len(node.keras_inputs) for i in node.flat_input_ids}
                args, kwargs = node.map_arguments(read)
                made = tf.nest.flatten(node.layer(*args, **kwargs))
                pairs = zip(tf.nest.flatten(node.outputs), made, strict=True)
                values.update({str(id(kept)): (kept, value) for kept, value in pairs})
        self._values = {k: v for k, v in self._values.items() if k not in values} | values
        size = 0
        for key, (_, value) in reversed(list(self._values.items())):
            size += _bytes(value)
            if size > _HELD:
                del self._values[key]
        return [values[str(id(tensor))][1] for tensor in model.outputs]


def _bytes(value: Any) -> int:
    import tensorflow as tf

    return int(tf.size(value)) * int(value.dtype.size)


def _run(
    arrays: Mapping[tuple[str, str], np.ndarray], outputs: Sequence[str]
) -> Mapping[str, np.ndarray]:
    """Run the file; each input has two names, and the first that its signature knows is taken.

    An input that is also an output has the name of the output in onnx2tf's list.
    """
    from ai_edge_litert.interpreter import Interpreter

    runner = Interpreter(_FILE).get_signature_runner()
    details = runner.get_input_details()
    keys = {name if name in details else key: array for (name, key), array in arrays.items()}
    return runner(**{key: array.astype(details[key]["dtype"]) for key, array in keys.items()})  # type: ignore[no-any-return]


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


_known: list[_Known] = []
"""What is known of the network that is converted; empty before the first one."""

adapter = TFLite()

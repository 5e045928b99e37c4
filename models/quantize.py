"""Quantizes example models that `export.py` wrote, with ONNX Runtime's own quantizer.

    pip install onnxruntime==1.31.1 onnx sympy
    python models/quantize.py                  # all of them, into the folder of this file
    python models/quantize.py kv_cache letterbox

A model is named after its example, the format (`qdq` has DequantizeLinear and QuantizeLinear around
nodes of floats, `qoperator` has operators of integers) and the integers of its activations. In
some the tensors around the scatters are given one range, and so one scale, as a device wants it.
"""

import argparse
import logging
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_static,
)
from onnxruntime.quantization.registry import QDQRegistry, QLinearOpsRegistry

HERE = Path(__file__).parent
TYPES = {"int8": QuantType.QInt8, "uint8": QuantType.QUInt8}
REGISTRIES = {"qdq": QDQRegistry, "qoperator": QLinearOpsRegistry}
FORMATS = {"qdq": QuantFormat.QDQ, "qoperator": QuantFormat.QOperator}
SCATTERS = ["ScatterND", "ScatterElements"]


@dataclass(frozen=True)
class Example:
    """What is quantized, and how.

    `whole` quantizes scatters and all that computes beside them; the quantizer leaves scatters out
    if it is not told. `ops` are all operators that are quantized, if given. `one_range` gives all
    tensors one range.
    """

    source: str
    how: str
    integers: str
    per_channel: bool = False
    whole: bool = False
    ops: tuple[str, ...] = ()
    one_range: tuple[float, float] | None = None

    @property
    def file(self) -> str:
        """The name of the file."""
        name = self.source.split(".")[0].rsplit("_dynamo")[0].rsplit("_ts")[0]
        return f"{name}_{self.how}_{self.integers}.onnx"


EXAMPLES = (
    Example("yolox_head_dynamo.onnx", "qdq", "uint8"),
    Example("yolox_head_ts.onnx", "qoperator", "uint8", per_channel=True, ops=("Conv",)),
    Example("refine_centres_dynamo.onnx", "qoperator", "int8"),
    Example("kv_cache_dynamo.onnx", "qdq", "int8", whole=True, one_range=(-4.0, 4.0)),
    Example("letterbox_ts.onnx", "qdq", "uint8", whole=True, one_range=(-2.0, 2.0)),
    Example(
        *("yolox_head_dynamo.onnx", "qdq", "int8"),
        per_channel=True,
        whole=True,
        one_range=(-8.0, 64.0),
    ),
)


class Inputs(CalibrationDataReader):
    """Draws a few inputs of a model from one seed."""

    def __init__(self, path: Path) -> None:
        session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
        rng = np.random.default_rng(0)
        self._feeds = iter([dict(_feed(session, rng)) for _ in range(4)])

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self._feeds, None)


def _feed(
    session: ort.InferenceSession, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
    for value in session.get_inputs():
        if value.type == "tensor(float)":
            yield value.name, rng.normal(size=value.shape).astype(np.float32)
        else:
            yield value.name, rng.integers(0, 4, value.shape)


def quantized(example: Example) -> onnx.ModelProto:
    """Quantize an example."""
    source = HERE / example.source
    integers = TYPES[example.integers]
    options = {}
    if example.one_range is not None:
        low, high = example.one_range
        given = {"rmin": np.float32(low), "rmax": np.float32(high), "quant_type": integers}
        options["TensorQuantOverrides"] = {name: [dict(given)] for name in _floats(source)}
    whole = [*REGISTRIES[example.how], "Concat", "Add", "Mul", "Exp", *SCATTERS]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / example.file
        quantize_static(
            source,
            path,
            Inputs(source),
            quant_format=FORMATS[example.how],
            op_types_to_quantize=list(example.ops) or (whole if example.whole else None),
            per_channel=example.per_channel,
            activation_type=integers,
            weight_type=QuantType.QInt8,
            extra_options=options,
        )
        return onnx.load(path)


def _floats(source: Path) -> list[str]:
    """Return the floats that nodes of a model give, and its inputs."""
    model = onnx.shape_inference.infer_shapes(onnx.load(source))
    graph = model.graph
    values = (*graph.input, *graph.value_info, *graph.output)
    return [v.name for v in values if v.type.tensor_type.elem_type == onnx.TensorProto.FLOAT]


def main() -> None:
    parser = argparse.ArgumentParser(description="Quantizes example models.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of the examples to make")
    names = parser.parse_args().names
    logging.disable(logging.WARNING)
    ort.set_default_logger_severity(4)
    for example in EXAMPLES:
        if names and not any(example.file.startswith(name) for name in names):
            continue
        model = quantized(example)
        onnx.checker.check_model(model, full_check=True)
        path = HERE / example.file
        path.write_bytes(model.SerializeToString(deterministic=True))
        counts = [
            sum(node.op_type.startswith(kind) for node in model.graph.node)
            for kind in ("Scatter", "Quantize", "Dequantize", "QLinear")
        ]
        told = "{:4} scatters{:4} Quantize{:4} Dequantize{:4} QLinear".format(*counts)
        print(f"{example.file:36}{path.stat().st_size:7} bytes{told}")


if __name__ == "__main__":
    main()

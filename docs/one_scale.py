"""Quantizes a model so that all that is put together, chosen from or cut out has one scale.

    python docs/one_scale.py model.onnx quantized.onnx

ONNX Runtime's quantizer gives the result of a Slice, Reshape or Transpose the scale of its input.
But each input of a Concat gets its own scale: a device then has to convert all but one of them.
Here the ranges of such tensors are joined first.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static
from onnxruntime.quantization.calibrate import create_calibrator
from onnxruntime.quantization.registry import QDQRegistry

FIRST = ("Gather", "Identity", "Pad", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze")


class Drawn(CalibrationDataReader):
    """Random inputs, in the place of your own: sizes that are symbols are 4."""

    def __init__(self, model: Path, count: int = 8) -> None:
        rng = np.random.default_rng(0)
        session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
        shapes = {
            i.name: [d if isinstance(d, int) else 4 for d in i.shape] for i in session.get_inputs()
        }
        self.feeds = iter(
            [
                {n: rng.normal(size=s).astype(np.float32) for n, s in shapes.items()}
                for _ in range(count)
            ]
        )

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self.feeds, None)


def joined(model: onnx.ModelProto, names: set[str]) -> list[set[str]]:
    """Return the tensors that move into each other, in groups."""
    groups = {name: {name} for name in names}
    for node in model.graph.node:
        places = {"Concat": node.input, "Where": node.input[1:]}.get(node.op_type)
        if node.op_type in FIRST:
            places = node.input[:1]
        together = [n for n in (*(places or ()), *node.output) if places and n in groups]
        union = set().union(*(groups[n] for n in together))
        groups.update(dict.fromkeys(union, union))
    return [set(g) for g in {frozenset(g) for g in groups.values()}]


def quantize(source: Path, result: Path, reader: CalibrationDataReader | None = None) -> None:
    """Write a quantized model, in which tensors that are moved into each other have one scale."""
    model = onnx.load(source)
    ops = [*QDQRegistry, "Add", "Concat", "Mul", "Sigmoid"]
    with tempfile.TemporaryDirectory() as directory:
        calibrator = create_calibrator(
            source, ops, augmented_model_path=str(Path(directory) / "augmented.onnx")
        )
        calibrator.collect_data(reader or Drawn(source))
        ranges = {n: data.range_value for n, data in calibrator.compute_data().items()}
        del calibrator
    overrides = {}
    for group in joined(model, set(ranges)):
        low = np.float32(min(ranges[n][0] for n in group))
        high = np.float32(max(ranges[n][1] for n in group))
        given = {"quant_type": QuantType.QUInt8, "rmin": low, "rmax": high}
        overrides.update({name: [dict(given)] for name in group})
    quantize_static(
        source,
        result,
        reader or Drawn(source),
        op_types_to_quantize=ops,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        # Inputs that are sliced or transposed first are quantized, too.
        extra_options={"TensorQuantOverrides": overrides, "ForceQuantizeNoInputCheck": True},
    )


if __name__ == "__main__":
    quantize(Path(sys.argv[1]), Path(sys.argv[2]))

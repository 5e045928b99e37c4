"""Writes the example models: each module of `sources.py`, through both exporters of PyTorch.

    pip install torch==2.13.0 onnx onnxscript
    python models/export.py                    # all of them, into the folder of this file
    python models/export.py yolox_head letterbox

A model is named after its module and how it was exported: `dynamo` is the exporter of today (opset
20), `ts` the older TorchScript one (opset 18), `dynamic` says that some sizes are symbolic. All
that exporters note is kept; paths of the machine in it are made relative.
"""

import argparse
import io
import os
import sysconfig
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import onnx
import sources
import torch
from google.protobuf.message import Message
from torch import Tensor, nn

HERE = Path(__file__).resolve().parent
DIRECTORIES = {
    str(HERE): "models",
    sysconfig.get_path("purelib"): "site-packages",
    sysconfig.get_path("stdlib"): "lib",
}
OPSETS = {"dynamo": 20, "ts": 18}


@dataclass(frozen=True)
class Example:
    """A module, inputs to trace it with by name, the names of sizes that vary, the exports."""

    module: Callable[[], nn.Module]
    inputs: dict[str, Tensor]
    outputs: tuple[str, ...] = ("out",)
    sizes: dict[str, dict[int, str]] = field(default_factory=dict)
    exports: tuple[str, ...] = ("dynamo", "dynamo_dynamic", "ts", "ts_dynamic")


def examples() -> dict[str, Example]:
    """Return every example by its file name; the tensors are drawn anew from one seed."""
    torch.manual_seed(0)
    cache = torch.randn(1, 2, 8, 4)
    step = torch.randn(1, 2, 1, 4)
    return {
        "yolox_head": Example(
            sources.YoloxHead,
            {"features": torch.randn(1, 4, 4, 6)},
            sizes={"features": {0: "batch", 2: "height", 3: "width"}},
        ),
        "rotary_interleaved": Example(
            sources.RotaryInterleaved,
            {"x": torch.randn(1, 2, 5, 8), "cos": torch.randn(5, 8), "sin": torch.randn(5, 8)},
            sizes={"x": {0: "batch", 2: "time"}, "cos": {0: "time"}, "sin": {0: "time"}},
        ),
        "letterbox": Example(
            sources.Letterbox,
            {"image": torch.randn(2, 3, 8, 10)},
            sizes={"image": {0: "batch", 2: "height", 3: "width"}},
        ),
        "box_update": Example(
            sources.BoxUpdate,
            {"x": torch.randn(2, 6, 8), "y": torch.randn(2, 6, 8)},
            sizes={"x": {0: "batch", 1: "rows"}, "y": {0: "batch", 1: "rows"}},
        ),
        "overlap_add": Example(
            sources.OverlapAdd,
            {"frames": torch.randn(2, 3, 6)},
            sizes={"frames": {0: "batch"}},
            exports=("dynamo", "dynamo_dynamic", "ts"),
        ),
        "refine_centres": Example(
            sources.RefineCentres,
            {"boxes": torch.randn(2, 5, 4), "reference": torch.randn(2, 5, 2)},
            sizes={"boxes": {0: "batch", 1: "queries"}, "reference": {0: "batch", 1: "queries"}},
        ),
        "inverse_wavelet": Example(
            sources.InverseWavelet,
            {"bands": torch.randn(1, 8, 3, 4)},
            sizes={"bands": {0: "batch", 2: "height", 3: "width"}},
        ),
        "swin_shift_mask": Example(
            sources.SwinShiftMask,
            {"image": torch.randn(1, 3, 8, 12)},
            sizes={"image": {2: "height", 3: "width"}},
            exports=("dynamo_dynamic",),
        ),
        "shift_right": Example(
            sources.ShiftRight,
            {"labels": torch.randint(3, 20, (2, 6))},
            sizes={"labels": {0: "batch", 1: "time"}},
        ),
        "mask_fill": Example(
            sources.MaskFill,
            {"hidden": torch.randn(2, 5, 4), "padding": torch.rand(2, 5) < 0.4},
            sizes={"hidden": {0: "batch", 1: "time"}, "padding": {0: "batch", 1: "time"}},
            exports=("dynamo", "dynamo_dynamic"),
        ),
        "mask_copy": Example(
            sources.MaskCopy,
            {n: torch.randn(3, 5) for n in "xy"} | {"mask": torch.rand(3, 5) < 0.5},
            sizes={name: {0: "batch", 1: "time"} for name in ("x", "y", "mask")},
            exports=("dynamo", "ts_dynamic"),
        ),
        "kv_cache": Example(
            sources.KeyValueCache,
            {"query": step, "key": step, "value": step, "keys": cache, "values": cache}
            | {"at": torch.tensor([3])},
            outputs=("attended", "keys_out", "values_out"),
            sizes={name: {0: "batch"} for name in ("query", "key", "value", "keys", "values")},
            exports=("dynamo", "dynamo_dynamic", "ts"),
        ),
        "flip_test": Example(
            sources.FlipTest,
            {"maps": torch.randn(1, 5, 3, 4)},
            exports=("dynamo", "ts"),
        ),
        "reverse_channels": Example(
            sources.ReverseChannels,
            {"image": torch.randn(1, 3, 2, 4)},
            exports=("dynamo", "ts"),
        ),
        "face_keypoints": Example(
            sources.FaceKeypoints,
            {"points": torch.randn(6, 10), "centres": torch.randn(6, 2)},
            sizes={"points": {0: "anchors"}, "centres": {0: "anchors"}},
            exports=("dynamo", "ts_dynamic"),
        ),
        "one_hot_labels": Example(
            sources.OneHotLabels,
            {"labels": torch.tensor([1, 4, 0])},
            sizes={"labels": {0: "batch"}},
            exports=("dynamo", "ts_dynamic"),
        ),
        "read_channels": Example(
            sources.ReadChannels,
            {"image": torch.randn(1, 4, 2, 3)},
            outputs=("first", "last"),
            sizes={"image": {0: "batch"}},
            exports=("dynamo", "ts_dynamic"),
        ),
        "learnt_positions": Example(
            sources.LearntPositions,
            {"tokens": torch.randn(2, 5, 4)},
            sizes={"tokens": {0: "batch", 1: "time"}},
            exports=("dynamo_dynamic", "ts_dynamic"),
        ),
        "read_steps": Example(
            sources.ReadSteps,
            {"x": torch.randn(2, 6, 3)},
            outputs=("halved", "backwards", "same"),
            sizes={"x": {0: "batch", 1: "time"}},
        ),
        "take_along": Example(
            sources.TakeAlong,
            {"x": torch.randn(2, 8, 3)},
            exports=("dynamo",),
        ),
        "gather_rows": Example(
            sources.GatherRows,
            {"x": torch.randn(2, 8, 3)},
            sizes={"x": {0: "batch"}},
        ),
        "read_back": Example(
            sources.ReadBack,
            {"cache": torch.randn(1, 8, 4), "step": torch.randn(1, 2, 4)},
            outputs=("written", "other"),
            sizes={"cache": {0: "batch"}, "step": {0: "batch"}},
            exports=("dynamo", "ts_dynamic"),
        ),
    }


def export(example: Example, how: str) -> onnx.ModelProto:
    """Export an example with the exporter, static or dynamic, that `how` names."""
    exporter, _, dynamic = how.partition("_")
    sizes = {name: example.sizes.get(name, {}) for name in example.inputs} if dynamic else None
    torch.manual_seed(0)
    module = example.module().eval()
    options = {
        "input_names": list(example.inputs),
        "output_names": list(example.outputs),
        "opset_version": OPSETS[exporter],
    }
    arguments = tuple(tensor.clone() for tensor in example.inputs.values())
    if exporter == "dynamo":
        program = torch.onnx.export(
            module, arguments, dynamo=True, dynamic_shapes=sizes, verbose=False, **options
        )
        return program.model_proto
    written = io.BytesIO()
    torch.onnx.export(module, arguments, written, dynamo=False, dynamic_axes=sizes, **options)
    return onnx.load_from_string(written.getvalue())


def portable(model: onnx.ModelProto) -> onnx.ModelProto:
    """Replace the directories of this machine in the notes of exporters."""
    for entry in _notes(model):
        for directory, name in DIRECTORIES.items():
            entry.value = entry.value.replace(f"{directory}{os.sep}", f"{name}/")
    return model


def _notes(message: Message) -> Iterator[onnx.StringStringEntryProto]:
    """Yield the metadata of a message and of all in it."""
    for kind, value in message.ListFields():
        if kind.message_type is None:
            continue
        for part in value if hasattr(value, "extend") else [value]:
            if isinstance(part, onnx.StringStringEntryProto):
                yield part
            else:
                yield from _notes(part)


def main() -> None:
    known = examples()
    parser = argparse.ArgumentParser(description="Writes the example models.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(known)}")
    names = parser.parse_args().names or list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no example is named {', '.join(unknown)}")
    warnings.filterwarnings("ignore")
    for name in names:
        for how in known[name].exports:
            path = HERE / f"{name}_{how}.onnx"
            model = portable(export(known[name], how))
            onnx.checker.check_model(model, full_check=True)
            path.write_bytes(model.SerializeToString(deterministic=True))
            scatters, gathers = (
                sum(node.op_type.startswith(kind) for node in model.graph.node)
                for kind in ("Scatter", "Gather")
            )
            size = path.stat().st_size
            print(f"{path.name:40}{size:7} bytes{scatters:4} scatters{gathers:4} gathers")


if __name__ == "__main__":
    main()

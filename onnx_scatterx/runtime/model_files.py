"""Models of any kind made into files that a worker process can load, without touching weights."""

import os
from collections.abc import Mapping
from pathlib import Path

import onnx
import onnx_ir as ir

from onnx_scatterx.ir.data import ir_tensors, to_proto
from onnx_scatterx.ir.given import AnyModel, ModelSource
from onnx_scatterx.ir.io import check_file, load, note_model, save
from onnx_scatterx.ir.outside import moved
from onnx_scatterx.ir.save import MESSAGE_LIMIT
from onnx_scatterx.ir.save_data import is_within
from onnx_scatterx.runtime.worker_client import ModelFile

_TEXT = {
    ".onnxtxt",
    ".onnxtext",
    ".textproto",
    ".prototxt",
    ".pbtxt",
    ".txtpb",
    ".json",
    ".onnxjson",
}


def as_file(source: AnyModel, model: ir.Model, place: Path) -> ModelFile:
    """Return a binary file of the model: its own, or one written at `place`.

    External data are not moved, even behind links: ONNX Runtime refuses links out of the model's
    directory, so such data are named by their real paths.
    """
    tensors = list(ir_tensors(model))
    outside = [t for t in tensors if isinstance(t, ir.ExternalTensor)]
    inside = sum(t.nbytes for t in tensors if not isinstance(t, ir.ExternalTensor))
    path = ModelSource.of(source).path
    if (
        path is not None
        and path.suffix not in _TEXT
        and all(is_within(Path(t.path), path.parent) for t in outside)
    ):
        return ModelFile(path)
    if inside > MESSAGE_LIMIT:
        return ModelFile(save(model, place).path)
    root = None
    if outside:
        real = {t.path: Path(os.path.realpath(t.path)) for t in outside}
        try:
            root = Path(os.path.commonpath([file.parent for file in real.values()]))
        except ValueError:  # they are on several drives
            return ModelFile(save(model, place).path)
        model = _under(model, root, real)
    given = ModelSource.of(source).model
    message = given if isinstance(given, onnx.ModelProto) and not outside else to_proto(model)
    place.write_bytes(message.SerializeToString())
    return ModelFile(place, root)


def runnable(source: AnyModel, place: Path) -> ModelFile:
    """Return a binary file of a model that only ONNX Runtime is to check.

    A file that ONNX Runtime can read directly is not checked otherwise.
    """
    path = ModelSource.of(source).path
    if path is not None:
        check_file(path)
        files = note_model(path)
        if path.suffix not in _TEXT and all(is_within(file, path.parent) for file in files):
            return ModelFile(path)
    return as_file(source, load(source), place)


def _under(model: ir.Model, root: Path, real: Mapping[str, Path]) -> ir.Model:
    """Return a copy of a model whose external data are named from a directory above them."""

    def place(tensor: ir.ExternalTensor) -> tuple[str, Path]:
        return real[tensor.path].relative_to(root).as_posix(), root

    return moved(model, place)

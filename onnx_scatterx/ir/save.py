"""Writing a model: whole or not at all, never over its source, external data not moved.

Data that do not fit into one protobuf message (2 GB) are moved to a new data file beside the model,
tensor by tensor.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import google.protobuf.message
import onnx
import onnx_ir as ir

from onnx_scatterx.errors import ModelError, ScatterXError, one_line
from onnx_scatterx.ir.clone import cloned
from onnx_scatterx.ir.data import from_proto, ir_graphs, ir_tensors, to_proto
from onnx_scatterx.ir.outside import moved, set_base_dir
from onnx_scatterx.ir.save_data import DataFile, bring_data_files, free_place
from onnx_scatterx.system.record import Files
from onnx_scatterx.system.writing import Writing

MESSAGE_LIMIT = 2_000_000_000  # bytes that the message may have, a little under protobuf's 2 GiB
_SMALL = 1024  # tensors up to this many bytes are always kept in the message


@dataclass(frozen=True)
class Saved:
    """What `save` wrote: the model's file, and the outcome of each external data file."""

    path: Path
    data: tuple[DataFile, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that the model consists of."""
        return (self.path, *(file.path for file in self.data))


def save(
    model: ir.Model | onnx.ModelProto,
    path: str | os.PathLike[str],
    *,
    source_path: str | os.PathLike[str] | None = None,
    read: Files | None = None,
    message_limit: int = MESSAGE_LIMIT,
) -> Saved:
    """Write a model to a file, in the format that the file's extension names (binary otherwise).

    `source_path` is the file that the model came from, and `read` are all files that were read to
    make it. These files are never overwritten. External data of a `ModelProto` are found beside the
    source. Weights in memory beyond `message_limit` bytes are written to `<path>.data`.

    Raises `ModelError`: the output is a file that was read, cannot be written, or a different file
    has the name of a data file that must be brought along.
    """
    source = {} if source_path is None else {Path(source_path): "the input"}
    try:
        with Writing(source | dict(read or {})) as writing:
            return stage(model, path, writing, source_path=source_path, message_limit=message_limit)
    except ModelError:
        raise
    except ScatterXError as error:
        raise ModelError(str(error)) from error


def as_bytes(model: ir.Model | onnx.ModelProto, directory: Path | None = None) -> bytes:
    """Return a model as one binary message, its external data within it.

    External data of a message lie in a directory. Raises `ModelError` if they cannot be read, or
    are more than fit.
    """
    if isinstance(model, onnx.ModelProto):
        model = from_proto(model)
        set_base_dir(model, directory or Path())
    tensors = list(ir_tensors(model))
    if sum(tensor.nbytes for tensor in tensors) > MESSAGE_LIMIT:
        raise ModelError("the model has more than 2 GB, which do not fit into one stream")
    try:
        if any(isinstance(tensor, ir.ExternalTensor) for tensor in tensors):
            model = ir.external_data.load_to_model(cloned(model))
        return bytes(to_proto(model).SerializeToString())
    except (OSError, google.protobuf.message.EncodeError, ValueError) as error:
        raise ModelError(f"the model cannot be written: {one_line(error)}") from error


def stage(
    model: ir.Model | onnx.ModelProto,
    path: str | os.PathLike[str],
    writing: Writing,
    *,
    source_path: str | os.PathLike[str] | None = None,
    message_limit: int = MESSAGE_LIMIT,
) -> Saved:
    """Write a model as `save` does, together with other files."""
    target = writing.claim(path, "the output")
    message = None
    if isinstance(model, onnx.ModelProto):
        message, model = model, from_proto(model)
        set_base_dir(model, Path(source_path).parent if source_path is not None else Path())
    try:
        return _stage(model, message, target, writing, message_limit)
    except OSError as error:
        raise ModelError(f"{path}: cannot be written: {error.strerror or error}") from error
    except (google.protobuf.message.EncodeError, ValueError) as error:
        raise ModelError(f"{path}: cannot be written: {one_line(error)}") from error


def _stage(
    model: ir.Model,
    message: onnx.ModelProto | None,
    target: Path,
    writing: Writing,
    message_limit: int,
) -> Saved:
    if target.exists() and not target.is_file():  # a device or a pipe: nothing is beside it
        whole = to_proto(model) if message is None else message
        target.write_bytes(_serialize(whole, target))
        return Saved(target)
    brought = bring_data_files(model, target, writing)
    data = brought.files
    if brought.renamed:
        model, message = _renamed(model, brought.renamed, target.parent), None
    heavy = _too_heavy(model, message_limit)
    if heavy:
        if message is None:  # the caller's model, which other threads may read meanwhile
            model = cloned(model)
            heavy = _too_heavy(model, message_limit)
        heavy_place = writing.claim(free_place(target, writing), "the data file of the output")
        file = writing.stage(heavy_place)
        weights = [value.const_value for value in heavy if value.const_value is not None]
        outside = ir.external_data.convert_tensors_to_external(weights, file.parent, file.name)
        for value, tensor in zip(heavy, outside, strict=True):
            value.const_value = tensor
        data.append(DataFile(heavy_place, "written"))
    # A message is written unchanged, unless weights were moved out of it.
    whole = to_proto(model) if message is None or heavy else message
    writing.stage(target).write_bytes(_serialize(whole, target))
    return Saved(target, tuple(data))


def _renamed(model: ir.Model, names: Mapping[Path, str], directory: Path) -> ir.Model:
    """Return a copy of a model with new names for some of its data files."""

    def place(tensor: ir.ExternalTensor) -> tuple[str, Path]:
        location = os.fspath(tensor.location)
        return names.get(Path(location), location), directory

    return moved(model, place)


def _too_heavy(model: ir.Model, limit: int) -> list[ir.Value]:
    """Return the initializers in memory, if together they do not fit into the message."""
    inside = [
        value
        for graph in ir_graphs(model)
        for value in graph.initializers.values()
        if value.const_value is not None
        and not isinstance(value.const_value, ir.ExternalTensor)
        and value.const_value.dtype != ir.DataType.STRING
    ]
    sizes = [value.const_value.nbytes for value in inside if value.const_value is not None]
    if sum(sizes) <= limit:
        return []
    return [value for value, size in zip(inside, sizes, strict=True) if size > _SMALL]


def _format(target: Path) -> str:
    """Return the format that a file's extension names."""
    found = onnx.serialization.registry.get_format_from_file_extension(target.suffix)
    return found or "protobuf"


def _serialize(message: onnx.ModelProto, target: Path) -> bytes:
    registry = onnx.serialization.registry
    content: bytes | str = registry.get(_format(target)).serialize_proto(message)
    return content.encode() if isinstance(content, str) else content

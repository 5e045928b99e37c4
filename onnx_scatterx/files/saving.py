"""Writes a model to a file: all of it or nothing, and never over a file that was read.

A new file is read again before it replaces an old file. External data stay external. If weights in
memory do not fit into one protobuf message (2 GB), they are written to a new data file beside the
model, tensor by tensor.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import google.protobuf.message
import onnx
import onnx_ir as ir

from onnx_scatterx.errors import ModelError, ScatterXError, about_file, one_line
from onnx_scatterx.files.data import (
    DATA_FIELDS,
    from_proto,
    graphs_in,
    location_of,
    locations,
    tensor_bytes,
    tensors,
    to_proto,
)
from onnx_scatterx.files.message_parts import message_parts
from onnx_scatterx.files.outside import (
    Sources,
    bring_data_files,
    free_path,
    placed,
    sources_of,
)
from onnx_scatterx.files.parse import check_data, form_of, judged, read_back
from onnx_scatterx.files.reading import Files
from onnx_scatterx.files.writing import Writing
from onnx_scatterx.graphs import is_scatterx_domain

MESSAGE_LIMIT = 2_000_000_000  # the most bytes of a message, a little less than protobuf's 2 GiB
_NOTES = "onnx_scatterx."  # the keys of metadata that passes write to nodes begin with this
_SMALL = 1024  # a tensor of at most so many bytes always stays in the message


@dataclass(frozen=True)
class Staged:
    """A model in temporary files; `message` was read from the file of the model.

    `files` are the final paths of all files, first that of the model. `data` are the new data
    files, by their locations.
    """

    files: tuple[Path, ...]
    message: onnx.ModelProto
    file: Path | None = None
    data: Mapping[str, Path] = field(default_factory=dict)

    def model(self) -> Path | onnx.ModelProto | ir.Model:
        """Return the model as it can be opened now, with its new external data."""
        if self.file is None:
            return self.message
        if not locations(self.message):
            return self.file
        return placed(from_proto(self.message), self.files[0].parent, self.data)


def save(
    model: ir.Model | onnx.ModelProto,
    path: str | os.PathLike[str],
    *,
    source_path: str | os.PathLike[str] | None = None,
    read: Files | None = None,
    message_limit: int = MESSAGE_LIMIT,
    one_file: bool = False,
) -> tuple[Path, ...]:
    """Write a model to a file, in the format that the file's extension names (binary otherwise).

    Returns the paths of all files of the model, first that of the model itself.

    `source_path` is the file that the model came from, and `read` are all files that were read for
    it. These files are never overwritten. External data of a `ModelProto` are beside the source.
    If the message has more than `message_limit` bytes, weights in memory go to `<path>.data`. If it
    is to be `one_file`, and has at most 2 GB, external data are written into it.

    Raises `ModelError` if the output was read or cannot be written, or if a data file that must be
    copied has the name of a different file.
    """
    source = {} if source_path is None else {Path(source_path): "the input"}
    try:
        with Writing(source | dict(read or {})) as writing:
            return stage(
                model,
                path,
                writing,
                source_path=source_path,
                message_limit=message_limit,
                one_file=one_file,
            ).files
    except ModelError:
        raise
    except ScatterXError as error:
        raise ModelError(str(error)) from error


def as_bytes(
    model: ir.Model | onnx.ModelProto, directory: Path | None = None
) -> tuple[bytes, onnx.ModelProto]:
    """Return a model as the bytes of one message, with its external data, and this message.

    The external data of a ModelProto are in ``directory``. Raises `ModelError` if external data
    cannot be read, or if the message is too large.
    """
    message, sources = _message(model, directory or Path())
    held = sum(tensor_bytes(tensor) or 0 for tensor in tensors(message))
    if held > MESSAGE_LIMIT:
        raise ModelError("the model has more than 2 GB, which do not fit into one stream")
    try:
        message = _whole(message, sources)
        content = bytes(message.SerializeToString())
    except (OSError, google.protobuf.message.EncodeError, ValueError) as error:
        raise ModelError(f"the model cannot be written: {one_line(error)}") from error
    return content, judged(content, Path("the model.onnx"), message)


def stage(
    model: ir.Model | onnx.ModelProto,
    path: str | os.PathLike[str],
    writing: Writing,
    *,
    source_path: str | os.PathLike[str] | None = None,
    message_limit: int = MESSAGE_LIMIT,
    one_file: bool = False,
) -> Staged:
    """Write a model as `save` does, together with other files."""
    target = writing.claim(path, "the output")
    directory = Path(source_path).parent if source_path is not None else Path()
    message, sources = _message(model, directory)
    try:
        with about_file(path, "cannot be written", ModelError):
            held = sum(tensor_bytes(tensor) or 0 for tensor in tensors(message))
            if one_file and held <= min(message_limit, MESSAGE_LIMIT):
                message, sources = _whole(message, sources), {}
            return _stage(message, sources, target, writing, message_limit)
    except (google.protobuf.message.EncodeError, ValueError) as error:
        raise ModelError(f"{path}: cannot be written: {one_line(error)}") from error


def _message(model: ir.Model | onnx.ModelProto, directory: Path) -> tuple[onnx.ModelProto, Sources]:
    """Return a model as a message, and the files of its external data."""
    sources = sources_of(model, directory)
    return model if isinstance(model, onnx.ModelProto) else to_proto(model), sources


def _stage(
    message: onnx.ModelProto,
    sources: Sources,
    target: Path,
    writing: Writing,
    message_limit: int,
) -> Staged:
    if form_of(target) == "onnxtxt":
        message = _without_notes(message)
    if target.exists() and not target.is_file():  # a device or a pipe has no data files beside it
        content = _serialize(message, target)
        written = judged(content, target, message)
        target.write_bytes(content)
        return Staged((target,), written)
    brought = bring_data_files(sources, target, writing)
    data, staged_data = brought.files, brought.staged
    heavy = _too_heavy(message, message_limit)
    if heavy or brought.renamed:
        message = _copied(message)  # other threads may read the caller's message meanwhile
        for tensor in tensors(message):
            location = Path(location_of(tensor))
            if location in brought.renamed:
                _set_data(tensor, {"location": brought.renamed[location]})
    if heavy:
        file = _move_out(_too_heavy(message, message_limit), target, writing)
        staged_data[file.name] = file
        data.append(target.with_name(file.name))
    staged = writing.stage(target)
    parts = message_parts(message) if form_of(target) == "protobuf" else None
    with staged.open("wb") as stream:
        stream.writelines([_serialize(message, target)] if parts is None else parts)
    written = read_back(staged, target, message, staged_data)
    return Staged((target, *data), written, staged, staged_data)


def _without_notes(message: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy without the notes of passes: metadata of nodes, and texts of ScatterX.

    The text syntax of ONNX has neither of the two.
    """
    copy = _copied(message)
    for function in copy.functions:
        if is_scatterx_domain(function.domain):
            function.ClearField("doc_string")
    for graph in graphs_in(copy):
        for node in graph.node:
            kept = [e for e in node.metadata_props if not e.key.startswith(_NOTES)]
            if len(kept) < len(node.metadata_props):
                del node.metadata_props[:]
                node.metadata_props.extend(kept)
    return copy


def _copied(message: onnx.ModelProto) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(message)
    return copy


def _too_heavy(message: onnx.ModelProto, limit: int) -> list[onnx.TensorProto]:
    """Return the initializers in memory if they do not fit into the message; otherwise none."""
    inside = [
        (tensor, size)
        for graph in graphs_in(message)
        if isinstance(graph, onnx.GraphProto)
        for tensor in graph.initializer
        if tensor.data_location != onnx.TensorProto.EXTERNAL
        and (size := tensor_bytes(tensor)) is not None
    ]
    if sum(size for _, size in inside) <= limit:
        return []
    return [tensor for tensor, size in inside if size > _SMALL]


def _move_out(heavy: list[onnx.TensorProto], target: Path, writing: Writing) -> Path:
    """Move the numbers of tensors to a data file of the output, and return the file."""
    unnamed = writing.unnamed(target.parent)
    protos = [ir.serde.TensorProtoTensor(tensor) for tensor in heavy]
    outside = ir.external_data.convert_tensors_to_external(protos, unnamed.parent, unnamed.name)
    check_data(zip(heavy, outside, strict=True), unnamed)
    path = writing.claim(free_path(target, unnamed, writing), "the data file of the output")
    file = unnamed.rename(writing.stage(path, replaces=False))
    for tensor, there in zip(heavy, outside, strict=True):
        for name in DATA_FIELDS:
            tensor.ClearField(name)
        tensor.data_location = onnx.TensorProto.EXTERNAL
        numbers = {"offset": str(there.offset), "length": str(there.length)}
        _set_data(tensor, {"location": path.name} | numbers)
    return file


def _set_data(tensor: onnx.TensorProto, fields: dict[str, str]) -> None:
    """Set fields of a tensor's external data, and keep its other fields."""
    left = dict(fields)
    for entry in tensor.external_data:
        entry.value = left.pop(entry.key, entry.value)
    for key, value in left.items():
        tensor.external_data.add(key=key, value=value)


def _whole(message: onnx.ModelProto, sources: Sources) -> onnx.ModelProto:
    """Return a message with its external data in it."""
    if sources:
        message = _copied(message)
        for tensor in tensors(message):
            if tensor.data_location == onnx.TensorProto.EXTERNAL:
                _embed(tensor, sources[Path(location_of(tensor))])
    return message


def _embed(tensor: onnx.TensorProto, file: Path) -> None:
    """Move the external data of a tensor from a file into the tensor."""
    fields = {entry.key: entry.value for entry in tensor.external_data}
    length = fields.get("length")
    with file.open("rb") as stream:
        stream.seek(int(fields.get("offset", "0")))
        tensor.raw_data = stream.read(
            (tensor_bytes(tensor) or 0) if length is None else int(length)
        )
    tensor.ClearField("external_data")
    tensor.ClearField("data_location")


def _serialize(message: onnx.ModelProto, target: Path) -> bytes:
    registry = onnx.serialization.registry
    content: bytes | str = registry.get(form_of(target)).serialize_proto(message)
    return content.encode() if isinstance(content, str) else content

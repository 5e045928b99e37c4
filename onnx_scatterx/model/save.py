"""Writing a model: whole or not at all, never over its source, external data left where they are.

What does not fit into one protobuf message (2 GB) is moved to a new data file beside the model,
tensor by tensor.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import google.protobuf.message
import onnx
import onnx_ir as ir

from onnx_scatterx.errors import ModelError, one_line
from onnx_scatterx.model.data import from_proto, ir_graphs, set_base_dir, to_proto
from onnx_scatterx.model.save_data import DataFile, bring_data_files, install, same_file, unseen

MESSAGE_LIMIT = 2_000_000_000  # what may stay in the message, a little under protobuf's 2 GiB
_SMALL = 1024  # tensors up to this many bytes always stay in the message


@dataclass(frozen=True)
class Saved:
    """What `save` wrote: the model's file, and what became of each external data file."""

    path: Path
    data: tuple[DataFile, ...] = ()


def save(
    model: ir.Model | onnx.ModelProto,
    path: str | os.PathLike[str],
    *,
    source_path: str | os.PathLike[str] | None = None,
    source_data: Collection[Path] = (),
    message_limit: int = MESSAGE_LIMIT,
) -> Saved:
    """Write a model to a file, in the format that the file's extension names (binary otherwise).

    `source_path` is the file that the model came from, and `source_data` are its external data, of
    which the model may need some no longer: none of them is overwritten. External data of a
    `ModelProto` are found beside the source. Weights in memory beyond `message_limit` bytes go to
    `<path>.data`.

    Raises `ModelError`: the output is the input or one of its data files, cannot be written, or a
    different file has the name of a data file that must be brought along.
    """
    target = place_of(path, source_path)
    if any(same_file(target, file) for file in source_data):
        raise ModelError(f"{path}: the output is a data file of the input; choose another path")
    message = None
    if isinstance(model, onnx.ModelProto):
        message, model = model, from_proto(model)
        set_base_dir(model, Path(source_path).parent if source_path is not None else Path())
    try:
        return _save(model, message, target, set(source_data), message_limit)
    except OSError as error:
        raise ModelError(f"{path}: cannot be written: {error.strerror or error}") from error
    except (google.protobuf.message.EncodeError, ValueError) as error:
        raise ModelError(f"{path}: cannot be written: {one_line(error)}") from error


def place_of(
    path: str | os.PathLike[str], source_path: str | os.PathLike[str] | None = None
) -> Path:
    """Return where a model goes; raise `ModelError` if it cannot go there, or is its source."""
    if not os.fspath(path):
        raise ModelError("the path of the output is empty; name a file")
    target = Path(os.path.realpath(path))
    if source_path is not None and same_file(target, Path(source_path)):
        raise ModelError(f"{path}: the output is the input; choose another output path")
    if target.is_dir() or os.fspath(path).endswith(os.sep):
        raise ModelError(f"{path}: is a directory; name a file in it")
    if not target.parent.is_dir():
        raise ModelError(f"{path}: the directory {target.parent} does not exist")
    return target


def _save(
    model: ir.Model,
    message: onnx.ModelProto | None,
    target: Path,
    source_data: set[Path],
    message_limit: int,
) -> Saved:
    if target.exists() and not target.is_file():  # a device or a pipe
        whole = to_proto(model) if message is None else message
        target.write_bytes(_serialize(whole, target))
        return Saved(target)
    with contextlib.ExitStack() as undo:
        data, copies = bring_data_files(model, target, undo)
        heavy = _too_heavy(model, message_limit)
        if heavy:
            if message is None:  # the caller's model, which other threads may read meanwhile
                model = model.clone()
                heavy = _too_heavy(model, message_limit)
            name = _free_name(target, source_data | {file.path for file in data})
            directory = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
            undo.callback(shutil.rmtree, directory, ignore_errors=True)
            weights = [value.const_value for value in heavy if value.const_value is not None]
            outside = ir.external_data.convert_tensors_to_external(weights, directory, name)
            for value, tensor in zip(heavy, outside, strict=True):
                value.const_value = tensor
        # A message goes out as it came, unless weights were moved out of it.
        whole = to_proto(model) if message is None or heavy else message
        content = _serialize(whole, target)
        temporary = unseen(target)
        undo.callback(temporary.unlink, missing_ok=True)
        temporary.write_bytes(content)
        if target.exists():
            shutil.copymode(target, temporary)
        for place, copy in copies.items():
            install(copy, place, undo)
        if heavy:
            os.replace(directory / name, target.with_name(name))
            directory.rmdir()
            data.append(DataFile(target.with_name(name), "written"))
        os.replace(temporary, target)
        undo.pop_all()  # everything is in its place: nothing is to be undone
    return Saved(target, tuple(data))


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


def _free_name(target: Path, taken: set[Path]) -> str:
    """Return a name for the target's data file that no file in `taken` has."""
    name = f"{target.name}.data"
    while any(same_file(target.with_name(name), file) for file in taken):
        name += "_"
    return name


def _serialize(message: onnx.ModelProto, target: Path) -> bytes:
    registry = onnx.serialization.registry
    form = registry.get_format_from_file_extension(target.suffix) or "protobuf"
    content: bytes | str = registry.get(form).serialize_proto(message)
    return content.encode() if isinstance(content, str) else content

"""Writing a model: whole or not at all, never over its source, external data left where they are.

The ONNX format lets external data lie only beneath the model's own directory. A model written to
another directory therefore takes copies of its data files along (no links: onnx and onnx_ir refuse
data behind hard links, and behind symbolic links that lead out). What does not fit into one
protobuf message (2 GB) is moved to a new data file beside the model, tensor by tensor.
"""

import contextlib
import filecmp
import os
import shutil
import tempfile
import uuid
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import google.protobuf.message
import onnx
import onnx_ir as ir

from onnx_scatterx.errors import ModelError, one_line
from onnx_scatterx.model_data import from_proto, ir_graphs, ir_tensors, set_base_dir, to_proto

MESSAGE_LIMIT = 2_000_000_000  # what may stay in the message, a little under protobuf's 2 GiB
_CHUNK = 1 << 26  # bytes that are copied at once
_SMALL = 1024  # tensors up to this many bytes always stay in the message


@dataclass(frozen=True)
class DataFile:
    """What became of one file of external data."""

    path: Path
    how: Literal["kept", "copied", "written"]


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
    if any(_same_file(target, file) for file in source_data):
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
    target = Path(os.path.realpath(path))
    if source_path is not None and _same_file(target, Path(source_path)):
        raise ModelError(f"{path}: the output is the input; choose another output path")
    if target.is_dir():
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
        data, copies = _bring_data_files(model, target, undo)
        heavy = _too_heavy(model, message_limit)
        outside: list[ir.ExternalTensor] = []
        if heavy:
            name = _free_name(target, source_data | {file.path for file in data})
            directory = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
            undo.callback(shutil.rmtree, directory, ignore_errors=True)
            weights = [value.const_value for value in heavy if value.const_value is not None]
            outside = ir.external_data.convert_tensors_to_external(weights, directory, name)
        with _replaced(heavy, outside):
            # A message goes out as it came, unless weights were moved out of it.
            whole = to_proto(model) if message is None or heavy else message
            content = _serialize(whole, target)
        temporary = _unseen(target)
        undo.callback(temporary.unlink, missing_ok=True)
        temporary.write_bytes(content)
        if target.exists():
            shutil.copymode(target, temporary)
        for place, copy in copies.items():
            _install(copy, place, undo)
        if heavy:
            os.replace(directory / name, target.with_name(name))
            directory.rmdir()
            data.append(DataFile(target.with_name(name), "written"))
        os.replace(temporary, target)
        undo.pop_all()  # everything is in its place: nothing is to be undone
    return Saved(target, tuple(data))


def _bring_data_files(
    model: ir.Model, target: Path, undo: contextlib.ExitStack
) -> tuple[list[DataFile], dict[Path, Path]]:
    """Find or copy every external data file of the model for the target's directory.

    Returns what becomes of each file, and by its place the copy that is yet to be installed there.
    """
    brought: dict[tuple[str, str], DataFile] = {}
    copies: dict[Path, Path] = {}
    for tensor in ir_tensors(model):
        if not isinstance(tensor, ir.ExternalTensor):
            continue
        location, base = os.fspath(tensor.location), os.fspath(tensor.base_dir)
        if (base, location) in brought:
            continue
        if os.path.isabs(location) or ".." in Path(location).parts:
            raise ModelError(f"external data file {location!r} is not inside the model's directory")
        source = Path(os.path.realpath(Path(base) / location))
        if not source.is_file():
            raise ModelError(f"external data file {source} of tensor {tensor.name} does not exist")
        if _same_file(target, source):
            raise ModelError(f"{target}: the output is a data file of the model; choose another")
        place = target.parent / location
        if place in copies or place.exists():
            _check_same(source, copies.get(place, place), place)
            brought[base, location] = DataFile(place, "kept")
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        copy = _unseen(place)
        undo.callback(copy.unlink, missing_ok=True)
        _copy(source, copy)
        copies[place] = copy
        brought[base, location] = DataFile(place, "copied")
    return list(brought.values()), copies


def _check_same(source: Path, found: Path, place: Path) -> None:
    if not (_same_file(source, found) or filecmp.cmp(source, found, shallow=False)):
        raise ModelError(
            f"{place} exists and is not the model's data {source}; "
            "remove it or write to another directory"
        )


def _copy(source: Path, copy: Path) -> None:
    """Copy a file, inside the file system where it can: some share the blocks and copy nothing."""
    with source.open("rb") as old, copy.open("wb") as new:
        try:
            while os.copy_file_range(old.fileno(), new.fileno(), _CHUNK):
                pass
            if new.tell() == os.fstat(old.fileno()).st_size:
                return
        except (AttributeError, OSError):  # not on this system, or not between these two
            pass
        old.seek(0)
        new.seek(0)
        shutil.copyfileobj(old, new, _CHUNK)


def _install(copy: Path, place: Path, undo: contextlib.ExitStack) -> None:
    """Move a copy to its place, unless another process was faster with the same content."""
    if place.exists():
        _check_same(copy, place, place)
        copy.unlink()
        return
    os.replace(copy, place)
    undo.callback(place.unlink, missing_ok=True)


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


@contextlib.contextmanager
def _replaced(values: list[ir.Value], tensors: list[ir.ExternalTensor]) -> Iterator[None]:
    """Let the values hold the tensors for a while."""
    before = [value.const_value for value in values]
    try:
        for value, tensor in zip(values, tensors, strict=True):
            value.const_value = tensor
        yield
    finally:
        for value, old in zip(values, before, strict=True):
            value.const_value = old


def _unseen(path: Path) -> Path:
    """Return a hidden name beside a file, for what is not yet complete."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}")


def _free_name(target: Path, taken: set[Path]) -> str:
    """Return a name for the target's data file that no file in `taken` has."""
    name = f"{target.name}.data"
    while any(_same_file(target.with_name(name), file) for file in taken):
        name += "_"
    return name


def _serialize(message: onnx.ModelProto, target: Path) -> bytes:
    registry = onnx.serialization.registry
    form = registry.get_format_from_file_extension(target.suffix) or "protobuf"
    content: bytes | str = registry.get(form).serialize_proto(message)
    return content.encode() if isinstance(content, str) else content


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (FileNotFoundError, NotADirectoryError):
        return Path(os.path.realpath(one)) == Path(os.path.realpath(other))

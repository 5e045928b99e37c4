"""External data of a model: finds the files, and copies them to the directory of the output.

A user who names a model also names every file that its tensors name. So symbolic and hard links are
followed anywhere, as in a cache that keeps all files under their hashes. onnx_ir follows links only
if a tensor has no base directory, and then checks nothing. So one check is made here: by its name,
a location must be inside the directory of the model.

In the ONNX format, external data must be inside the model's directory. So if a model is written to
another directory, its data files are copied there. Links would not do: onnx and onnx_ir refuse data
behind hard links, and behind symbolic links that lead out. No file is created outside of that
directory, and no hidden file.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx
import onnx_ir as ir

from onnx_scatterx.errors import ModelError
from onnx_scatterx.files.data import (
    ir_tensors,
    is_a,
    is_inside,
    location_of,
    replace_tensors,
    tensors,
)
from onnx_scatterx.files.writing import Writing, same_content
from onnx_scatterx.graphs import cloned


class OutsideTensor(ir.ExternalTensor):
    """A tensor in a file that may be behind any link.

    onnx_ir checks a file against the base directory of its tensor; this tensor has none.
    """

    __slots__ = ("_directory",)

    def __init__(self, tensor: ir.ExternalTensor, location: str, directory: Path) -> None:
        """Create a copy of a tensor whose data are at a location beneath a directory."""
        super().__init__(
            location,
            tensor.offset,
            tensor.length,
            tensor.dtype,
            shape=tensor.shape,
            name=tensor.name,
            doc_string=tensor.doc_string,
            metadata_props=dict(tensor.metadata_props),
        )
        self._directory: str | os.PathLike[str] = directory

    @property
    def base_dir(self) -> str | os.PathLike[str]:
        """The directory of the location."""
        return self._directory

    @base_dir.setter
    def base_dir(self, value: str | os.PathLike[str]) -> None:
        self._directory = value

    @property
    def path(self) -> str:
        """The path of the file."""
        return os.path.join(self._directory, self.location)


def placed(model: ir.Model, directory: Path, elsewhere: Mapping[str, Path]) -> ir.Model:
    """Return a model whose external data are in a directory, or where ``elsewhere`` says."""

    def outside(tensor: ir.ExternalTensor) -> ir.ExternalTensor:
        location = os.fspath(tensor.location)
        file = elsewhere.get(location, directory / location)
        return OutsideTensor(tensor, file.name, file.parent)

    _replace(model, outside)
    return model


def follow_links(model: ir.Model, directory: Path | None = None) -> None:
    """Allow links to the external data of a model, which may be in another ``directory``."""

    def followed(tensor: ir.ExternalTensor) -> ir.ExternalTensor:
        if directory is not None:
            tensor.base_dir = directory
        if isinstance(tensor, OutsideTensor) or not is_inside(tensor.location):
            return tensor  # onnx_ir reports the error
        return OutsideTensor(tensor, os.fspath(tensor.location), Path(tensor.base_dir))

    _replace(model, followed)


def moved(model: ir.Model, locate: Callable[[ir.ExternalTensor], tuple[str, Path]]) -> ir.Model:
    """Return a copy of a model whose external data have the locations that ``locate`` returns."""
    copy = cloned(model)
    _replace(copy, lambda tensor: OutsideTensor(tensor, *locate(tensor)))
    return copy


def together(model: ir.Model) -> tuple[ir.Model, Path] | None:
    """Return a copy whose external data have their real paths, and a directory with all of them.

    The result is None if there is no such directory, because the files are on several drives.
    """
    external = (t for t in ir_tensors(model) if is_a(t, ir.ExternalTensor))
    real = {t.path: Path(os.path.realpath(t.path)) for t in external}
    try:
        root = Path(os.path.commonpath([file.parent for file in real.values()]))
    except ValueError:
        return None
    return moved(model, lambda t: (real[t.path].relative_to(root).as_posix(), root)), root


def _replace(model: ir.Model, replaced: Callable[[ir.ExternalTensor], ir.ExternalTensor]) -> None:
    replace_tensors(model, lambda t: replaced(t) if is_a(t, ir.ExternalTensor) else t)


_CHUNK = 1 << 26  # bytes that are copied at once


@dataclass(frozen=True)
class Brought:
    """The data files of a model that is written.

    ``renamed`` maps old locations to new ones, if they change. ``staged`` maps new locations to the
    temporary files that exist until the model is complete.
    """

    files: list[Path]
    renamed: dict[Path, str]
    staged: dict[str, Path]


Sources = Mapping[Path, Path]
"""The real paths of the files of a model's external data, by their locations."""


def bring_data_files(sources: Sources, target: Path, writing: Writing) -> Brought:
    """Bring every external data file of a model to the target's directory, unless it is there.

    If a file there is a link that leads out of the directory, as in a cache, the file is copied
    under a new name, because ONNX Runtime refuses such links.
    """
    brought = Brought([], {}, {})
    for source in sources.values():
        writing.keep(source, "a data file of the input")
    for location, source in sources.items():
        path = target.parent / location
        role = f"the data file {str(location)!r} of the model"
        name, there = os.fspath(location), path
        if not path.exists():
            there = _new_path(location, target)
            writing.make_directory(there.parent)
        elif not same_content(source, path):
            raise ModelError(
                f"{path} exists and is not the model's data {source}; "
                "remove it or write to another directory"
            )
        elif is_within(path, target.parent):
            writing.keep(path, "a data file of the output")
            brought.files.append(path)
            continue
        else:
            path = there = free_path(target, source, writing)
            name = brought.renamed[location] = path.name
        brought.staged[name] = writing.stage(writing.claim(there, role), replaces=False)
        _copy(source, brought.staged[name])
        brought.files.append(path)
    writing.check()
    return brought


def sources_of(model: ir.Model | onnx.ModelProto, directory: Path) -> Sources:
    """Return the files of a model's external data; for a message, they are in ``directory``."""
    sources: dict[Path, Path] = {}
    for location, base, name in _outside(model, directory):
        if not is_inside(location):
            raise ModelError(f"external data file {location!r} is not inside the model's directory")
        path = Path(location)
        source = Path(os.path.realpath(base / path))
        if path not in sources:
            if not source.is_file():
                raise ModelError(f"external data file {source} of tensor {name} does not exist")
            sources[path] = source
        elif sources[path] != source and not same_content(sources[path], source):
            raise ModelError(
                f"{source} and {sources[path]} would both be the data file {location!r}; rename one"
            )
    return sources


def _outside(
    model: ir.Model | onnx.ModelProto, directory: Path
) -> Iterator[tuple[str, Path, str | None]]:
    """Yield location, directory and name of each tensor with external data."""
    if isinstance(model, onnx.ModelProto):
        for proto in tensors(model):
            if proto.data_location == onnx.TensorProto.EXTERNAL:
                yield location_of(proto), directory, proto.name
        return
    for tensor in ir_tensors(model):
        if is_a(tensor, ir.ExternalTensor):
            yield os.fspath(tensor.location), Path(tensor.base_dir), tensor.name


def _new_path(location: Path, target: Path) -> Path:
    """Return the real path of a data file to be written; ModelError if it must not be written."""
    home = Path(os.path.realpath(target.parent))
    path = Path(os.path.realpath(target.parent / location))
    if not path.is_relative_to(home):
        raise ModelError(
            f"external data file {str(location)!r} would be written to {path}, which is not in "
            "the output's directory; write to another directory"
        )
    if any(part.startswith(".") for part in path.relative_to(home).parts):
        raise ModelError(
            f"external data file {str(location)!r} would be a hidden file in the output's "
            "directory; rename it, or write the output beside the input"
        )
    return path


def is_within(path: Path, directory: Path) -> bool:
    """Return whether the real path of a file is inside a directory."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(directory))


def free_path(target: Path, content: Path, writing: Writing) -> Path:
    """Return the path for a data file of the output with the content of another file.

    No existing file is replaced, because other models may read it: copies of the old output, and
    the output of a command that ends at the same time. So the name is `OUT.data`; if this file has
    other content, the name has a digest of the content, too.
    """
    path = target.with_name(f"{target.name}.data")
    if not _may_have(path, content, writing):
        with content.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()[:16]
        path = target.with_name(f"{target.name}.{digest}.data")
    return path


def _may_have(path: Path, content: Path, writing: Writing) -> bool:
    """Return whether a path is free, or its file has the same content as another file."""
    if not writing.is_free(path):
        return False
    return not path.exists() or (path.is_file() and same_content(content, path))


def _copy(source: Path, copy: Path) -> None:
    """Copy a file, by the file system if possible, because some file systems only share blocks.

    A user who may not read the file may not read the copy.
    """
    with source.open("rb") as old, copy.open("wb") as new:
        mode = stat.S_IMODE(copy.stat().st_mode)
        copy.chmod(mode & (os.fstat(old.fileno()).st_mode | stat.S_IRWXU))
        try:
            while os.copy_file_range(old.fileno(), new.fileno(), _CHUNK):
                pass
            if new.tell() == os.fstat(old.fileno()).st_size:
                return
        except (AttributeError, OSError):  # not possible on this system, or for these two files
            pass
        old.seek(0)
        new.seek(0)
        shutil.copyfileobj(old, new, _CHUNK)

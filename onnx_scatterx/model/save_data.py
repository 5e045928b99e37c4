"""External data that a model brings along, to where it is written.

The ONNX format lets external data lie only beneath the model's own directory. A model written to
another directory therefore takes copies of its data files along (no links: onnx and onnx_ir refuse
data behind hard links, and behind symbolic links that lead out).
"""

import contextlib
import filecmp
import os
import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import onnx_ir as ir

from onnx_scatterx.errors import ModelError
from onnx_scatterx.model.data import ir_tensors

_CHUNK = 1 << 26  # bytes that are copied at once


@dataclass(frozen=True)
class DataFile:
    """What became of one file of external data."""

    path: Path
    how: Literal["kept", "copied", "written"]


def bring_data_files(
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
        if same_file(target, source):
            raise ModelError(f"{target}: the output is a data file of the model; choose another")
        place = target.parent / location
        if place in copies or place.exists():
            _check_same(source, copies.get(place, place), place)
            brought[base, location] = DataFile(place, "kept")
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        copy = unseen(place)
        undo.callback(copy.unlink, missing_ok=True)
        _copy(source, copy)
        copies[place] = copy
        brought[base, location] = DataFile(place, "copied")
    return list(brought.values()), copies


def _check_same(source: Path, found: Path, place: Path) -> None:
    if not (same_file(source, found) or filecmp.cmp(source, found, shallow=False)):
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


def install(copy: Path, place: Path, undo: contextlib.ExitStack) -> None:
    """Move a copy to its place, unless another process was faster with the same content."""
    if place.exists():
        _check_same(copy, place, place)
        copy.unlink()
        return
    os.replace(copy, place)
    undo.callback(place.unlink, missing_ok=True)


def unseen(path: Path) -> Path:
    """Return a hidden name beside a file, for what is not yet complete."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}")


def same_file(one: Path, other: Path) -> bool:
    """Return whether two paths lead to one file, also where none of them exists yet."""
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there, or may not be looked at
        return Path(os.path.realpath(one)) == Path(os.path.realpath(other))

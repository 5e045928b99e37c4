"""Moving a model's external data to the directory of the output.

The ONNX format lets external data lie only beneath the model's own directory. A model written to
another directory therefore takes copies of its data files along (no links: onnx and onnx_ir refuse
data behind hard links, and behind symbolic links that lead out). A location creates nothing outside
of that directory, and nothing hidden.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import onnx
import onnx_ir as ir

from onnx_scatterx.errors import ModelError
from onnx_scatterx.ir.data import ir_tensors, is_inside, locations
from onnx_scatterx.system.writing import Writing, same_content

_CHUNK = 1 << 26  # bytes that are copied at once


@dataclass(frozen=True)
class DataFile:
    """The outcome of one file of external data."""

    path: Path
    how: Literal["kept", "copied", "written"]


@dataclass(frozen=True)
class Brought:
    """The data files of a model that is written, and the locations of those with a new name."""

    files: list[DataFile]
    renamed: dict[Path, str]


def bring_data_files(model: ir.Model, target: Path, writing: Writing) -> Brought:
    """Find or copy every external data file of the model for the target's directory.

    A file there that leads out of the directory, as links in a cache do, is copied under a new
    name, since ONNX Runtime would refuse it beside a model that is not such a link.
    """
    brought = Brought([], {})
    sources = _sources(model)
    for source in sources.values():
        writing.keep(source, "a data file of the input")
    for location, source in sources.items():
        place = target.parent / location
        role = f"the data file {str(location)!r} of the model"
        if not place.exists():
            place = _new_place(location, target)
            writing.make_directory(place.parent)
            _copy(source, writing.stage(writing.claim(place, role), replaces=False))
            brought.files.append(DataFile(target.parent / location, "copied"))
        elif not same_content(source, place):
            raise ModelError(
                f"{place} exists and is not the model's data {source}; "
                "remove it or write to another directory"
            )
        elif is_within(place, target.parent):
            writing.keep(place, "a data file of the output")
            brought.files.append(DataFile(place, "kept"))
        else:
            place = free_place(target, writing)
            _copy(source, writing.stage(writing.claim(place, role)))
            brought.files.append(DataFile(place, "copied"))
            brought.renamed[location] = place.name
    writing.check()
    return brought


def _sources(model: ir.Model) -> dict[Path, Path]:
    """Return each location in the model's tensors, and the file that it leads to."""
    found: dict[Path, Path] = {}
    for tensor in ir_tensors(model):
        if not isinstance(tensor, ir.ExternalTensor):
            continue
        if not is_inside(tensor.location):
            raise ModelError(
                f"external data file {os.fspath(tensor.location)!r} is not inside the model's "
                "directory"
            )
        location = Path(tensor.location)
        source = Path(os.path.realpath(tensor.base_dir / location))
        if location not in found:
            if not source.is_file():
                raise ModelError(
                    f"external data file {source} of tensor {tensor.name} does not exist"
                )
            found[location] = source
        elif found[location] != source and not same_content(found[location], source):
            raise ModelError(
                f"{source} and {found[location]} would both be the data file {str(location)!r}; "
                "rename one"
            )
    return found


def _new_place(location: Path, target: Path) -> Path:
    """Return the real path of a data file that is yet to be written, if it may be written."""
    home = Path(os.path.realpath(target.parent))
    place = Path(os.path.realpath(target.parent / location))
    if not place.is_relative_to(home):
        raise ModelError(
            f"external data file {str(location)!r} would be written to {place}, which is not in "
            "the output's directory; write to another directory"
        )
    if any(part.startswith(".") for part in place.relative_to(home).parts):
        raise ModelError(
            f"external data file {str(location)!r} would be a hidden file in the output's "
            "directory; rename it, or write the output beside the input"
        )
    return place


def is_within(path: Path, directory: Path) -> bool:
    """Return whether a path leads to something in a directory, links followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(directory))


def free_place(target: Path, writing: Writing) -> Path:
    """Return the path of a new data file of the output: a file there is one of the old output."""
    name = f"{target.name}.data"
    while not _may_have(target.with_name(name), target, writing):
        name += "_"
    return target.with_name(name)


def _may_have(place: Path, target: Path, writing: Writing) -> bool:
    """Return whether a place is free, or has data of the model that will be replaced."""
    if not writing.is_free(place):
        return False
    if not place.exists():
        return True
    try:
        old = onnx.load(target, load_external_data=False)
    except Exception:  # parsers raise anything: not a model, or missing
        return False
    return place.name in locations(old)


def _copy(source: Path, copy: Path) -> None:
    """Copy a file, by the file system if possible: some share the blocks and copy nothing."""
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

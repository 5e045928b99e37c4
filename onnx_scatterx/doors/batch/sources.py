"""The models of a call, the paths of their outputs, and the files that must not be replaced."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.system.reading import KnownFiles, files_read
from onnx_scatterx.system.scratch import is_scratch

SUFFIXES = (".onnx", ".onnxtxt")


def models_in(directory: Path) -> list[Path]:
    """Return the models in a directory at any depth, in the order of their names."""
    models = []
    for folder, below, names in os.walk(directory, onerror=_unread):
        below[:] = (name for name in below if not is_scratch(name))  # of a run at this moment
        models += [Path(folder, n) for n in names if n.endswith(SUFFIXES) and n[0] != "."]
    return sorted(path for path in models if path.is_file())


def _unread(error: OSError) -> NoReturn:
    raise ScatterXError(f"{error.filename}: cannot be read: {error.strerror}") from error


def sources_of(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
) -> tuple[Path, list[Path]]:
    """Return the models, and the deepest directory that they share."""
    if isinstance(paths, str | os.PathLike):
        root = Path(paths)
        if not root.is_dir():
            raise ScatterXError(f"{root}: is not a directory; give a list of files, or a directory")
        sources = models_in(root)
        if not sources:
            raise ScatterXError(f"{root}: is a directory without models ({', '.join(SUFFIXES)})")
        return root, sources
    sources = list(dict.fromkeys(Path(p) for p in paths))
    if not sources:
        raise ScatterXError("no model was given")
    return Path(os.path.commonpath([os.path.abspath(p.parent) for p in sources])), sources


def pairs_of(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], output: Path
) -> list[tuple[Path, Path]]:
    """Return each model and its output path."""
    root, sources = sources_of(paths)
    if output.exists() and not output.is_dir():
        raise ScatterXError(f"{output}: is not a directory; many models are written to one")
    if output.exists() and output.samefile(root):
        raise ScatterXError(f"{output}: the output is the input; choose another directory")
    places = [output / os.path.relpath(os.path.abspath(p), os.path.abspath(root)) for p in sources]
    if len({os.path.realpath(place) for place in places}) < len(places):
        raise ScatterXError("two paths name the same model, or would be written to the same place")
    # The output of an earlier run in a folder of the input is not a model to optimize.
    inside = os.path.realpath(output) + os.sep
    pairs = zip(sources, places, strict=True)
    kept = [(s, p) for s, p in pairs if not os.path.realpath(s).startswith(inside)]
    if not kept:
        raise ScatterXError(f"{root}: holds no model outside of {output}")
    return kept


def read_elsewhere(pairs: list[tuple[Path, Path]]) -> dict[Path, dict[Path, str]]:
    """Return, by the directories of the outputs, the files in them that this call reads.

    Only if a directory has files are the models opened for the names of their data.
    """
    folders = {place.parent for _, place in pairs}
    there = {folder: files for folder in folders if (files := _files_in(folder))}
    if there:
        from onnx_scatterx.ir.io import note_model

        for source, _ in pairs:
            note_model(source)
    read = KnownFiles[str]()
    for path, name in files_read().items():
        read.add(path, name)
    return {
        folder: {file: what for file in files if (what := read.find(file)) is not None}
        for folder, files in there.items()
    }


def _files_in(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_file()]
    except OSError:  # it does not exist yet, or the task reports it
        return []

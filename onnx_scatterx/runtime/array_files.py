"""Reads arrays from files, checks them as inputs of a model, and writes arrays to files."""

from __future__ import annotations

import zipfile
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
import onnx_ir as ir

from onnx_scatterx.errors import ScatterXError, about_file, one_line
from onnx_scatterx.files import Writing, note_read, open_regular

_MOST_NAME = 65535  # the most bytes of the name of an entry in a zip file


def read_arrays(
    sources: Sequence[tuple[str | None, str]], names: Container[str]
) -> dict[str, np.ndarray]:
    """Read arrays from (name, file) pairs.

    Without a name, a .npz or a directory gives all of its arrays whose names are in ``names``; in a
    directory, each .npy has the name that `save_arrays` gives it. Raises ScatterXError if a file
    cannot be read, or if an array is given twice.
    """
    arrays: dict[str, np.ndarray] = {}
    for name, file in _files(sources, names):
        content = _read(file)
        if isinstance(content, np.ndarray):
            if name is None:
                raise ScatterXError(f"{file}: say which input it is: NAME={file}")
            content = {name: content}
        elif name is not None:
            if name not in content:
                raise ScatterXError(f"{file}: has no array {name!r}; it has {', '.join(content)}")
            content = {name: content[name]}
        else:
            inputs = {_unquoted(key, names): array for key, array in content.items()}
            content = {key: array for key, array in inputs.items() if key in names}
        for twice in content.keys() & arrays.keys():
            raise ScatterXError(f"{file}: the input {twice!r} is given twice")
        arrays.update(content)
    return arrays


def _files(
    sources: Sequence[tuple[str | None, str]], names: Container[str]
) -> Iterator[tuple[str | None, str]]:
    """Yield the sources, each directory as the files in it that are named after ``names``."""
    for name, source in sources:
        if name is not None or not Path(source).is_dir():
            yield name, source
            continue
        files = [(_unquoted(file.stem, names), str(file)) for file in Path(source).glob("*.npy")]
        chosen = sorted(pair for pair in files if pair[0] in names)
        if not chosen:
            raise ScatterXError(f"{source}: has no .npy that is named after an input")
        yield from chosen


def _unquoted(key: str, names: Container[str]) -> str:
    return key if key in names else unquote(key)


def _read(file: str) -> np.ndarray | dict[str, np.ndarray]:
    note_read(file, "an input array")
    try:
        with about_file(file, "cannot be read"), open_regular(file) as stream:
            content = np.load(stream, allow_pickle=False)
            if isinstance(content, np.ndarray):
                return content
            return {name: content[name] for name in content.files}
    except (MemoryError, ScatterXError):
        raise
    except Exception as error:  # NumPy and zipfile raise many kinds of errors
        reason = one_line(error)
        if "pickle" in reason:
            # NumPy would read any other file as a pickle, which could run any program.
            reason = "no .npy or .npz file of numbers or strings"
        raise ScatterXError(f"{file}: cannot be read: {reason}") from error


def output_path(output: str, writing: Writing) -> Path:
    """Return the path to which arrays are written; ScatterXError if they cannot be written there.

    The path is a .npz, which is claimed, or a directory.
    >>> output_path("results.npz", Writing()).name
    'results.npz'
    """
    if not output:
        raise ScatterXError("the path of the outputs is empty; name a .npz or a directory")
    path = Path(output)
    if path.suffix == ".npz" and path.is_dir():
        raise ScatterXError(f"{output}: is a directory; name a file, or a directory without .npz")
    if path.suffix != ".npz" and path.exists() and not path.is_dir():
        raise ScatterXError(f"{output}: is a file; name a directory, or a file that ends in .npz")
    if not path.parent.is_dir():
        raise ScatterXError(f"{output}: the directory {path.parent} does not exist")
    if path.suffix == ".npz":
        writing.claim(path, "the output")
    return path


def save_arrays(sets: Sequence[Mapping[str, np.ndarray]], path: Path, writing: Writing) -> None:
    """Write arrays to a .npz, or as .npy files into a directory: all of them, or none.

    Several sets are numbered: `0/x`, `1/x`. Strings get a fixed width, so they can be read without
    unpickling. Raises ScatterXError if a file cannot be written, or was read.
    """
    heads = [""] if len(sets) == 1 else [f"{number}/" for number in range(len(sets))]
    entries = [
        (h, *entry) for h, arrays in zip(heads, sets, strict=True) for entry in arrays.items()
    ]
    with about_file(path, "cannot be written"):
        if path.suffix == ".npz":
            _write_archive(entries, writing.stage(writing.claim(path, "the output")))
            return
        for head, name, array in entries:
            file = path / f"{head}{file_name(name)}"
            writing.make_directory(file.parent)
            with writing.stage(writing.claim(file, "the output")).open("wb") as stream:
                np.save(stream, _plain(array), allow_pickle=False)


def _write_archive(entries: Sequence[tuple[str, str, np.ndarray]], file: Path) -> None:
    with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
        for head, name, array in entries:
            member = f"{head}{_entry(name)}"
            if len(member.encode()) > _MOST_NAME:
                raise ScatterXError(f"the name of an output is too long for a .npz: {name[:40]}...")
            with archive.open(member, "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, _plain(array), allow_pickle=False)


def _entry(name: str) -> str:
    """Return the name of an array's entry in a .npz; a name that leads out of it is quoted.

    A leading slash, as in many names of ONNX, is kept: tools that unpack an archive remove it.

    >>> _entry("/model/Add"), _entry("../scores")
    ('/model/Add.npy', '..%2Fscores.npy')
    """
    is_safe = ".." not in PurePosixPath(name).parts and not set(name) & set("\0\\")
    return f"{name}.npy" if is_safe else file_name(name)


def file_name(name: str) -> str:
    """Return the name of an array's .npy file.

    >>> file_name("scores"), file_name("/model/Add_output_0")
    ('scores.npy', '%2Fmodel%2FAdd_output_0.npy')
    """
    return f"{quote(name, safe=' []()+,;=@')}.npy"


def _plain(array: np.ndarray) -> np.ndarray:
    return array.astype(np.str_) if array.dtype.kind == "O" else array


_NAMES = {"float": "FLOAT", "double": "DOUBLE"}  # if ONNX Runtime and ONNX differ


@dataclass(frozen=True)
class DeclaredInput:
    """An input of a model as ONNX Runtime declares it."""

    name: str
    type: str
    shape: Sequence[int | str | None]


def validated_inputs(
    arrays: Mapping[str, np.ndarray],
    required: Sequence[DeclaredInput],
    overridable: Sequence[DeclaredInput] = (),
) -> dict[str, np.ndarray]:
    """Return arrays as inputs of a model, in native byte order, without conversion.

    A .npy file cannot name some types, such as bfloat16. So an array of plain bytes is taken for
    the declared type if its width is the same. Raises ScatterXError if an input is missing or
    unknown, or if a type or shape is not the declared one.
    """
    declared = {d.name: d for d in (*required, *overridable)}
    for name in arrays:
        if name not in declared:
            there = ", ".join(d.name for d in required) or "none"
            raise ScatterXError(f"the model has no input {name!r}; it has {there}")
    missing = [f"{d.name} ({d.type} {d.shape})" for d in required if d.name not in arrays]
    if missing:
        raise ScatterXError(f"the model needs more inputs: {', '.join(missing)}")
    return {name: _validated(array, declared[name]) for name, array in arrays.items()}


def _validated(array: np.ndarray, declared: DeclaredInput) -> np.ndarray:
    array = np.asarray(array, order="C")
    kind = declared.type.removeprefix("tensor(").removesuffix(")")
    if f"tensor({kind})" != declared.type:
        raise ScatterXError(f"input {declared.name!r} is a {declared.type}, which no array is")
    wanted = ir.DataType[_NAMES.get(kind, kind.upper())]
    if wanted == ir.DataType.STRING:
        fits = array.dtype.kind in "OUT"
    else:
        dtype: np.dtype[Any] = np.dtype(wanted.numpy())
        if array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize:
            array = array.view(dtype)
        elif not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        fits = array.dtype == dtype
    if not fits:
        raise ScatterXError(
            f"input {declared.name!r} is {array.dtype}, and the model takes {wanted.name.lower()}; "
            "convert it first"
        )
    # ONNX Runtime shows no dims both for a scalar and for an undeclared rank.
    if declared.shape and not _is_of(array.shape, declared.shape):
        dims = ", ".join("?" if d is None else str(d) for d in declared.shape)
        raise ScatterXError(
            f"input {declared.name!r} has shape {list(array.shape)}, and the model takes [{dims}]"
        )
    return array


def _is_of(shape: Sequence[int], declared: Sequence[int | str | None]) -> bool:
    if len(shape) != len(declared):
        return False
    pairs = zip(shape, declared, strict=True)
    return all(not isinstance(d, int) or d < 0 or n == d for n, d in pairs)

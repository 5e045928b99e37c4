"""The files that were read: readers report them here, and writers refuse to replace them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Generic, TypeVar

V = TypeVar("V")


class KnownFiles(Generic[V]):
    """A value for each of some files.

    >>> files = KnownFiles[str]()
    >>> files.add(Path("model.onnx"), "the input")
    >>> files.find(Path("folder/../model.onnx")), files.find(Path("other.onnx"))
    ('the input', None)
    """

    def __init__(self) -> None:
        self._values: dict[object, V] = {}

    def add(self, path: Path, value: V) -> None:
        """Give a file a value, unless it has one."""
        for key in _keys(path):
            self._values.setdefault(key, value)

    def find(self, path: Path) -> V | None:
        """Return the value of a file, None if it has none."""
        return next((self._values[key] for key in _keys(path) if key in self._values), None)


def _keys(path: Path) -> tuple[object, ...]:
    place = os.path.normcase(os.path.realpath(path))
    with contextlib.suppress(OSError, ValueError):
        found = os.stat(path)
        if found.st_ino:
            return place, (found.st_dev, found.st_ino)
    return (place,)


Files = Mapping[Path, str]
"""Files by their absolute paths, and the role of each for the user: "the input"."""

_records: ContextVar[tuple[dict[Path, str], ...]] = ContextVar("_records", default=())


@contextlib.contextmanager
def recorded() -> Iterator[Files]:
    """Record the files that are read in this block; blocks around it record them too.

    >>> with recorded() as files:
    ...     note_read("model.onnx", "the input")
    >>> [(path.name, what) for path, what in files.items()]
    [('model.onnx', 'the input')]
    """
    record: dict[Path, str] = {}
    token = _records.set((*_records.get(), record))
    try:
        yield record
    finally:
        _records.reset(token)


def note_read(path: str | os.PathLike[str], what: str) -> None:
    """Report that a file is read, and its role for the user; the first report counts."""
    absolute = Path(os.path.abspath(path))
    for record in _records.get():
        record.setdefault(absolute, what)


def files_read() -> Files:
    """Return the files that were read in the blocks of `recorded` around the call."""
    found: dict[Path, str] = {}
    for record in _records.get():
        found.update(record)
    return found

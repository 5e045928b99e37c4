"""The files that were read: readers report them here, and writers refuse to replace them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path

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

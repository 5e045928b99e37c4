"""Files that are recognised under any of their names.

Two paths lead to one file if they have the same device and inode, as for hard links and on file
systems that ignore case, or if they have the same real path, as for a file that is not yet written.
"""

from __future__ import annotations

import contextlib
import os
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

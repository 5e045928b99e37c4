"""Draws that wait to be run under ONNX Runtime's default options, and what their outputs were.

Of the outputs only a hash is kept, and large inputs are kept in a file, since many draws wait.
"""

from __future__ import annotations

import hashlib
import pickle
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

import numpy as np

from onnx_scatterx.compare.draws import Draw

_LARGE = 1 << 20  # bytes of inputs that are kept in a file


def digest(outputs: Mapping[str, np.ndarray]) -> bytes:
    """Return a hash of outputs by name, in which any NaN equals any NaN, and no zero another one.

    >>> one, other = (np.array([1.0, np.nan]) for _ in range(2))
    >>> other.view(np.int64)[1] += 1  # the other bits of a NaN
    >>> digest({"y": one}) == digest({"y": other}) != digest({"y": -one})
    True
    """
    found = hashlib.blake2b(digest_size=32)
    for name, array in sorted(outputs.items()):
        found.update(repr((name, array.dtype.name, array.shape)).encode())
        if array.dtype.kind == "O":
            found.update(repr(array.tolist()).encode())
        else:
            found.update(_one_nan(array).data if array.size else b"")
    return found.digest()


def _one_nan(array: np.ndarray) -> np.ndarray:
    """Return the elements as whole bytes, with the same bits for each NaN."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    if flat.dtype.kind not in "iub" and "int" not in flat.dtype.name:
        is_nan = flat != flat
        if is_nan.any():
            flat = flat.copy()
            flat[is_nan] = np.nan
    return flat.view(np.uint8) if flat.dtype.itemsize else flat


@dataclass(frozen=True)
class Waiting:
    """A draw that the first model accepted, and the hash of its outputs.

    If ``only_fused``, it accepted the draw under the default options only. ``patience`` are the
    seconds that the second model may take. If ``place`` is not None, the inputs are there in a
    file. If ``empty``, dims of empty scan outputs differ.
    """

    draw: Draw
    outputs: bytes
    only_fused: bool
    patience: float
    place: int | None = None
    empty: bool = False


@dataclass
class WaitingDraws:
    """The draws that wait, the first of them first; large inputs are in a file of ``directory``."""

    directory: Path | None = None
    found: list[Waiting] = field(default_factory=list)
    _file: IO[bytes] | None = None

    def add(self, waiting: Waiting) -> None:
        """Add a draw. Its inputs are written to the file if they are large, and not the user's."""
        feeds = waiting.draw.feeds
        if self.directory is not None and waiting.draw.number >= 0 and _size(feeds) > _LARGE:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self.directory)  # noqa: SIM115
            place = self._file.seek(0, 2)
            pickle.dump(dict(feeds), self._file, protocol=5)
            waiting = replace(waiting, draw=replace(waiting.draw, feeds={}), place=place)
        self.found.append(waiting)

    def draw(self, waiting: Waiting) -> Draw:
        """Return a draw with its inputs."""
        if waiting.place is None:
            return waiting.draw
        assert self._file is not None
        self._file.seek(waiting.place)
        return replace(waiting.draw, feeds=pickle.load(self._file))

    def close(self) -> None:
        """Remove the file."""
        if self._file is not None:
            self._file.close()


def _size(feeds: Mapping[str, np.ndarray]) -> int:
    return sum(array.nbytes for array in feeds.values())

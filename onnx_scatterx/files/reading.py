"""Reads files that a user names, and records them, so that writers refuse to replace them.

Only regular files are read: to open a pipe without a writer would block, and a device such as
/dev/zero never ends.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tomllib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

from onnx_scatterx.errors import ScatterXError, about_file, one_line

AnyPath = str | os.PathLike[str]

_KINDS = (
    (stat.S_ISDIR, "it is a directory"),
    (stat.S_ISFIFO, "it is a pipe; write it to a file first"),
    (stat.S_ISSOCK, "it is a socket"),
    (stat.S_ISCHR, "it is a device"),
    (stat.S_ISBLK, "it is a device"),
)
MOST_TOML = 1 << 13  # bytes: tomllib takes cubic time for a long dotted key


def open_regular(path: AnyPath) -> BinaryIO:
    """Open a file to read its bytes; raise OSError if it is not a regular file.

    >>> open_regular("/dev/null")
    Traceback (most recent call last):
    OSError: [Errno 22] it is a device: '/dev/null'
    """
    # Without O_NONBLOCK, to open a pipe waits for a writer.
    flags = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

    def opener(name: str, mode: int) -> int:
        return os.open(name, mode | flags)

    if "\0" in os.fsdecode(path):
        raise OSError(errno.EINVAL, "its name has a NUL character", os.fspath(path))
    stream = open(path, "rb", opener=opener)  # noqa: SIM115 - the caller closes it
    mode = os.fstat(stream.fileno()).st_mode
    for is_kind, why in _KINDS:
        if is_kind(mode):
            stream.close()
            raise OSError(errno.EINVAL, why, os.fspath(path))
    return stream


_PIECE = 1 << 20  # bytes


@contextlib.contextmanager
def open_sized(path: AnyPath, most: int) -> Iterator[tuple[BinaryIO, int]]:
    """Open a file to read its bytes, and give its size.

    Raises OSError if it is not regular, or has more than ``most`` bytes.
    """
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > most:
            why = f"it has {size} bytes; at most {most} are allowed"
            raise OSError(errno.EFBIG, why, os.fspath(path))
        yield stream, size


def read_regular(path: AnyPath, most: int) -> bytes:
    """Return the bytes of a file; OSError if it is not regular, or has more than ``most`` bytes."""
    with open_sized(path, most) as (stream, size):
        return read_sized(stream, size, most)


def read_sized(stream: BinaryIO, size: int, most: int) -> bytes:
    """Return the bytes of a file with a known size, at most so many.

    Python reserves memory for as many as a read asks for. A file of the system may say that its
    size is 0, and a file may grow, so what follows is read, too.

    >>> import io
    >>> read_sized(io.BytesIO(b"abc"), 0, 9), read_sized(io.BytesIO(b"abc"), 3, 2)
    (b'abc', b'ab')
    """
    content = stream.read(min(most, size))
    more, left = list[bytes](), most - len(content)
    while left and (piece := stream.read(min(_PIECE, left))):
        more.append(piece)
        left -= len(piece)
    return b"".join((content, *more)) if more else content


def read_toml(path: AnyPath, most: int = MOST_TOML) -> dict[str, Any]:
    """Return the content of a TOML file; raise ScatterXError if it cannot be read.

    It has at most ``most`` bytes.
    """
    with about_file(path, "cannot be read"):
        content = read_regular(path, most)
    try:
        return parse_toml(content.decode(), most)
    except UnicodeDecodeError as error:
        raise ScatterXError(f"{path}: is not TOML: {one_line(error)}") from error
    except ScatterXError as error:
        raise ScatterXError(f"{path}: {error}") from error


def parse_toml(text: str, most: int = MOST_TOML) -> dict[str, Any]:
    """Return the content of a text in TOML; raise ScatterXError if it is not TOML.

    >>> parse_toml("keys = {max_rank = 4}")
    {'keys': {'max_rank': 4}}
    """
    if len(text) > most:
        raise ScatterXError(f"it has {len(text)} characters; at most {most} are allowed")
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise ScatterXError(f"is not TOML: {one_line(error)}") from error
    except RecursionError as error:
        raise ScatterXError("is nested too deeply") from error


V = TypeVar("V")


class KnownFiles(Generic[V]):
    """A dict of files: two paths of the same file are the same key.

    >>> files = KnownFiles[str]()
    >>> files.add(Path("model.onnx"), "the input")
    >>> files.find(Path("folder/../model.onnx")), files.find(Path("other.onnx"))
    ('the input', None)
    """

    def __init__(self) -> None:
        self._values: dict[object, V] = {}

    def add(self, path: Path, value: V) -> None:
        """Give a file a value, unless it already has a value."""
        for key in _keys(path):
            self._values.setdefault(key, value)

    def find(self, path: Path) -> V | None:
        """Return the value of a file; None if it does not have one."""
        return next((self._values[key] for key in _keys(path) if key in self._values), None)


def _keys(path: Path) -> tuple[object, ...]:
    real = os.path.normcase(os.path.realpath(path))
    with contextlib.suppress(OSError, ValueError):
        status = os.stat(path)
        if status.st_ino:
            return real, (status.st_dev, status.st_ino)
    return (real,)


Files = Mapping[Path, str]
"""Files by their absolute paths, and the role of each for the user: "the input"."""

_records: ContextVar[tuple[dict[Path, str], ...]] = ContextVar("_records", default=())


@contextlib.contextmanager
def recorded() -> Iterator[Files]:
    """Record the files that are read in this block. Outer blocks record these files, too.

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
    """Record a file that is read, with its role for the user; the first role of a file counts."""
    absolute = Path(os.path.abspath(path))
    for record in _records.get():
        record.setdefault(absolute, what)


def files_read() -> Files:
    """Return the files that were read in the blocks of `recorded` around the call."""
    return {path: what for record in _records.get() for path, what in record.items()}


def known_reads() -> KnownFiles[str]:
    """Return the roles of these files, which are found by any of their paths."""
    read = KnownFiles[str]()
    for path, what in files_read().items():
        read.add(path, what)
    return read

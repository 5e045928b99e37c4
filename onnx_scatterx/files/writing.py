"""Writes files that belong together: either all of them appear, or none. No input is replaced.

A file is first written to a temporary directory beside its place. When all files are complete, they
are renamed, while no other process renames files to these directories. If a file cannot be renamed,
the files that were replaced are put back. A new file has the mode of the file that it replaces. A
symbolic link is kept, and its target is replaced. A device or a pipe is written directly.
"""

from __future__ import annotations

import contextlib
import filecmp
import os
import shutil
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from onnx_scatterx.errors import ScatterXError, about_file
from onnx_scatterx.files.reading import AnyPath, Files, KnownFiles, files_read
from onnx_scatterx.processes.interrupts import postponed, unless_stopped
from onnx_scatterx.processes.scratch_folders import scratch


@dataclass(frozen=True)
class _StagedFile:
    temporary: Path
    path: Path
    replaces: bool


class Writing:
    """Files that are written together: they appear when the block ends without an error.

    A file that was read is never replaced: a file in ``read``, or one that a block of ``recorded``
    around the call has recorded.

    >>> with scratch() as directory:
    ...     with Writing() as writing:
    ...         writing.text(directory / "report.json", "{}", "the report")
    ...         before = [path.name for path in directory.glob("[!.]*")]
    ...     before, [path.name for path in directory.iterdir()]
    ([], ['report.json'])
    """

    def __init__(self, read: Files | None = None) -> None:
        self._read = dict(read or {})
        self._known_read = KnownFiles[str]()
        self._seen: set[Path] = set()  # the keys of _known_read
        self._claims: dict[Path, tuple[str, str]] = {}
        self._known_claims = KnownFiles[tuple[str, str]]()
        self._staged: list[_StagedFile] = []
        self._temporary: dict[Path, Path] = {}
        self._temporaries = contextlib.ExitStack()
        self._made = contextlib.ExitStack()

    def __enter__(self) -> Writing:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._made, self._temporaries:
            if kind is None:
                self._install()

    def claim(self, path: AnyPath, role: str) -> Path:
        """Claim a file that is to be written, and return its real path.

        ``role`` names the file for the user. The same claim may be made again. Raises ScatterXError
        if the path is a directory, if its directory does not exist, if the file was read, or if it
        is claimed for another role.
        """
        if "\0" in os.fsdecode(path):
            raise ScatterXError(f"{path}: the path of {role} has a NUL character")
        if not os.fspath(path):
            raise ScatterXError(f"the path of {role} is empty; name a file")
        real_path = Path(os.path.realpath(path))
        if real_path.is_dir() or os.fspath(path).endswith(os.sep):
            raise ScatterXError(f"{path}: is a directory; name a file in it")
        if not real_path.parent.is_dir():
            raise ScatterXError(f"{path}: the directory {real_path.parent} does not exist")
        claim = (os.fspath(path), role)
        other = self._known_claims.find(real_path)
        if other is not None and other != claim:
            raise ScatterXError(f"{path}: {role} is {other[1]}; choose another path")
        self._claims[real_path] = claim
        self._known_claims.add(real_path, claim)
        self._check(real_path)
        return real_path

    def keep(self, path: Path, what: str) -> None:
        """Note that a file exists already, and must not be replaced."""
        self._read.setdefault(path, what)

    def check(self) -> None:
        """Raise ScatterXError if a claimed file was read, or must not be replaced."""
        for real_path in self._claims:
            self._check(real_path)

    def _check(self, real_path: Path) -> None:
        what = self._files_read().find(real_path)
        if what is not None:
            path, role = self._claims[real_path]
            raise ScatterXError(f"{path}: {role} is {what}; choose another path")

    def _files_read(self) -> KnownFiles[str]:
        for path, what in {**self._read, **files_read()}.items():
            if path not in self._seen:
                self._seen.add(path)
                self._known_read.add(path, what)
        return self._known_read

    def is_free(self, path: Path) -> bool:
        """Return whether a file may be written at a path."""
        known = (self._files_read().find(path), self._known_claims.find(path))
        return known == (None, None) and not path.is_dir()

    def stage(self, path: Path, *, replaces: bool = True) -> Path:
        """Return the temporary file for a claimed file, given the real path of the claimed file.

        Without ``replaces``, a file that exists at this path in the end must have the same content.
        """
        if path.exists() and not path.is_file():  # a device or a pipe
            return path
        directory = self._temporary_in(path.parent)
        self._staged.append(_StagedFile(directory / path.name, path, replaces))
        return directory / path.name

    def unnamed(self, directory: Path) -> Path:
        """Return a temporary file for a file in a directory whose name depends on its content."""
        return self._temporary_in(directory).with_name("unnamed")

    def text(self, path: AnyPath, text: str, role: str) -> None:
        """Claim a file, and write a text to it."""
        with about_file(path, "cannot be written"):
            self.stage(self.claim(path, role)).write_text(text, encoding="utf-8")

    def drop(self) -> None:
        """Forget all written files: none of them appears."""
        self._staged.clear()

    def make_directory(self, path: Path) -> None:
        """Create a directory and its parents; if writing fails, the created ones are removed."""
        real_path = Path(os.path.realpath(path))
        while True:
            missing = [p for p in (real_path, *real_path.parents) if not p.exists()]
            for directory in reversed(missing):
                with postponed(), contextlib.suppress(FileExistsError):
                    directory.mkdir()
                    self._made.callback(_remove_empty, directory)
            with contextlib.suppress(FileNotFoundError):  # another process has removed it again
                self._temporary_in(real_path)
                return

    def _temporary_in(self, directory: Path) -> Path:
        """Return a temporary directory in a directory, which other processes then do not remove."""
        if directory not in self._temporary:
            self._temporary[directory] = self._temporaries.enter_context(scratch(directory))
        return self._temporary[directory]

    def _install(self) -> None:
        self.check()
        unless_stopped()
        directories = {staged.path.parent for staged in self._staged}
        with _locked(directories), postponed(), contextlib.ExitStack() as undo:
            for staged in self._staged:
                with about_file(staged.path, "cannot be written"):
                    _move(staged, undo)
            undo.pop_all()
            self._made.pop_all()


def write_text(path: AnyPath, text: str) -> None:
    """Write a text file; on an error, the file stays as it was."""
    with Writing() as writing:
        writing.text(path, text, "the output")


def same_content(one: Path, other: Path) -> bool:
    """Return whether two paths lead to the same file, or to files of the same bytes."""
    return one.samefile(other) or filecmp.cmp(one, other, shallow=False)


@contextlib.contextmanager
def _locked(directories: Collection[Path]) -> Iterator[None]:
    """Hold the locks of directories; wait until no other process holds them.

    Without such locks (Windows, some network file systems, browsers), do nothing.
    """
    with contextlib.ExitStack() as held:
        if sys.platform != "win32":
            for directory in sorted(directories):
                with contextlib.suppress(ImportError, OSError):
                    import fcntl

                    file = os.open(directory, os.O_RDONLY)
                    held.callback(os.close, file)
                    fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _move(staged: _StagedFile, undo: contextlib.ExitStack) -> None:
    if not staged.replaces:
        _add(staged, undo)
    elif staged.path.exists():
        _exchange(staged, undo)
    else:
        os.replace(staged.temporary, staged.path)
        undo.callback(staged.path.unlink, missing_ok=True)


def _add(staged: _StagedFile, undo: contextlib.ExitStack) -> None:
    """Rename a file to its place, unless a file of the same content is there."""
    try:
        os.link(staged.temporary, staged.path)
    except FileExistsError:  # also if another process made it at this moment
        pass
    except OSError:  # the file system has no hard links
        if not staged.path.exists():
            os.replace(staged.temporary, staged.path)
            undo.callback(staged.path.unlink, missing_ok=True)
            return
    else:
        undo.callback(staged.path.unlink, missing_ok=True)
        staged.temporary.unlink()
        return
    if not same_content(staged.temporary, staged.path):
        raise ScatterXError(f"{staged.path}: another file of this name was written meanwhile")


def _exchange(staged: _StagedFile, undo: contextlib.ExitStack) -> None:
    """Replace a file; the old file stays in the temporary directory until all are replaced."""
    shutil.copymode(staged.path, staged.temporary)
    aside = staged.temporary.parent.with_name("old")
    aside.mkdir(exist_ok=True)
    old = aside / staged.path.name
    try:
        os.link(staged.path, old)
    except OSError:  # no hard link is possible here, or to a file of another user
        os.replace(staged.path, old)
    undo.callback(_put_back, old, staged.path)
    os.replace(staged.temporary, staged.path)


def _put_back(old: Path, path: Path) -> None:
    with about_file(path, "its old content cannot be put back"):
        os.replace(old, path)


def _remove_empty(directory: Path) -> None:
    with contextlib.suppress(OSError):  # another process has written files there
        directory.rmdir()

"""Compares a source distribution with the files that git tracks: they must be the same."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path, PurePosixPath


def tracked(root: Path) -> set[str]:
    """Return the files that git tracks, with those behind a link to a folder in its place."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True, text=True
    ).stdout
    names = {name for name in listed.split("\0") if name}
    for link in [name for name in names if (root / name).is_symlink()]:
        target = PurePosixPath(
            os.path.normpath(PurePosixPath(link).parent / os.readlink(root / link))
        )
        names.remove(link)
        names |= {
            str(PurePosixPath(link) / PurePosixPath(name).relative_to(target))
            for name in names
            if PurePosixPath(name).is_relative_to(target)
        }
    return names


def held(sdist: Path) -> set[str]:
    """Return the files in a source distribution, without its folder and its metadata."""
    with tarfile.open(sdist) as archive:
        members = [m.name.partition("/")[2] for m in archive.getmembers() if not m.isdir()]
    return set(members) - {"PKG-INFO"}


def faults(sdist: Path, root: Path) -> list[str]:
    """Return the files that are only in one of them, a line each."""
    wanted, found = tracked(root), held(sdist)
    return [
        *(f"{name} is not tracked" for name in sorted(found - wanted)),
        *(f"{name} is missing" for name in sorted(wanted - found)),
    ]

"""Unpacks packages of Debian, with all that they need, into a folder: nothing is installed.

The packages come from the machine's own archive, for any processor that the archive supports. This
needs no special rights, and does not change the machine: apt keeps its lists beside the packages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path


def unpack(packages: tuple[str, ...], root: Path, processor: str = "") -> Path:
    """Unpack the packages into ``root`` and return it; packages from an earlier call are kept.

    Without a processor, the packages are for this machine; installed packages are skipped.
    """
    mark = root / "packages.txt"
    if mark.is_file() and mark.read_text("utf-8").split() == list(packages):
        return root
    shutil.rmtree(root, ignore_errors=True)
    state = root.with_name(f"{root.name}.apt")
    for folder in (state / "lists" / "partial", state / "cache" / "archives" / "partial", root):
        folder.mkdir(parents=True, exist_ok=True)
    options = _options(state, processor)
    # A source may lack this processor, or be out of reach; another source may have the packages.
    _run("apt-get", *options, "update", may_fail=True)
    words = ("install", "--download-only", "--no-install-recommends", "--yes", *packages)
    _run("apt-get", *options, *words)
    for package in sorted((state / "cache" / "archives").glob("*.deb")):
        _run("dpkg", "-x", str(package), str(root))
    shutil.rmtree(state)
    _turn_links(root)
    mark.write_text("\n".join(packages), "utf-8")
    return root


def _turn_links(root: Path) -> None:
    """Make absolute links point to the unpacked files."""
    for link in root.rglob("*"):
        if link.is_symlink() and os.readlink(link).startswith("/"):
            inside = root / os.readlink(link).lstrip("/")
            if inside.exists():
                link.unlink()
                link.symlink_to(os.path.relpath(inside, link.parent))


def _options(state: Path, processor: str) -> list[str]:
    settings = {
        "Dir::State::lists": str(state / "lists"),
        "Dir::Cache": str(state / "cache"),
        "APT::Sandbox::User": "root",  # else apt looks for a user who can read the folder
        "Debug::NoLocking": "1",
        "Acquire::Retries": "2",
    }
    if processor:
        (state / "status").touch()
        settings["Dir::State::status"] = str(state / "status")
        settings["APT::Architecture"] = settings["APT::Architectures"] = processor
    return ["-qq", *(word for item in settings.items() for word in ("-o", "=".join(item)))]


def _run(*words: str, may_fail: bool = False) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    try:
        done = subprocess.run(words, env=environment, capture_output=True, text=True)
    except FileNotFoundError:
        sys.exit(f"{words[0]} is needed: the packages are Debian's")
    if done.returncode and not may_fail:
        told = re.sub(r"\w+://\S*", "ARCHIVE", done.stdout + done.stderr)
        sys.exit(f"{words[0]} {words[-1]}:\n{told}")

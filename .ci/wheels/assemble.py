"""Puts a library into the wheel that has none, and gives it the tag of its platform."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from wheels.platforms import Platform


def assemble(pure: Path, library: bytes, platform: Platform, work: Path) -> Path:
    """Return the wheel of a platform, made in ``work`` from the wheel without a library.

    Its bytes follow from those that it is made of, and from SOURCE_DATE_EPOCH.
    """
    shutil.rmtree(work, ignore_errors=True)
    _wheel("unpack", "--dest", str(work), str(pure))
    (root,) = work.iterdir()
    (root / "onnx_scatterx" / platform.library).write_bytes(library)
    (root / "onnx_scatterx" / "not_built.txt").unlink()  # why there was none
    (about,) = root.glob("*.dist-info/WHEEL")
    text = about.read_text(encoding="utf-8")
    about.write_text(text.replace("Root-Is-Purelib: true", "Root-Is-Purelib: false"), "utf-8")
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.name == platform.library else 0o644)
    _wheel("pack", "--dest-dir", str(work), str(root))
    (packed,) = work.glob("*.whl")
    if platform.name.startswith("linux-"):
        packed = _tagged(packed, f"linux_{platform.targets[0].machine}")
        _hold(packed, platform)
    return _tagged(packed, platform.tag)


def _hold(wheel: Path, platform: Platform) -> None:
    """Hold a wheel for Linux against the policies of manylinux."""
    done = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(wheel)], capture_output=True, text=True
    )
    found = re.search(r'consistent with\s+the\s+following\s+platform\s+tag:\s+"(\w+)"', done.stdout)
    tag = platform.tag.split(".")[0]
    if done.returncode or found is None or found[1] != tag:
        sys.exit(f"auditwheel does not find {wheel.name} to be {tag}:\n{done.stdout}{done.stderr}")


def _tagged(wheel: Path, tag: str) -> Path:
    """Give a wheel another platform tag, and return its new path."""
    told = _wheel("tags", "--remove", "--platform-tag", tag, str(wheel))
    return wheel.with_name(told.split()[-1])


def _wheel(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "wheel", *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"wheel {' '.join(words)}:\n{done.stdout}{done.stderr}")
    return done.stdout

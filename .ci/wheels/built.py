"""What was built: the wheels and the source distribution in dist/, and tools that use them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from wheels.platforms import Platform

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"


def wheel_of(platform: Platform) -> Path:
    """Return the wheel of a platform."""
    tag = platform.tag.split(".")[0]
    found = [
        wheel for wheel in DIST.glob("*.whl") if tag in wheel.stem.replace("-", ".").split(".")
    ]
    if len(found) != 1:
        sys.exit(f"dist/ has {len(found)} wheels for {platform.name}: `just wheels` builds one")
    return found[0]


def pure_wheel() -> Path:
    """Return the wheel without a library, which is for all other platforms."""
    found = list(DIST.glob("*-py3-none-any.whl"))
    if len(found) != 1:
        sys.exit(f"dist/ has {len(found)} wheels for any platform: `just wheels` builds one")
    return found[0]


def source_archive() -> Path:
    """Return the source distribution."""
    found = list(DIST.glob("*.tar.gz"))
    if len(found) != 1:
        sys.exit(f"dist/ has {len(found)} source distributions: `just wheels` builds one")
    return found[0]


def tests_alone(work: Path) -> Path:
    """Return the source distribution, unpacked, without the package: that is the installed one."""
    shutil.rmtree(work / "source", ignore_errors=True)
    with tarfile.open(source_archive()) as content:
        content.extractall(work / "source", filter="data")
    (source,) = (work / "source").iterdir()
    shutil.rmtree(source / "onnx_scatterx")
    return source


def tool(*words: str) -> str:
    """Run a module of this Python, and return its output; if it fails, end this process."""
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}:\n{done.stdout}{done.stderr}")
    return done.stdout

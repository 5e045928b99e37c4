"""Compiles the library, or the kernel's tests, for any platform with the compiler of zig."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from wheels.fat import fat
from wheels.platforms import Platform, Target

_CACHE = Path(__file__).parents[2] / "build" / "wheels" / "zig"


def compile_library(source: Path, platform: Platform, work: Path) -> bytes:
    """Return the library of a platform, compiled from ``custom_ops`` of ``source``."""
    made = [
        compile_all(source, target, work / target.triple) / platform.library
        for target in platform.targets
    ]
    libraries = [path.read_bytes() for path in made]
    return libraries[0] if len(libraries) == 1 else fat(libraries)


def compile_all(source: Path, target: Target, build: Path, *, tests: bool = False) -> Path:
    """Compile for one target, also the kernel's tests if ``tests``; return the folder."""
    compiler = [sys.executable, "-m", "ziglang", "c++", "-target", target.triple]
    _run(
        "cmake", "-S", source / "custom_ops", "-B", build, "-G", "Ninja",
        f"-DCMAKE_SYSTEM_NAME={target.system}",
        f"-DCMAKE_SYSTEM_PROCESSOR={target.machine}",
        f"-DCMAKE_CXX_COMPILER={';'.join(compiler)}",
        "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_MODULE_LINKER_FLAGS=-s",
        "-DCMAKE_SHARED_LINKER_FLAGS=-s",
        "-DSCATTERX_ABI_CHECK=OFF",
        f"-DSCATTERX_TESTS={'ON' if tests else 'OFF'}",
    )  # fmt: skip
    _run("cmake", "--build", build)
    return build


def _run(*words: str | Path) -> None:
    """Run a command; if it fails, its output is shown."""
    beside = Path(sys.executable).parent  # cmake and ninja of the same environment
    caches = {f"ZIG_{which}_CACHE_DIR": str(_CACHE) for which in ("GLOBAL", "LOCAL")}
    path = f"{beside}{os.pathsep}{os.environ['PATH']}"
    environment = {**caches, **os.environ, "PATH": path}
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}")

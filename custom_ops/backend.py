"""Builds the package by scikit-build-core, without the library if there is no C++ compiler.

Each wheel is built in a directory of its own, so several builds of one checkout do not meet. Only a
missing compiler leads to a package without the library. This package has a file with the reason.
Any other failure is an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

REASON = "onnx_scatterx/not_built.txt"  # onnx_scatterx/runtime/library.py reads it


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    """Return the packages that the build needs; nothing is compiled for a source distribution."""
    return list(_hook("get_requires_for_build_sdist")(config_settings))


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return CMake and Ninja, if they are not installed."""
    return list(_hook("get_requires_for_build_wheel")(config_settings))


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """Return CMake and Ninja, if they are not installed."""
    settings, _ = _settings(config_settings, _EDITABLE)
    return list(_hook("get_requires_for_build_editable")(settings))


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """Return the name of the source distribution."""
    return str(_hook("build_sdist")(sdist_directory, config_settings))


def build_wheel(wheel_directory: str, config_settings: Any = None, _: Any = None) -> str:
    """Return the name of the wheel. Its build directory is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        return _built("build_wheel", wheel_directory, config_settings, Path(folder))


def build_editable(wheel_directory: str, config_settings: Any = None, _: Any = None) -> str:
    """Return the name of the wheel that refers to this checkout.

    Its build directory is kept, because such an installation may be rebuilt.
    """
    return _built("build_editable", wheel_directory, config_settings, _EDITABLE)


# Each environment has its own directory, as several may be built at the same time.
_EDITABLE = Path("build/editable", hashlib.sha256(sys.prefix.encode()).hexdigest()[:12])


def _hook(name: str) -> Callable[..., Any]:
    from scikit_build_core import build  # installed only while a package is built

    if __spec__ is not None and __spec__.cached:  # Python has written this module's bytecode there
        with contextlib.suppress(OSError):
            os.unlink(__spec__.cached)
            os.rmdir(os.path.dirname(__spec__.cached))
    hook: Callable[..., Any] = getattr(build, name)
    return hook


def _built(hook: str, wheels: str, config_settings: Any, folder: Path) -> str:
    settings, folder = _settings(config_settings, folder)
    try:
        name = _hook(hook)(wheels, settings)
    except SystemExit:  # from CMake, which has printed the reason
        reason = missing_compiler(folder)
        if reason is None:
            raise
        print(f"*** The package is built without the ScatterX library: {reason}", flush=True)
    else:
        if not name.endswith("-none-any.whl"):
            return str(name)
        Path(wheels, name).unlink()
        reason = "this package was built with wheel.cmake=false"
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "reason")  # a file named as in REASON would be linked by an editable one
        file.write_text(f"{reason}\n", encoding="utf-8")
        file.chmod(0o644)  # the same wheel under every umask
        pure = {"wheel.cmake": "false", f"wheel.force-include.{file}": REASON}
        return str(_hook(hook)(wheels, {**settings, **pure}))


def _settings(given: Mapping[str, Any] | None, folder: Path) -> tuple[dict[str, Any], Path]:
    """Return settings with a build directory, and this directory: the user's, if one is given."""
    chosen = os.environ.get("SKBUILD_BUILD_DIR") or (given or {}).get("build-dir")
    if chosen:
        return {**(given or {})}, Path(chosen)
    template = re.sub("[{}]", r"\g<0>\g<0>", str(folder))
    return {**(given or {}), "build-dir": template}, folder


def missing_compiler(folder: Path) -> str | None:
    """Return in which way the C++ compiler is missing, or None if it is there.

    A compiler that tells its version, but fails, is not missing: its flags may be wrong, or the
    disk full. One that does not tell its version counts as missing, as the placeholder of macOS.
    """
    cache = folder / "CMakeCache.txt"
    if not cache.is_file():
        return None
    text = cache.read_text(encoding="utf-8", errors="replace")
    known = dict(re.findall(r"^(\w+):\w+=(.*)$", text, re.M))
    if "SCATTERX_COMPILER_WORKS" in known:
        return None
    # On Windows, nmake is a part of the compiler.
    if known.get("CMAKE_MAKE_PROGRAM", "").endswith("-NOTFOUND") and sys.platform != "win32":
        return None
    compiler = known.get("CMAKE_CXX_COMPILER", "-NOTFOUND")
    if compiler.endswith("-NOTFOUND"):
        chosen = os.environ.get("CXX")
        return "no C++ compiler was found" + (f" (CXX is {chosen})" if chosen else "")
    asked = [compiler] if sys.platform == "win32" else [compiler, "--version"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, errors="replace", timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the C++ compiler {compiler} does not run ({error})"
    if done.returncode == 0:
        return None
    told = " ".join(done.stderr.split())[:200]
    return f"the C++ compiler {compiler} does not tell its version" + (f" ({told})" if told else "")

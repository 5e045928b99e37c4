"""Finds the native ScatterX library, or says why this installation has none."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from onnx_scatterx.errors import ScatterXError, one_line
from onnx_scatterx.files import note_read

_ENDINGS = {"darwin": ".dylib", "win32": ".dll"}  # by sys.platform; .so elsewhere
_REASON = "not_built.txt"  # what custom_ops/backend.py writes
REMEDY = "install a wheel for this platform, or again from source where there is a C++ compiler"


def library_path() -> Path:
    """Return the file of the ScatterX library, for ``register_custom_ops_library``.

    If you have built the library yourself, the variable ONNX_SCATTERX_LIBRARY names its file.

    Raises:
        ScatterXError: this installation lacks the library; the message says why.

    Example:
        >>> options = onnxruntime.SessionOptions()  # doctest: +SKIP
        >>> options.register_custom_ops_library(str(library_path()))  # doctest: +SKIP

    """
    path = _chosen() or _installed(_name())
    if path is None:
        raise ScatterXError(f"{missing_library()}: {REMEDY}, or run without it (--no-library)")
    note_read(path, "the ScatterX library")
    return path


def missing_library() -> str | None:
    """Return that this installation has no library, and why; None if it has one.

    Raises:
        ScatterXError: ONNX_SCATTERX_LIBRARY names a file that cannot be the library.

    """
    if _chosen() or _installed(_name()):
        return None
    told = f"this installation has no ScatterX library ({_name()})"
    reason = _installed(_REASON)
    if reason is None:
        return told
    return f"{told}, because {one_line(reason.read_text(encoding='utf-8', errors='replace'))}"


def _name() -> str:
    return f"scatterx_ops{_ENDINGS.get(sys.platform, '.so')}"


def _chosen() -> Path | None:
    """Return the file that ONNX_SCATTERX_LIBRARY names."""
    chosen = os.environ.get("ONNX_SCATTERX_LIBRARY")
    if not chosen:
        return None
    path = Path(chosen)
    if not path.is_file():
        raise ScatterXError(f"ONNX_SCATTERX_LIBRARY names {path}, which is not a file")
    if not is_utf8(chosen):
        raise ScatterXError(f"ONNX Runtime loads no library whose path is not UTF-8: {path}")
    return path


def _installed(name: str) -> Path | None:
    """Return a file of the package that was built, not tracked."""
    # A process that only runs models asks for no file, and needs neither of these modules.
    import importlib.metadata
    import importlib.resources

    beside = importlib.resources.files("onnx_scatterx").joinpath(name)
    if beside.is_file():
        return Path(str(beside))
    # Python may have found a source tree first: then the file is in the installed package.
    try:
        files = importlib.metadata.distribution("onnx-scatterx").files or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    found = (Path(str(file.locate())) for file in files if file.name == name)
    return next((path for path in found if path.is_file()), None)


def is_utf8(path: str) -> bool:
    r"""Return whether a path is valid UTF-8; libraries in C++ take no other paths.

    >>> is_utf8("größe.onnx"), is_utf8(os.fsdecode(b"\xff.onnx"))
    (True, False)
    """
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True

"""Whether ONNX Runtime is installed, and the path of the C++ library beside the package.

There `verify` runs models in the EVALUATOR.
"""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import os
import sys
from pathlib import Path

from onnx_scatterx.errors import MissingRuntimeError, ScatterXError, one_line
from onnx_scatterx.system.reading import is_utf8, note_read

EVALUATOR = "onnx's reference evaluator"


def needed() -> None:
    """Raise MissingRuntimeError if ONNX Runtime cannot be imported."""
    try:
        import onnxruntime  # noqa: F401 - is it there?
    except ImportError as error:
        told = f"ONNX Runtime is missing ({one_line(error)}): pip install onnxruntime"
        raise MissingRuntimeError(told) from error


_ENDINGS = {"darwin": ".dylib", "win32": ".dll"}  # by sys.platform; .so elsewhere


def library_path() -> Path:
    """Return the file of the ScatterX library, for ``register_custom_ops_library``.

    The variable ONNX_SCATTERX_LIBRARY names another file, for those who build it themselves.

    Raises:
        ScatterXError: this installation lacks the library, because it was built without a compiler.

    Example:
        >>> options = onnxruntime.SessionOptions()  # doctest: +SKIP
        >>> options.register_custom_ops_library(str(library_path()))  # doctest: +SKIP

    """
    path = _library_path()
    note_read(path, "the ScatterX library")
    return path


def _library_path() -> Path:
    chosen = os.environ.get("ONNX_SCATTERX_LIBRARY")
    if chosen:
        path = Path(chosen)
        if not path.is_file():
            raise ScatterXError(f"ONNX_SCATTERX_LIBRARY names {path}, which is not a file")
        if not is_utf8(chosen):
            raise ScatterXError(f"ONNX Runtime loads no library whose path is not UTF-8: {path}")
        return path
    name = f"scatterx_ops{_ENDINGS.get(sys.platform, '.so')}"
    beside = Path(str(importlib.resources.files("onnx_scatterx"))) / name
    if beside.is_file():
        return beside
    # Python found a source tree first: the library is in the installed package.
    try:
        files = importlib.metadata.distribution("onnx-scatterx").files or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == name and Path(str(file.locate())).is_file():
            return Path(str(file.locate()))
    raise ScatterXError(
        f"this installation has no ScatterX library ({name}): install a wheel for this platform, "
        "or again from source where there is a C++ compiler, or run without it (--no-library)"
    )

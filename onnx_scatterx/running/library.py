"""Where the C++ library is: beside the installed package."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import os
from pathlib import Path

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files.reading import is_utf8
from onnx_scatterx.files.record import note_read

_NAME = "scatterx_ops.so"


def library_path() -> Path:
    """Return the file of the ScatterX library, for ``register_custom_ops_library``.

    The variable ONNX_SCATTERX_LIBRARY names another file, for those who build it themselves.
    Raises ScatterXError where the library was not built.

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
            raise ScatterXError(f"ONNX_SCATTERX_LIBRARY names {path}, which is no file")
        if not is_utf8(chosen):
            raise ScatterXError(f"ONNX Runtime loads no library whose path is not UTF-8: {path}")
        return path
    beside = Path(str(importlib.resources.files("onnx_scatterx"))) / _NAME
    if beside.is_file():
        return beside
    # Python found a source tree first: the library stands in the installed package.
    try:
        files = importlib.metadata.distribution("onnx-scatterx").files or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == _NAME and Path(str(file.locate())).is_file():
            return Path(str(file.locate()))
    raise ScatterXError(
        "the ScatterX library was not built: install onnx-scatterx where there is a C++ compiler, "
        "or run without the library (--no-library)"
    )

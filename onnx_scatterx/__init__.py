"""Rewrites the scatter nodes of ONNX models to slices, provably, and runs the rest fast.

Beside the names here there are ``onnx_scatterx.theory`` (picks, transformers, scatterings,
verdicts, drawings, on NumPy, and in ``theory.conventions`` how frameworks say "scatter"),
``export`` (ONNX models of scatterings), ``passes`` (the optimizer as a pass of onnx_ir),
``rewrites`` (the rules).
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx_scatterx import export as export
    from onnx_scatterx import passes as passes
    from onnx_scatterx import rewrites as rewrites
    from onnx_scatterx import theory as theory
    from onnx_scatterx.api import Result, inspect, optimize
    from onnx_scatterx.batch import optimize_many
    from onnx_scatterx.benchmarking import bench
    from onnx_scatterx.errors import MissingConsumerError, ModelError, ScatterXError, VerifyError
    from onnx_scatterx.explanation import advise, explain
    from onnx_scatterx.runtime.library import library_path
    from onnx_scatterx.runtime.session import session
    from onnx_scatterx.text.reasons import Reason
    from onnx_scatterx.verification import verify

    __version__: str

__all__ = [
    "MissingConsumerError",
    "ModelError",
    "Reason",
    "Result",
    "ScatterXError",
    "VerifyError",
    "__version__",
    "advise",
    "bench",
    "explain",
    "inspect",
    "library_path",
    "optimize",
    "optimize_many",
    "session",
    "verify",
]

if os.path.isfile(os.path.join(os.path.dirname(__file__), "rewrites")):
    # The folder of the rules is a link. A clone without symbolic links has a text file there.
    raise ImportError(
        "onnx_scatterx/rewrites must be a link to the folder rewrites, and is a text file: git "
        "made this clone without symbolic links. In the clone, run `git config core.symlinks true` "
        "and `git checkout -- onnx_scatterx/rewrites`, and install again (on Windows, turn on "
        "Developer Mode first)"
    )

# Heavy libraries are imported when a name is first used.
_HOMES = {
    "MissingConsumerError": "errors",
    "ModelError": "errors",
    "Reason": "text.reasons",
    "Result": "api",
    "ScatterXError": "errors",
    "VerifyError": "errors",
    "advise": "explanation",
    "bench": "benchmarking",
    "explain": "explanation",
    "inspect": "api",
    "library_path": "runtime.library",
    "optimize": "api",
    "optimize_many": "batch",
    "session": "runtime.session",
    "verify": "verification",
}
_MODULES = ("export", "passes", "rewrites", "theory")


def __getattr__(name: str) -> Any:
    found: Any
    if name in _HOMES:
        found = getattr(importlib.import_module(f"onnx_scatterx.{_HOMES[name]}"), name)
    elif name in _MODULES:
        found = importlib.import_module(f"onnx_scatterx.{name}")
    elif name == "__version__":
        found = _version()
    else:
        raise AttributeError(f"module 'onnx_scatterx' has no attribute {name!r}")
    globals()[name] = found
    return found


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("onnx-scatterx")
    except PackageNotFoundError as error:
        raise AttributeError("onnx-scatterx is not installed, so it has no version") from error


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])

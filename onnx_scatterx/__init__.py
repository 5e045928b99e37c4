"""Removes scatter nodes from ONNX models, if the result is proven equal, and runs the rest fast.

Besides the names here there are ``onnx_scatterx.theory`` (picks, transformers, scatterings,
verdicts, drawings, on NumPy, and in ``theory.conventions`` the scatters of frameworks), ``export``
(ONNX models of scatterings), ``passes`` (the optimizer as a pass of onnx_ir), ``rewrites`` (the
rules), ``torch`` (PyTorch's programs without scatters).
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_scatterx import export as export
    from onnx_scatterx import passes as passes
    from onnx_scatterx import rewrites as rewrites
    from onnx_scatterx import theory as theory
    from onnx_scatterx import torch as torch
    from onnx_scatterx.doors.api import Result, inspect, optimize
    from onnx_scatterx.doors.batch import inspect_many, optimize_many
    from onnx_scatterx.doors.batch.summary import Summary
    from onnx_scatterx.doors.benchmarking import Benchmark, bench
    from onnx_scatterx.doors.bound_cache import cache_pairs, check_bound_cache
    from onnx_scatterx.doors.devices import check
    from onnx_scatterx.doors.explanation import advise, explain
    from onnx_scatterx.doors.extraction import Part, extract
    from onnx_scatterx.errors import (
        MissingConsumerError,
        MissingRuntimeError,
        ModelError,
        ScatterXError,
        VerifyError,
    )
    from onnx_scatterx.judges.verification import DifferenceError, Verification, verify
    from onnx_scatterx.optimizer.reports.entries import Action, GatherReport, ScatterReport
    from onnx_scatterx.optimizer.reports.report import Report, TargetError
    from onnx_scatterx.optimizer.targets.target import Target
    from onnx_scatterx.passes import RemoveScatters
    from onnx_scatterx.runtime.library import library_path
    from onnx_scatterx.runtime.opened import run_model
    from onnx_scatterx.runtime.session import session
    from onnx_scatterx.text.reasons import Reason, Refusal

    __version__: str

__all__ = [
    "Action",
    "Benchmark",
    "DifferenceError",
    "GatherReport",
    "MissingConsumerError",
    "MissingRuntimeError",
    "ModelError",
    "Part",
    "Reason",
    "Refusal",
    "RemoveScatters",
    "Report",
    "Result",
    "ScatterReport",
    "ScatterXError",
    "Summary",
    "Target",
    "TargetError",
    "Verification",
    "VerifyError",
    "__version__",
    "advise",
    "bench",
    "cache_pairs",
    "check",
    "check_bound_cache",
    "explain",
    "extract",
    "inspect",
    "inspect_many",
    "library_path",
    "optimize",
    "optimize_many",
    "run_model",
    "session",
    "verify",
]

if os.path.isfile(os.path.join(os.path.dirname(__file__), "rewrites")):
    # The folder of the rules is a link. A clone without symbolic links has a text file instead.
    raise ImportError(
        "onnx_scatterx/rewrites must be a link to the folder rewrites, and is a text file: git "
        "made this clone without symbolic links. In the clone, run `git config core.symlinks true` "
        "and `git checkout -- onnx_scatterx/rewrites`, and install again (on Windows, turn on "
        "Developer Mode first)"
    )

# Heavy libraries are imported when a name is first used.
_HOMES = {
    "Action": "optimizer.reports.entries",
    "Benchmark": "doors.benchmarking",
    "DifferenceError": "judges.verification",
    "GatherReport": "optimizer.reports.entries",
    "MissingConsumerError": "errors",
    "MissingRuntimeError": "errors",
    "ModelError": "errors",
    "Part": "doors.extraction",
    "Reason": "text.reasons",
    "Refusal": "text.reasons",
    "RemoveScatters": "passes",
    "Report": "optimizer.reports.report",
    "Result": "doors.api",
    "ScatterReport": "optimizer.reports.entries",
    "ScatterXError": "errors",
    "Summary": "doors.batch.summary",
    "Target": "optimizer.targets.target",
    "TargetError": "optimizer.reports.report",
    "Verification": "judges.verification",
    "VerifyError": "errors",
    "advise": "doors.explanation",
    "bench": "doors.benchmarking",
    "cache_pairs": "doors.bound_cache",
    "check": "doors.devices",
    "check_bound_cache": "doors.bound_cache",
    "explain": "doors.explanation",
    "extract": "doors.extraction",
    "inspect": "doors.api",
    "inspect_many": "doors.batch",
    "library_path": "runtime.library",
    "optimize": "doors.api",
    "optimize_many": "doors.batch",
    "run_model": "runtime.opened",
    "session": "runtime.session",
    "verify": "judges.verification",
}
_MODULES = ("export", "passes", "rewrites", "theory", "torch")

if not TYPE_CHECKING:  # else a misspelt name would be one of an unknown type

    def __getattr__(name: str) -> object:
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

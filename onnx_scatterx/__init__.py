"""Removes scatter nodes from ONNX models, if the result is proven equal, and runs the rest fast.

Five modules have more public names: ``onnx_scatterx.passes`` (the optimizer as a pass of onnx_ir),
``rewrites`` (the rules), ``torch`` (PyTorch's programs without scatters), ``theory`` (the paper on
NumPy: picks, transformers, scatterings, verdicts, drawings, and the scatters of frameworks in
``theory.conventions``), and ``export`` (ONNX models of scatterings).
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
    from onnx_scatterx.compare.result import DifferenceError as DifferenceError
    from onnx_scatterx.compare.result import Verification as Verification
    from onnx_scatterx.compare.verifying import verify as verify
    from onnx_scatterx.doors.api.optimization import inspect as inspect
    from onnx_scatterx.doors.api.optimization import optimize as optimize
    from onnx_scatterx.doors.api.result import Result as Result
    from onnx_scatterx.doors.api.result import TargetError as TargetError
    from onnx_scatterx.doors.batch.many import inspect_many as inspect_many
    from onnx_scatterx.doors.batch.many import optimize_many as optimize_many
    from onnx_scatterx.doors.batch.summary import Summary as Summary
    from onnx_scatterx.doors.bound_cache import cache_pairs as cache_pairs
    from onnx_scatterx.doors.bound_cache import check_bound_cache as check_bound_cache
    from onnx_scatterx.errors import MissingConsumerError as MissingConsumerError
    from onnx_scatterx.errors import MissingRuntimeError as MissingRuntimeError
    from onnx_scatterx.errors import ModelError as ModelError
    from onnx_scatterx.errors import ScatterXError as ScatterXError
    from onnx_scatterx.errors import VerifyError as VerifyError
    from onnx_scatterx.lab.benchmarking.models import bench as bench
    from onnx_scatterx.lab.benchmarking.result import Benchmark as Benchmark
    from onnx_scatterx.lab.devices.checking import check as check
    from onnx_scatterx.passes import RemoveScatters as RemoveScatters
    from onnx_scatterx.runtime.library import library_path as library_path
    from onnx_scatterx.runtime.opened import run_model as run_model
    from onnx_scatterx.runtime.session import session as session
    from onnx_scatterx.targets.target import Target as Target
    from onnx_scatterx.tell.entries import Action as Action
    from onnx_scatterx.tell.entries import GatherReport as GatherReport
    from onnx_scatterx.tell.entries import ScatterReport as ScatterReport
    from onnx_scatterx.tell.explanation import advise as advise
    from onnx_scatterx.tell.explanation import explain as explain
    from onnx_scatterx.tell.extraction.cutting import Part as Part
    from onnx_scatterx.tell.extraction.cutting import extract as extract
    from onnx_scatterx.tell.report import Report as Report
    from onnx_scatterx.text.reasons import Reason as Reason
    from onnx_scatterx.text.reasons import Refusal as Refusal

    __version__: str

if os.path.isfile(os.path.join(os.path.dirname(__file__), "rewrites")):
    # The folder of the rules is a link. A clone without symbolic links has a text file instead.
    raise ImportError(
        "onnx_scatterx/rewrites must be a link to the folder rewrites, and is a text file: git "
        "made this clone without symbolic links. In the clone, run `git config core.symlinks true` "
        "and `git checkout -- onnx_scatterx/rewrites`, and install again (on Windows, turn on "
        "Developer Mode first)"
    )

# Heavy libraries are imported when a name is first used.
_NAMES = {
    "doors.api.optimization": "inspect optimize",
    "doors.api.result": "Result TargetError",
    "doors.batch.many": "inspect_many optimize_many",
    "doors.batch.summary": "Summary",
    "lab.benchmarking.models": "bench",
    "lab.benchmarking.result": "Benchmark",
    "doors.bound_cache": "cache_pairs check_bound_cache",
    "lab.devices.checking": "check",
    "tell.explanation": "advise explain",
    "tell.extraction.cutting": "Part extract",
    "errors": "MissingConsumerError MissingRuntimeError ModelError ScatterXError VerifyError",
    "compare.result": "DifferenceError Verification",
    "compare.verifying": "verify",
    "tell.entries": "Action GatherReport ScatterReport",
    "tell.report": "Report",
    "targets.target": "Target",
    "passes": "RemoveScatters",
    "runtime.library": "library_path",
    "runtime.opened": "run_model",
    "runtime.session": "session",
    "text.reasons": "Reason Refusal",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
_MODULES = ("export", "passes", "rewrites", "theory", "torch")
__all__ = sorted([*_HOMES, "__version__"])

if not TYPE_CHECKING:  # otherwise a type checker would accept a misspelt name

    def __getattr__(name: str) -> object:
        if name in _HOMES:
            attribute = getattr(importlib.import_module(f"onnx_scatterx.{_HOMES[name]}"), name)
        elif name in _MODULES:
            attribute = importlib.import_module(f"onnx_scatterx.{name}")
        elif name == "__version__":
            attribute = _version()
        else:
            raise AttributeError(f"module 'onnx_scatterx' has no attribute {name!r}")
        globals()[name] = attribute
        return attribute


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("onnx-scatterx")
    except PackageNotFoundError as error:
        raise AttributeError("onnx-scatterx is not installed, so it has no version") from error


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])

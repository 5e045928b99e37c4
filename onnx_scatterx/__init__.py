"""Rewrites the scatter nodes of ONNX models to slices, provably, and runs the rest fast."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx_scatterx.api import Result, inspect, optimize
    from onnx_scatterx.benchmarking import Benchmark, bench
    from onnx_scatterx.errors import ScatterXError
    from onnx_scatterx.export import to_onnx
    from onnx_scatterx.many import optimize_many
    from onnx_scatterx.reasons import Reason
    from onnx_scatterx.reports.explanation import explain
    from onnx_scatterx.reports.report import Report
    from onnx_scatterx.running.library import library_path
    from onnx_scatterx.running.session import session
    from onnx_scatterx.theory.drawing import draw
    from onnx_scatterx.theory.gathering import Gathering
    from onnx_scatterx.theory.nondeterminism import Outcomes, outcomes
    from onnx_scatterx.theory.picks import Pick
    from onnx_scatterx.theory.scattering import Reduction, Scattering
    from onnx_scatterx.theory.theorem import Impossibility, disjoint_representation
    from onnx_scatterx.theory.transformer import XTransformer
    from onnx_scatterx.theory.verdict import Sliceability, Verdict
    from onnx_scatterx.verification import Verification, verify

__all__ = [
    "Benchmark",
    "Gathering",
    "Impossibility",
    "Outcomes",
    "Pick",
    "Reason",
    "Reduction",
    "Report",
    "Result",
    "ScatterXError",
    "Scattering",
    "Sliceability",
    "Verdict",
    "Verification",
    "XTransformer",
    "bench",
    "disjoint_representation",
    "draw",
    "explain",
    "inspect",
    "library_path",
    "optimize",
    "optimize_many",
    "outcomes",
    "session",
    "to_onnx",
    "verify",
]

# Heavy libraries are imported when a name is first used.
_HOMES = {
    "Benchmark": "benchmarking",
    "Gathering": "theory.gathering",
    "Impossibility": "theory.theorem",
    "Outcomes": "theory.nondeterminism",
    "Pick": "theory.picks",
    "Reason": "reasons",
    "Reduction": "theory.scattering",
    "Report": "reports.report",
    "Result": "api",
    "ScatterXError": "errors",
    "Scattering": "theory.scattering",
    "Sliceability": "theory.verdict",
    "Verdict": "theory.verdict",
    "Verification": "verification",
    "XTransformer": "theory.transformer",
    "bench": "benchmarking",
    "disjoint_representation": "theory.theorem",
    "draw": "theory.drawing",
    "explain": "reports.explanation",
    "inspect": "api",
    "library_path": "running.library",
    "optimize": "api",
    "optimize_many": "many",
    "outcomes": "theory.nondeterminism",
    "session": "running.session",
    "to_onnx": "export",
    "verify": "verification",
}
_MODULES = {"passes", "rewrites", "theory"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = getattr(importlib.import_module(f"onnx_scatterx.{_HOMES[name]}"), name)
        globals()[name] = found
        return found
    if name in _MODULES:
        return importlib.import_module(f"onnx_scatterx.{name}")
    raise AttributeError(f"module 'onnx_scatterx' has no attribute {name!r}")

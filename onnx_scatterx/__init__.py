"""Rewrites the scatter nodes of ONNX models to slices, provably, and runs the rest fast."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx_scatterx.api import Result, inspect, optimize
    from onnx_scatterx.drawing import draw
    from onnx_scatterx.errors import ScatterXError
    from onnx_scatterx.explanation import explain
    from onnx_scatterx.gathering import Gathering
    from onnx_scatterx.library import library_path
    from onnx_scatterx.many import optimize_many
    from onnx_scatterx.nondeterminism import Outcomes, outcomes
    from onnx_scatterx.picks import Pick
    from onnx_scatterx.reasons import Reason
    from onnx_scatterx.report import Report
    from onnx_scatterx.runtime import session
    from onnx_scatterx.scattering import Reduction, Scattering
    from onnx_scatterx.theorem import Impossibility, disjoint_representation
    from onnx_scatterx.transformer import XTransformer
    from onnx_scatterx.verdict import Sliceability, Verdict
    from onnx_scatterx.verification import Verification, verify

__all__ = [
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
    "disjoint_representation",
    "draw",
    "explain",
    "inspect",
    "library_path",
    "optimize",
    "optimize_many",
    "outcomes",
    "session",
    "verify",
]

# Heavy libraries are imported when a name is first used.
_HOMES = {
    "Gathering": "gathering",
    "Impossibility": "theorem",
    "Outcomes": "nondeterminism",
    "Pick": "picks",
    "Reason": "reasons",
    "Reduction": "scattering",
    "Report": "report",
    "Result": "api",
    "ScatterXError": "errors",
    "Scattering": "scattering",
    "Sliceability": "verdict",
    "Verdict": "verdict",
    "Verification": "verification",
    "XTransformer": "transformer",
    "disjoint_representation": "theorem",
    "draw": "drawing",
    "explain": "explanation",
    "inspect": "api",
    "library_path": "library",
    "optimize": "api",
    "optimize_many": "many",
    "outcomes": "nondeterminism",
    "session": "runtime",
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

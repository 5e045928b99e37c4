"""`verify` decides by running whether two ONNX models agree."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_scatterx.judges.verification.result import (
        Difference,
        DifferenceError,
        Draw,
        Verification,
    )
    from onnx_scatterx.judges.verification.verifying import verify

__all__ = ["Difference", "DifferenceError", "Draw", "Verification", "verify"]


def __getattr__(name: str) -> object:
    # Imported late, because the worker processes import this package and do not need it.
    if name == "verify":
        from onnx_scatterx.judges.verification.verifying import verify

        return verify
    if name in __all__:
        from onnx_scatterx.judges.verification import result

        return getattr(result, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

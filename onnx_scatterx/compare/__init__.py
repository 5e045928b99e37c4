"""`verify` decides by running whether two ONNX models agree.

Come here for inputs that a model accepts (``valid_draws``), for the comparison of arrays, and for
the answer. Not for a proof (``proof``), and not for sessions of ONNX Runtime (``runtime``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.compare.accepted_draws import valid_draws as valid_draws
    from onnx_scatterx.compare.array_diff import compare as compare
    from onnx_scatterx.compare.broken_promises import stated_and_broken as stated_and_broken
    from onnx_scatterx.compare.interface import narrowing as narrowing
    from onnx_scatterx.compare.result import DifferenceError as DifferenceError
    from onnx_scatterx.compare.result import Verification as Verification
    from onnx_scatterx.compare.verifying import verify as verify
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "accepted_draws": "valid_draws",
            "array_diff": "compare",
            "broken_promises": "stated_and_broken",
            "interface": "narrowing",
            "result": "DifferenceError Verification",
            "verifying": "verify",
        },
    )

"""Equivalence: proves two ONNX models equal at every size and on every input, by an SMT solver.

This is translation validation: any tool may have made the second model. The judge shares no code
with the optimizer's analysis: the operators are defined again, more simply, element by element.

Come here for ``prove``. Not for runs of the models (``compare``). It knows no other room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.proof.assumed import SIGN_OF_ZERO as SIGN_OF_ZERO
    from onnx_scatterx.proof.core.reading import Placed as Placed
    from onnx_scatterx.proof.core.reading import Source as Source
    from onnx_scatterx.proof.declarations import InputClause as InputClause
    from onnx_scatterx.proof.proof import Proof as Proof
    from onnx_scatterx.proof.proof import Verdict as Verdict
    from onnx_scatterx.proof.proof import prove as prove
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "assumed": "SIGN_OF_ZERO",
            "core.reading": "Placed Source",
            "declarations": "InputClause",
            "proof": "Proof Verdict prove",
        },
    )

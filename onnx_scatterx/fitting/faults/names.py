"""Names of sizes that a file declares inside, for a compiler that believes them.

    forget_names    a: float[batch, u0, 4]   ->   a: float[?, ?, 4]

of values between the nodes. Where an input has a number for its size, the compiler cannot unify
the number with the name, nor two names of one size. It infers all sizes itself. The inputs and the
outputs of the model keep their names.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.fitting.faults.candidate import Candidate


def forget_names(at: Candidate) -> bool:
    """Forget the names of the sizes that a node makes."""
    modified = False
    for value in at.node.outputs:
        dims = list(value.shape or ())
        kept = [d if isinstance(d, int) else ir.SymbolicDim(None) for d in dims]
        if not value.is_graph_output() and any(_name(dim) for dim in dims):
            value.shape = ir.Shape(kept)
            modified = True
    return modified


def _name(dim: int | ir.SymbolicDim) -> str | None:
    return None if isinstance(dim, int) else dim.value

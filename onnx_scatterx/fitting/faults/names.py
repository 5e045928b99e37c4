"""Names inside of a model: of sizes, for a compiler that believes them, and of values.

    forget_names    a: float[batch, u0, 4]   ->   a: float[?, ?, 4]
    short_names     /encoder/layer.0/Add_3_output_0   ->   v_17

of values between the nodes. Where an input has a number for its size, the compiler cannot unify
the number with the name, nor two names of one size. It infers all sizes itself. Another compiler
compares names as often as the square of the number of nodes, and copies each that has more than 15
bytes: short ones take half the time. The inputs and the outputs of the model keep their names, and
so do the nodes, which a refusal names.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.fitting.faults.candidate import Candidate

_MANY = 1 << 14  # nodes
_SHORT = 15  # bytes


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


def short_names(at: Candidate) -> bool:
    """Give short names to the results of a node, if there are many nodes."""
    if sum(map(len, at.nodes.values())) < _MANY:
        return False
    long = [v for v in at.node.outputs if not v.is_graph_output() and len(v.name or "") > _SHORT]
    for value in long:
        value.name = at.writer.graph.free_name("v")
    return bool(long)


def _name(dim: int | ir.SymbolicDim) -> str | None:
    return None if isinstance(dim, int) else dim.value

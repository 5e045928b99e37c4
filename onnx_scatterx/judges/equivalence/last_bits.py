"""Where the last bits of floats may differ, though nodes compute the same: assumed, or refused.

Of a body whose output has no stated type, it is taken to be float16; so is an unknown type that a
node gives for float16.
"""

from __future__ import annotations

from collections.abc import Sequence

from onnx_scatterx.judges.equivalence.core.functions import subgraphs_of
from onnx_scatterx.judges.equivalence.core.reading import Node, declared
from onnx_scatterx.judges.equivalence.core.tensor import Tensor
from onnx_scatterx.judges.equivalence.core.types import sort_of
from onnx_scatterx.judges.equivalence.operators import MOVING
from onnx_scatterx.judges.equivalence.operators.elementwise import BINARY, UNARY

SIGN_OF_ZERO = "the sign of a zero does not count where Where, Min or Max chooses floats"
_CHOOSING = {"Where", "Min", "Max"}
_COMPUTING = {*UNARY, *BINARY, "Clip"}
_QUANTIZING = {"QuantizeLinear", "DequantizeLinear"}


def assumed(node: Node, made: Sequence[Tensor]) -> str:
    """Return what is assumed of the floats that a node of only one of the models computes."""
    floats = bool(made) and sort_of(made[0].dtype) == "data" and made[0].dtype != "string"
    if node.standard and floats and node.op in _CHOOSING:
        return SIGN_OF_ZERO
    if node.standard and (node.op in _QUANTIZING or (node.op in _COMPUTING and floats)):
        return "arithmetic on floats gives the same bits at any place in a tensor"
    return ""


def unrounded(
    node: Node, inputs: Sequence[Tensor | None], made: Sequence[Tensor], unknown: bool
) -> str:
    """Return why a node is refused, empty if it is not: it may do more than to move float16.

    On a CPU, ONNX Runtime computes most of float16 in float32, and rounds in front of some nodes
    only: so a result depends on the nodes around. ``unknown`` says that the node is not modelled.
    """
    moves = node.op in MOVING and node.get("reduction", b"none") == b"none"
    if not unknown or (node.standard and moves):
        return ""
    given = {t.dtype for t in inputs if t is not None}
    given |= {declared(o).dtype or "float16" for g in subgraphs_of(node.proto) for o in g.output}
    half = {"float16", "unknown"} if "float16" in given else {"float16"}
    if not half & {t.dtype for t in made}:
        return ""
    return f"{node.op} gives float16, which ONNX Runtime may keep as float32"

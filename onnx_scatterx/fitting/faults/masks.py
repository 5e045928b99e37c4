"""Masks of which all is true.

    expand_for_and    And(x, [true, true])   =   Expand(x, [2])

if several Ands read x, which no constants alone give.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import constant, is_operator


def expand_for_and(at: Candidate) -> bool:
    """Write all Ands that read an operand of an And without masks of which all is true."""
    modified = False
    for x in at.node.inputs:
        if x is None or at.constants.is_constant(x):
            continue
        readers = list(dict.fromkeys(use.node for use in x.uses()))
        ands = [reader for reader in readers if is_operator(reader, ("And",))]
        for reader in ands if len(ands) > 1 else ():
            modified |= _with_expand(at, reader, x)
    return modified


def _with_expand(at: Candidate, node: ir.Node, x: ir.Value) -> bool:
    """Expand one operand of an And, if the other is a constant of which all is true."""
    w, scope = at.writer, at.scope
    masks = [v for v in node.inputs if v is not None and v is not x]
    value, shape = node.outputs[0], scope.of(node.outputs[0]).static_shape
    mask = constant(masks[0], scope.overridable) if len(masks) == 1 else None
    if mask is None or shape is None or not mask.numpy().all():
        return False

    def write() -> ir.Value:
        return w.node("Expand", [x, w.constant(list(shape))], ir.DataType.BOOL)

    return at.replace(value, write)

"""Patterns of nodes that a compiler takes as one operator, though it lacks a node of them.

Gelu(x)   =   x * 0.5 * (1 + Erf(x / sqrt(2)))      in any order of the products
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
import onnx_ir as ir

from onnx_scatterx.graphs import constant, is_operator, made_by


def pattern_of(node: ir.Node, overridable: Collection[ir.Value]) -> str:
    """Return the operator that the nodes around an Erf compute together; "" if there is none.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 17]>
    ...     g (float[4] x) => (float[4] y)
    ...     <float root = {1.4142135}, float one = {1}, float half = {0.5}> {
    ...         a = Div (x, root)  b = Erf (a)  c = Add (b, one)
    ...         d = Mul (x, c)  y = Mul (d, half) }''')
    >>> pattern_of(model.graph[1], ()), pattern_of(model.graph[0], ())
    ('Gelu', '')
    """
    return "Gelu" if node.op_type == "Erf" and _is_gelu(node, overridable) else ""


def _is_gelu(node: ir.Node, overridable: Collection[ir.Value]) -> bool:
    """Return whether an Erf is read only within ``x * 0.5 * (1 + Erf(x / sqrt(2)))``."""
    scaled = made_by(node.inputs[0], *_SCALES)
    if scaled is None or _reader(scaled.outputs[0]) is not node:
        return False
    x, scale = _with_number(scaled, overridable)
    added = _reader(node.outputs[0])
    if scale is None or not math.isclose(scale, _SCALES[scaled.op_type], rel_tol=1e-3):
        return False
    if added is None or not is_operator(added, ("Add",)):
        return False
    if _with_number(added, overridable)[1] != 1:
        return False
    value, missing = added.outputs[0], {"x", "half"}
    while missing:
        by = _reader(value)
        if by is None or not is_operator(by, ("Mul",)):
            return False
        factors = _factors(by, value, x, overridable)
        if not factors or not factors <= missing:
            return False
        value, missing = by.outputs[0], missing - factors
    return True


_SCALES = {"Div": math.sqrt(2), "Mul": math.sqrt(0.5)}


def _factors(
    node: ir.Node, value: ir.Value, x: ir.Value | None, overridable: Collection[ir.Value]
) -> set[str]:
    """Return what a Mul multiplies a value by, of x and the half; nothing if it is another one."""
    (other,) = [v for v in node.inputs if v is not value] or [None]
    if other is x:
        return {"x"}
    if _with_number(node, overridable) == (value, 0.5):
        return {"half"}
    halved = made_by(other, "Mul")
    if halved is None or _reader(other) is not node:
        return set()
    return {"x", "half"} if _with_number(halved, overridable) == (x, 0.5) else set()


def _reader(value: ir.Value | None) -> ir.Node | None:
    """Return the node that alone reads a value, once."""
    uses = [] if value is None or value.is_graph_output() else [*value.uses()]
    return uses[0].node if len(uses) == 1 else None


def _with_number(
    node: ir.Node, overridable: Collection[ir.Value]
) -> tuple[ir.Value | None, float | None]:
    """Return the operand of a node, and the constant number beside it; of Div, the divisor."""
    if node.domain != "" or len(node.inputs) != 2:
        return None, None
    for place in (1, 0) if node.op_type != "Div" else (1,):
        tensor = constant(node.inputs[place], overridable)
        if tensor is not None and tensor.size == 1:
            return node.inputs[1 - place], float(np.asarray(tensor.numpy()).ravel()[0])
    return None, None

"""Nodes that ONNX's shape inference interprets differently from ONNX Runtime's kernels.

    u = Slice(x, starts = [0], ends = [2^63 - 1], steps = [-3])

ONNX Runtime takes the largest ends for the first element, and returns one element or more. ONNX's
shape inference takes them for the last one, and infers an empty axis. The original may load, if
nothing depends on that shape. A node that is written behind such a node might not.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.scope import Knowledge, Scope

_ENDS = (2**31 - 1, 2**63 - 1)


def misread_node(knowledge: Knowledge) -> ir.Node | None:
    """Return the first node of a model whose shape is inferred wrongly, if there is one."""
    for graph, scope in knowledge.scopes.items():
        for node in graph:
            if node.op_type == "Slice" and node.domain == "" and _is_misread(node, scope):
                return node
    return None


def _is_misread(node: ir.Node, scope: Scope) -> bool:
    ends, steps = (_numbers(node, place, scope) for place in (2, 4))
    if ends is None or steps is None or ends.shape != steps.shape:
        return False  # without steps, or with ends that shape inference does not know either
    return bool((np.isin(ends, _ENDS) & (steps < 0)).any())


def _numbers(node: ir.Node, place: int, scope: Scope) -> np.ndarray | None:
    value = node.inputs[place] if place < len(node.inputs) else None
    known = None if value is None else scope.values.get(value)
    return None if known is None else known.constant

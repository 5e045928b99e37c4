"""Outputs of a model that a Reshape makes, though it changes no shape: a compiler loses them.

no_idle_output    y = Reshape(Relu(x), [2, 3])   ->   y = Relu(x)       of 2 x 3 elements
"""

from __future__ import annotations

from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import made_by, remove_dead, replace_uses


def no_idle_output(at: Candidate) -> bool:
    """Let the node before a Reshape make the output, if the Reshape changes nothing."""
    node, scope = at.node, at.scope
    if not node.outputs[0].is_graph_output():
        return False
    x, value = node.inputs[0], node.outputs[0]
    if x is None or x.is_graph_output() or x.producer() is None:
        return False
    shape = scope.of(x).static_shape
    if shape is None or shape != scope.of(value).static_shape or x.graph is not node.graph:
        return False
    if made_by(x, "Constant") is not None:
        return False
    replace_uses(value, x, keeps_name=True)
    remove_dead([node])
    return True

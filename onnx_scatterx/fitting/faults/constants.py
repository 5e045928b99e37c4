"""Constants that a compiler mistakes: nodes as initializers, and one number as many.

    stored_constants    c = Constant <value_int = 8>    ->   int64 c = {8}
                        Cast(x * Constant(...))         ->   Cast(x * c)

A compiler takes the first for an int32, and drops the Cast of the second.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import constant, is_operator

_INTEGERS = ("value_int", "value_ints")


def stored_constants(at: Candidate) -> bool:
    """Write an initializer in place of a Constant of such an attribute, or at such a place."""
    w, node, scope, _, _ = at
    if w.graph.constant_nodes:
        return False
    (value,) = node.outputs
    tensor, readers = constant(value, scope.overridable), [use.node for use in value.uses()]
    if tensor is None or value.is_graph_output():
        return False
    products = [v for n in readers if is_operator(n, ("Mul",)) for v in n.outputs]
    is_cast = any(is_operator(use.node, ("Cast",)) for v in products for use in v.uses())
    if not is_cast and not any(name in node.attributes for name in _INTEGERS):
        return False
    return at.replace(value, lambda: w.constant(tensor.numpy(), tensor.dtype))


def many_equal(number: np.ndarray, sizes: Sequence[int]) -> np.ndarray | None:
    """Return one number as many, along the last axis of several elements; None if there is none."""
    wide = max((axis for axis, size in enumerate(sizes) if size > 1), default=None)
    if wide is None:
        return None
    return np.full([sizes[wide], *[1] * (len(sizes) - wide - 1)], number.reshape(()))

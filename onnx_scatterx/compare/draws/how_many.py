"""How many draws are run of a model: many if a run is little work, few if it is much.

The work follows from the shapes of the model's values. It is a number of steps: one for a product
that is added to a sum, and 16 for an element of a result, which is written to memory. A body of a
Loop or a Scan counts once.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.engine.analysis import TensorValue, interpret
from onnx_scatterx.engine.budget import LimitError
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.graphs import all_nodes

MOST_DRAWS = 40
"""How many draws are run of a model whose runs are little work."""
LEAST_DRAWS = 2
FEW = 12
"""So many draws are few: each of them must show what it can."""
_BUDGET = 32_000_000_000  # steps of one model in all draws
_ELEMENT = 16


def steps(model: ir.Model, sizes: Mapping[str, tuple[int, ...]] | None = None) -> int:
    """Return the work of a run, on inputs of these shapes. Dims that are not known count as 1.

    The shapes of the inputs are declared in place.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["": 18]>
    ...     g (float[N, 3] x, float[3, 5] w) => (float[N, 5] y) { y = MatMul (x, w) }''')
    >>> steps(model, {"x": (2, 3)}) == 2 * 5 * 3 + 16 * 2 * 5
    True
    """
    for value in model.graph.inputs:
        if sizes is not None and (shape := sizes.get(value.name or "")) is not None:
            value.shape = ir.Shape(shape)
    known: Mapping[ir.Value, TensorValue] = {}
    with contextlib.suppress(LimitError, ScatterXError):
        known = interpret(model).values
    return sum(_of_node(node, known) for node in all_nodes(model))


def draws_for(work: int, least: int = LEAST_DRAWS) -> int:
    """Return how many draws are run of a model with so much work: many if it is small.

    >>> [draws_for(work) for work in (10**6, 5 * 10**9, 10**12)]
    [40, 6, 2]
    """
    return max(min(_BUDGET // max(work, 1), MOST_DRAWS), min(least, MOST_DRAWS))


_Known: TypeAlias = "Mapping[ir.Value, TensorValue]"


def _of_node(node: ir.Node, known: _Known) -> int:
    shapes = [_dims(value, known) for value in node.inputs]
    results = [math.prod(_dims(value, known)) for value in node.outputs]
    first = results[0] if results else 0
    return _ELEMENT * sum(results) + first * _products(node, shapes, first)


def _products(node: ir.Node, shapes: Sequence[tuple[int, ...]], result: int) -> int:
    """Return how many products are added for an element of the first result."""
    if not shapes or not shapes[0]:
        return 0
    second = shapes[1] if len(shapes) > 1 else ()
    if node.op_type in ("MatMul", "MatMulInteger", "QLinearMatMul"):
        return shapes[0][-1]
    if node.op_type == "Gemm":
        return shapes[0][0 if node.attributes.get_int("transA", 0) else -1]
    if node.op_type in ("Conv", "ConvInteger", "QLinearConv"):
        weights = shapes[3] if node.op_type == "QLinearConv" and len(shapes) > 3 else second
        return math.prod(weights[1:])
    if node.op_type == "ConvTranspose":
        strides = node.attributes.get_ints("strides", ())
        return math.prod((*second[:1], *second[2:])) // max(math.prod(strides), 1)
    if node.op_type in ("GRU", "LSTM", "RNN") and len(shapes) > 2:
        return math.prod(second[1:]) + math.prod(shapes[2][1:])
    if node.op_type == "Einsum":  # of two matrices: the root of all their products by the result
        return math.isqrt(math.prod(shapes[0]) * math.prod(second) // max(result, 1))
    if node.op_type == "Attention" and len(second) > 1:
        return 2 * second[-2]
    return 0


def _dims(value: ir.Value | None, known: _Known) -> tuple[int, ...]:
    if value is None:
        return ()
    found = known.get(value)
    if found is not None and found.shape is not None:
        return tuple(1 if term.constant is None else term.constant for term in found.shape)
    declared = () if value.shape is None else value.shape
    return tuple(dim if isinstance(dim, int) else 1 for dim in declared)

"""The quantizers around a node: ONNX Runtime moves quantizers past nodes that move elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import onnx_ir as ir

from onnx_scatterx.engine.budget import budget
from onnx_scatterx.engine.quantizers.quantization import QUANTIZERS, is_quantizer, operands_of
from onnx_scatterx.graphs import reached
from onnx_scatterx.operators import those

Steps = Mapping[ir.Value, tuple[str, Sequence[ir.Value | None]]]
"""The nodes of a fragment: the operator and the inputs, by the output."""

MOVED_PAST = those(lambda row: row.moved_past)


def has_quantizers(graph: ir.Graph) -> bool:
    """Return whether a graph itself has quantizers."""
    return any(is_quantizer(node, *QUANTIZERS) for node in graph)


def quantizers_above(node: ir.Node) -> list[ir.Node]:
    """Return the DequantizeLinear whose floats a node moves, perhaps behind others that do."""
    return dequantizers([node.inputs[i] for i in operands_of(node)], {})


def quantizers_below(
    node: ir.Node, of: Callable[[ir.Node], bool] = lambda n: is_quantizer(n, "QuantizeLinear")
) -> list[ir.Node]:
    """Return the readers of what a node gives for which ``of`` is true, also behind moves of it."""
    quantizers = []

    def movers(here: ir.Node) -> Iterator[ir.Node]:
        budget().charge_part(1)
        for other in here.successors():
            if of(other):
                quantizers.append(other)
            elif operands_of(other):
                yield other

    for _ in reached([node], movers):
        pass
    return quantizers


def dequantizers(values: Sequence[ir.Value | None], steps: Steps) -> list[ir.Node]:
    """Return the quantizers whose floats may reach values, some of which are new."""
    quantizers, seen, stack = [], set(values), list(values)
    while stack:
        value = stack.pop()
        budget().charge_part(1)
        node = None if value is None else value.producer()
        if value is not None and value in steps:
            near = list(steps[value][1])
        elif node is not None and is_quantizer(node, "DequantizeLinear"):
            quantizers.append(node)
            continue
        else:
            near = [] if node is None else [node.inputs[i] for i in operands_of(node)]
        stack += [v for v in near if v not in seen]
        seen.update(near)
    return quantizers


def before_moves(value: ir.Value, steps: Steps) -> tuple[str, Sequence[ir.Value | None]]:
    """Return the operator that stands before nodes past which quantizers move, and its inputs."""
    while True:
        budget().charge_part(1)
        node = value.producer()
        known = node is not None and (node.domain == "" or is_quantizer(node, *QUANTIZERS))
        op, inputs = (node.op_type, node.inputs) if node is not None and known else ("", ())
        op, inputs = steps.get(value, (op, inputs))
        first = inputs[0] if op in MOVED_PAST and inputs else None
        if first is None:
            return op, inputs
        value = first

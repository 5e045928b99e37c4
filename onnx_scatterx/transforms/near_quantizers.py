"""Quantizers beside nodes that only move elements, and their effect on a scatter on floats."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir

from onnx_scatterx.lift.element_moves import operands_of
from onnx_scatterx.lift.quantization import Quantization, is_quantizer, quantization_of
from onnx_scatterx.lowering.graph_context import GraphContext
from onnx_scatterx.symbolic.budget import LimitError, budget
from onnx_scatterx.symbolic.limits import LIMITS
from onnx_scatterx.text.quantized import OnFloats

_TYPED = 21  # from this operator set on QuantizeLinear has the attribute output_dtype


def obstacle(node: ir.Node, context: GraphContext) -> OnFloats | None:
    """Return why a scatter must be kept, if it is written on floats and has quantizers beside it.

    Under its default options, ONNX Runtime moves, adds and removes quantizers beside nodes that
    move elements, but not beside scatters.
    """
    try:
        with budget().of_part(LIMITS.scatter_steps):
            return _obstacle(node, context)
    except LimitError:
        return OnFloats.LIMIT


def _obstacle(node: ir.Node, context: GraphContext) -> OnFloats | None:
    above, below = reached(node, up=True), reached(node, up=False)
    if not all(map(is_exact(context), (*above, *below))):
        return OnFloats.INEXACT
    if context.scope.opsets.get("", 0) >= _TYPED and any(_is_int8(n, context) for n in above):
        return OnFloats.REJECTED
    if below and _is_given_out_between(node):
        return OnFloats.MOVED
    return None


def _is_int8(node: ir.Node, context: GraphContext) -> bool:
    value = node.inputs[0]
    known = None if value is None else context.scope.values.get(value)
    dtype = value.dtype if value is not None and known is None else known and known.dtype
    return dtype in (None, ir.DataType.INT8)


def _is_given_out_between(node: ir.Node) -> bool:
    """Return whether an output of the graph is moved further and then quantized."""
    stack, seen = [node], {node}
    while stack:
        here = stack.pop()
        budget().work(1)
        readers = [u.node for v in here.outputs for u in v.uses() if u.idx in operands_of(u.node)]
        given_out = any(value.is_graph_output() for value in here.outputs)
        if given_out and any(reached(reader, up=False) for reader in readers):
            return True
        stack += [n for n in dict.fromkeys(readers) if n not in seen]
        seen.update(readers)
    return False


def reached(node: ir.Node, *, up: bool) -> list[ir.Node]:
    """Return the quantizers whose elements reach a node through others that move them.

    If not ``up``, return the quantizers that the node's elements reach.
    """
    found, seen, stack = [], {node}, [node]
    while stack:
        here = stack.pop()
        budget().work(1)
        if up:
            given = (here.inputs[i] for i in operands_of(here))
            near = [v.producer() for v in given if v is not None]
        else:
            near = [u.node for v in here.outputs for u in v.uses()]
        for other in near:
            if is_quantizer(other, "DequantizeLinear" if up else "QuantizeLinear"):
                assert other is not None
                found.append(other)
            elif other is not None and other not in seen and operands_of(other):
                seen.add(other)
                stack.append(other)
    return found


def is_exact(context: GraphContext) -> Callable[[ir.Node], bool]:
    """Ask whether quantizers of a scale undo each other, as far as that is known."""

    def ask(node: ir.Node) -> bool:
        found = described(node, context)
        return found is None or found.is_exact

    return ask


def described(node: ir.Node, context: GraphContext) -> Quantization | None:
    """Return the parameters of a quantizer, if they are known."""
    value = node.inputs[0]
    known = None if value is None else context.scope.values.get(value)
    if value is None:
        return None
    dtype = value.dtype if known is None else known.dtype

    def array(given: ir.Value) -> np.ndarray | None:
        stored, computed = context.constants.array(given), context.scope.values.get(given)
        return computed.constant if stored is None and computed is not None else stored

    return quantization_of(node, array, dtype)

"""What ONNX Runtime's optimizer does around nodes that move elements, beside quantizers.

Under its default options, ONNX Runtime moves DequantizeLinear down and QuantizeLinear up past
Slice, Transpose, Reshape, Squeeze, Unsqueeze and MaxPool, and removes pairs of them. It does so
beside no scatter and no gather: where such a node goes, it begins.
tests/engine/quantizers/faults.py has the smallest models that show each of its faults. A pass that
writes nodes asks ``reason_to_keep`` about a node that it replaces, and ``objection`` about the
nodes for it. Once all are written, ``exposed`` is asked about every node that lost readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope
from onnx_scatterx.engine.budget import budget, within_limits
from onnx_scatterx.engine.mosaic import Constants
from onnx_scatterx.engine.quantizers.around import (
    MOVED_PAST,
    Steps,
    before_moves,
    dequantizers,
    quantizers_above,
    quantizers_below,
)
from onnx_scatterx.engine.quantizers.quantization import (
    Quantization,
    is_quantizer,
    moves_input,
    operands_of,
    quantization_of,
)
from onnx_scatterx.engine.write import Fragment
from onnx_scatterx.graphs import is_operator, reached
from onnx_scatterx.operators import OPERATORS, described
from onnx_scatterx.text import FloatReason

_TYPED = 21  # from this operator set on QuantizeLinear has the attribute output_dtype


class GraphValues(NamedTuple):
    """What is known of the values of a graph."""

    scope: Scope
    constants: Constants

    def array(self, value: ir.Value) -> np.ndarray | None:
        """Return the array that a value is in every run, None if it is unknown."""
        stored = self.constants.array(value)
        return self.scope.of(value).constant if stored is None else stored

    def quantization(self, node: ir.Node) -> Quantization | None:
        """Return the parameters of a quantizer, if they are known."""
        return quantization_of(node, self.array, self.scope.of(node.inputs[0]).dtype)

    def is_exact(self, node: ir.Node) -> bool:
        """Return whether quantizers of a scale undo each other, as far as that is known."""
        quantization = self.quantization(node)
        return quantization is None or quantization.is_exact


def reason_to_keep(node: ir.Node, known: GraphValues) -> FloatReason | None:
    """Return why a node that moves elements must be kept, if it has quantizers beside it."""
    if not operands_of(node):
        return None
    return within_limits(lambda: _reason_to_keep(node, known), FloatReason.LIMIT)


def _reason_to_keep(node: ir.Node, known: GraphValues) -> FloatReason | None:
    above, below = quantizers_above(node), quantizers_below(node)
    if not all(map(known.is_exact, (*above, *below))):
        return FloatReason.INEXACT
    for quantizer in above:
        fault = _moved_down(quantizer, known)
        if fault is not None:
            return fault
    if below and _is_output_between(node):
        return FloatReason.MOVED
    return None


def _moved_down(node: ir.Node, known: GraphValues) -> FloatReason | None:
    """Return what is wrong with the quantizers that a DequantizeLinear becomes behind a Slice.

    They get its zero point. Without one, QuantizeLinear makes uint8, unless it says another type,
    which ONNX Runtime writes from operator set 21 on. int32 cannot be quantized.
    """
    (integers, scale), zero = node.inputs[:2], node.inputs[2:3]
    dtype = known.scope.of(integers).dtype
    has_zero = bool(zero) and zero[0] is not None
    says_type = known.scope.opsets.get("", 0) >= _TYPED and node.domain == ""
    if dtype == ir.DataType.INT32:
        return FloatReason.REJECTED if has_zero or says_type else FloatReason.RETYPED
    scales = None if scale is None else known.array(scale)
    if scales is not None and scales.size > 1:
        return None  # it is not moved
    if not has_zero and not says_type and dtype != ir.DataType.UINT8:
        return FloatReason.RETYPED
    rejected = dtype in (ir.DataType.INT8, ir.DataType.INT2, ir.DataType.UINT2)
    return FloatReason.REJECTED if dtype is None or (has_zero and says_type and rejected) else None


def is_rejected(node: ir.Node, known: GraphValues) -> bool:
    """Return whether a DequantizeLinear of one scale is not loaded before nodes that move."""
    return _has_one_scale(node, known) and _moved_down(node, known) is FloatReason.REJECTED


def objection(value: ir.Value, nodes: Fragment, known: GraphValues) -> FloatReason | None:
    """Return why the nodes of a fragment must not replace a value.

    ONNX Runtime moves the quantizers past Slices, Reshapes and Transposes. So if the new nodes end
    with these, what stands before them meets what reads the value.
    """
    producer = value.producer()
    if producer is None or nodes.result is None:
        return None
    steps = nodes.steps
    for op, inputs in steps.values():
        above = dequantizers(inputs[:1], steps) if op in MOVED_PAST else []
        for quantizer in above:
            fault = _moved_down(quantizer, known)
            if fault is not None or not known.is_exact(quantizer):
                return fault or FloatReason.INEXACT
    op, inputs = before_moves(nodes.result, steps)
    if op == "DequantizeLinear":
        readers = quantizers_below(producer, of=lambda node: bool(described(node).in_integers))
        is_between = any(_is_between(n.op_type, n.inputs, n, steps) for n in readers)
        return FloatReason.INTEGER_KERNEL if is_between else None
    return _computed_in_integers(op, inputs, producer, steps, known)


def exposed(node: ir.Node, known: GraphValues) -> FloatReason | None:
    """Return what ONNX Runtime changes of a node if it moves quantizers up to it.

    It does so only past nodes with one reader. So a node is exposed if its other readers go.
    """
    here: ir.Node | None = node
    while here is not None and not is_quantizer(here, "QuantizeLinear"):
        budget().charge_part(1)
        uses = [use for value in here.outputs for use in value.uses()]
        is_output = any(value.is_graph_output() for value in here.outputs)
        moved = here is node or is_operator(here, MOVED_PAST)
        here = uses[0].node if len(uses) == 1 and moved and not is_output else None
    if here is None:
        return None
    op, inputs = before_moves(node.outputs[0], {})
    if op == "DequantizeLinear":
        exact = all(map(known.is_exact, (here, *quantizers_above(node))))
        return None if exact else FloatReason.INEXACT
    return _computed_in_integers(op, inputs, node, {}, known)


def _computed_in_integers(
    op: str, inputs: Sequence[ir.Value | None], last: ir.Node, steps: Steps, known: GraphValues
) -> FloatReason | None:
    """Return what is wrong if a node is computed in integers; ``last`` gives its result."""
    if not OPERATORS[op].in_integers or not _is_between(op, inputs, last, steps):
        return None
    if op != "Where":
        return FloatReason.INTEGER_KERNEL
    scales = [*dequantizers(inputs[1:], steps), *quantizers_below(last)]
    return None if all(_has_one_scale(n, known) for n in scales) else FloatReason.ONE_SCALE


def _is_between(op: str, inputs: Sequence[ir.Value | None], last: ir.Node, steps: Steps) -> bool:
    """Return whether a node reads DequantizeLinear, and QuantizeLinear reads ``last``.

    ``last`` is the node whose output is replaced, or the node itself.
    """
    row = OPERATORS[op]
    data = [inputs[at] for at in row.in_integers if at < len(inputs)]
    below = row.without_quantizer or bool(quantizers_below(last))
    return below and all(dequantizers([v], steps) for v in data)


def _has_one_scale(node: ir.Node, known: GraphValues) -> bool:
    scale = None if node.inputs[1] is None else known.array(node.inputs[1])
    return scale is not None and scale.size == 1


def _is_output_between(node: ir.Node) -> bool:
    """Return whether an output of the graph is moved further and then quantized."""

    def movers(here: ir.Node) -> Iterable[ir.Node]:
        uses = (use for value in here.outputs for use in value.uses())
        return dict.fromkeys(use.node for use in uses if moves_input(use.node, use.idx))

    for here in reached([node], movers):
        budget().charge_part(1)
        is_output = any(value.is_graph_output() for value in here.outputs)
        if is_output and any(map(quantizers_below, movers(here))):
            return True
    return False

"""Nodes of a loop that an exporter wrote step by step: many of one kind, at places of one tensor.

    slices_of_gathers    Gather(x, 3)                =   Squeeze(Slice(x, 3, 4))
    one_division         Concat(a / b, c / d, ...)   =   Concat(a, c, ...) / Concat(b, d, ...)

They are for a compiler whose time, or memory, for such a node grows with all nodes in front of it.
So they are written for many nodes only. Each quotient is that of the same numbers, so it has the
same bits.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.analysis import required
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import attribute_of, constant, is_operator
from onnx_scatterx.operators import described

MANY = 32
"""So many nodes are as many as a loop has steps; a model without an unrolled loop has fewer."""

_FLOAT = ir.DataType.FLOAT


def slices_of_gathers(at: Candidate) -> bool:
    """Cut a tensor in place of many Gathers of it, each at one position that is a constant."""
    x = at.node.inputs[0]
    if x is None or at.constants.is_constant(x) or not at.scope.of(x).static_shape:
        return False
    readers = (use.node for use in x.uses() if use.node.graph is at.node.graph)
    placed = ((node, place) for node in readers if (place := _place(at, node)) is not None)
    first = next(placed, None)
    if first is None or first[0] is not at.node:
        return False  # each tensor is looked at once
    found = [first, *placed]
    if len({place for _, place in found}) < MANY:
        return False
    cut = [_cut(at, node, *place) for node, place in found]
    return any(cut)


def _place(at: Candidate, node: ir.Node) -> tuple[int, int] | None:
    """Return the axis and the position of a Gather at one constant position; None of others."""
    if not is_operator(node, ("Gather",)):
        return None
    shape = required(at.scope.of(required(node.inputs[0])).static_shape)
    tensor = constant(node.inputs[1], at.scope.overridable)
    if tensor is None or len(tensor.shape):
        return None
    axis, position = attribute_of(node, "axis", 0) % len(shape), int(tensor.numpy())
    if not -shape[axis] <= position < shape[axis]:
        return None
    return axis, position % shape[axis]


def _cut(at: Candidate, gather: ir.Node, axis: int, position: int) -> bool:
    """Write a Gather at one position as a Slice."""
    w, x = at.writer, required(gather.inputs[0])
    kind = w.dtype_of(x)

    def write() -> ir.Value:
        bounds = [w.constant([n]) for n in (position, position + 1, axis)]
        return w.node("Squeeze", [w.node("Slice", [x, *bounds], kind), bounds[2]], kind)

    return at.replace(gather.outputs[0], write)


def one_division(at: Candidate) -> bool:
    """Divide once what a Concat joins, if it joins many quotients that nothing else reads."""
    w, node = at.writer, at.node
    divisions = [_division(at, value) for value in node.inputs]
    shapes = [at.scope.of(required(value)).static_shape for value in node.inputs]
    if len(divisions) < MANY or None in divisions or any(not s or 0 in s for s in shapes):
        return False

    def joined(operand: int) -> ir.Value:
        parts = []
        for division, shape in zip(divisions, shapes, strict=True):
            part = required(required(division).inputs[operand])
            if at.scope.of(part).static_shape != shape:
                part = w.node("Reshape", [part, w.constant(list(required(shape)))], _FLOAT)
            parts.append(part)
        return w.node("Concat", parts, _FLOAT, axis=attribute_of(node, "axis", 0))

    return at.replace(node.outputs[0], lambda: w.node("Div", [joined(0), joined(1)], _FLOAT))


def _division(at: Candidate, value: ir.Value | None) -> ir.Node | None:
    """Return the Div of floats of one shape behind a value, between which nothing is computed."""
    kind_of = at.writer.dtype_of
    while value is not None and len(value.uses()) == 1 and not value.is_graph_output():
        maker = value.producer()
        read = None if maker is None or not maker.inputs else maker.inputs[0]
        if maker is None or read is None:
            return None
        if is_operator(maker, ("Div",)):
            shapes = [at.scope.of(required(v)).static_shape for v in (*maker.inputs, value)]
            is_plain = None not in shapes and shapes[0] == shapes[1] == shapes[2]
            return maker if is_plain and kind_of(value) == _FLOAT else None
        is_idle = is_operator(maker, ("Cast",)) and kind_of(read) == kind_of(value) == _FLOAT
        if not (is_idle or described(maker).keeps_order):
            return None
        value = read
    return None

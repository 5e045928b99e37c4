"""Scatters that lose sums of the module: PyTorch's TorchScript exporter writes `index_add` so.

    x.index_add(0, i, u)    Add(x, ScatterElements(zeros, Expand(i), Expand(u, Shape(Slice(x)))))
                            where zeros = ConstantOfShape(Shape(x))

The scatter has no reduction. If several updates go to one element, ONNX keeps one of them, whereas
the module adds them up. The nodes alone do not say what the module is: a hand may write them, too,
and constants may have taken the place of some. So this is a hint, and the result computes what the
file says.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.graphs import all_nodes, attribute_of

_LOST = "onnx_scatterx.lost_sum"
_REMEDY = "export with dynamo=True, or write scatter_add"
_SURE = f"TorchScript writes index_add so, and loses the sums of such updates: {_REMEDY}"
_MAYBE = f"if the module adds such updates up, the export has lost their sums: {_REMEDY}"


def note_lost_sums(model: ir.Model) -> None:
    """Note at each scatter that may be an `index_add`, before passes change what is around it."""
    if model.producer_name != "pytorch":
        return
    for node in all_nodes(model):
        if node.op_type == "ScatterElements" and (hint := _hint(node)):
            node.meta[_LOST] = hint


def lost_sum(node: ir.Node) -> str:
    """Return what was noted of a scatter; empty if nothing was."""
    return str(node.meta.get(_LOST, ""))


def _hint(node: ir.Node) -> str:
    """Return whether a scatter is surely, perhaps or not an `index_add`, in words for the user."""
    uses = list(node.outputs[0].uses())
    if attribute_of(node, "reduction", "none") != "none" or len(uses) != 1:
        return ""
    adds, data, updates = uses[0].node, node.inputs[0], node.inputs[2]
    if adds.op_type != "Add":
        return ""
    zeros = _source(data, "ConstantOfShape", "Shape")
    row = _source(_input(updates, "Expand", 1), "Shape", "Slice")
    is_whole = zeros is not None and zeros is row and zeros in adds.inputs
    return _SURE if is_whole else _MAYBE


def _source(value: ir.Value | None, *ops: str) -> ir.Value | None:
    """Return the tensor from which nodes of these operators, the last one first, made a value."""
    for op in ops:
        value = _input(value, op, 0)
    return value


def _input(value: ir.Value | None, op: str, number: int) -> ir.Value | None:
    node = None if value is None else value.producer()
    return node.inputs[number] if node is not None and node.op_type == op else None

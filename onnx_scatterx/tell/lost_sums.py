"""Scatters that lose sums of the module: PyTorch's exporters write some reductions without theirs.

TorchScript writes `index_add` so:

    x.index_add(0, i, u)    Add(x, ScatterElements(zeros, Expand(i), Expand(u, Shape(Slice(x)))))
                            where zeros = ConstantOfShape(Shape(x))

With dynamo=True, a `scatter_reduce` of "mean" is written so:

    x.scatter_reduce(0, i, u, "mean")    ScatterElements(x, i, u)

The scatter has no reduction. If several updates go to one element, ONNX keeps one of them, whereas
the module adds them up. The nodes of TorchScript do not prove what the module does: somebody may
have written them by hand, and constants may have taken the place of some. So this is a hint, and
the result computes what the file says. With dynamo=True, a node names its operator of PyTorch.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.graphs import all_nodes, attribute_of

_LOST = "onnx_scatterx.lost_sum"
_DYNAMO = "pkg.torch."  # keys of the metadata of nodes that dynamo=True writes
_OPERATORS = ("namespace", "pkg.torch.onnx.fx_node")  # those that name the operator of PyTorch
_REMEDY = "export with dynamo=True, or write scatter_add"
_SURE = f"TorchScript writes index_add so, and loses the sums of such updates: {_REMEDY}"
_MEANS = 'PyTorch writes scatter_reduce with "mean" so, and loses the means'
_MAYBE = f"if the module adds such updates up, the export has lost their sums: {_REMEDY}"


def note_lost_sums(model: ir.Model) -> None:
    """Note at each scatter that may lose sums, before passes change what is around it."""
    if model.producer_name != "pytorch":
        return
    nodes = list(all_nodes(model))
    is_dynamo = any(key.startswith(_DYNAMO) for node in nodes for key in node.metadata_props)
    for node in nodes:
        is_plain = attribute_of(node, "reduction", "none") == "none"
        if node.op_type == "ScatterElements" and is_plain:
            node.meta[_LOST] = _of_dynamo(node) if is_dynamo else _of_torchscript(node)


def lost_sum(node: ir.Node) -> str:
    """Return what was noted of a scatter; empty if nothing was."""
    return str(node.meta.get(_LOST, ""))


def _of_dynamo(node: ir.Node) -> str:
    """Return in words for the user that a scatter is a mean; empty if it is none.

    All other reductions of `scatter_reduce` have one in ONNX.
    """
    told = (node.metadata_props.get(key, "") for key in _OPERATORS)
    if not any("aten.scatter_reduce" in each for each in told):
        return ""
    from onnx_scatterx.text import RECIPES

    return f"{_MEANS}: {RECIPES['mean']}"


def _of_torchscript(node: ir.Node) -> str:
    """Return whether a scatter is surely, perhaps or not an `index_add`, in words for the user."""
    uses = list(node.outputs[0].uses())
    if len(uses) != 1:
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

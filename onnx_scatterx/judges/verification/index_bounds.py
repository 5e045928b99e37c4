"""The range of a model's integer inputs, as far as their uses show it.

One pass over the nodes, backwards: the constraints of operators on their operands (`uses`) are
passed on to the operands' sources. The range need not be exact: it only guides the draws of
`verify`, and the original model is run on every draw.
"""

from collections import defaultdict
from dataclasses import replace

import onnx_ir as ir

from onnx_scatterx.ir.graphs import all_graphs
from onnx_scatterx.judges.verification.operand_constraints import (
    SMALL,
    USES,
    WHOLE,
    Bounds,
    IndexConstraints,
    constant_of,
    extent_of,
    rank_of,
)

_ALIKE = {
    "Abs", "Cast", "Clip", "Dropout", "Expand", "Identity", "Max", "Min", "Neg", "Optional",
    "OptionalGetElement", "Tile", "Trilu",
}  # fmt: skip
_ARITHMETIC = {
    "Add", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "ConvInteger", "CumSum",
    "DequantizeLinear", "Gemm", "MatMul", "MatMulInteger", "Mul", "Pow", "QLinearConv",
    "QLinearMatMul", "ReduceMean", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Sub", "Sum",
}  # fmt: skip
_COMPARISONS = {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}
_RESHAPING = {
    "Compress", "DepthToSpace", "Flatten", "Gather", "GatherElements", "GatherND", "ReduceMax",
    "ReduceMin", "Reshape", "Reverse", "ReverseSequence", "Slice", "SpaceToDepth", "Split",
    "Squeeze", "TopK", "Transpose", "Pad",
}  # fmt: skip


def input_constraints(model: ir.Model) -> dict[str, IndexConstraints]:
    """Return the constraints on the elements of each graph input; functions must be inlined."""
    pass_ = _Backwards()
    pass_.graph(model.graph)
    return {
        value.name or "": {
            place: bounds for place, bounds in pass_.constraints[value].items() if bounds
        }
        for value in model.graph.inputs
    }


class _Backwards:
    def __init__(self) -> None:
        self.constraints: dict[ir.Value, dict[int | None, Bounds]] = defaultdict(
            lambda: defaultdict(frozenset)
        )

    def graph(self, graph: ir.Graph) -> None:
        for node in reversed(graph):
            if node.op_type in ("If", "Loop"):
                self.bodies(node)
            elif node.domain == "":
                self.node(node)

    def ask(self, value: ir.Value | None, constraints: IndexConstraints) -> None:
        if value is not None:
            for place, bounds in constraints.items():
                self.constraints[value][place] |= bounds

    def bodies(self, node: ir.Node) -> None:
        for attribute in node.attributes.values():
            if attribute.type != ir.AttributeType.GRAPH or attribute.is_ref():
                continue
            body = attribute.as_graph()
            results = body.outputs[node.op_type == "Loop" :]
            for inner, outer in zip(results, node.outputs, strict=False):
                self.ask(inner, self.constraints[outer])
            self.graph(body)
            for outer_input, inner in zip(node.inputs[2:], body.inputs[2:], strict=False):
                self.ask(outer_input, self.constraints[inner])
        if node.op_type == "Loop":
            self.ask(node.inputs[0], {None: SMALL})

    def node(self, node: ir.Node) -> None:
        use = USES.get(node.op_type)
        if use is not None:
            for position, constraints in use(node).items():
                if position < len(node.inputs):
                    self.ask(node.inputs[position], constraints)
        if not node.outputs or not node.inputs:
            return
        asked = self.constraints[node.outputs[0]]
        if _computes(node) and not any(asked.values()):
            for value in node.inputs:
                self.ask(value, {None: WHOLE})
        if node.op_type in _ALIKE:
            self.ask(node.inputs[0], asked)
        elif node.op_type in _RESHAPING:
            self.ask(node.inputs[0], _anywhere(asked))
        elif node.op_type == "Where":
            self.ask(node.inputs[1], asked)
            self.ask(node.inputs[2], asked)
        elif node.op_type in ("Add", "Sub"):
            self.sum(node, asked)
        elif node.op_type == "Unsqueeze":
            last = rank_of(node.outputs[0])
            value = node.inputs[0]
            alike = value is None or last is None or rank_of(value) is None
            kept = alike or extent_of(value, -1) == extent_of(node.outputs[0], -1)
            self.ask(value, asked if kept else _anywhere(asked))
        elif node.op_type == "Concat":
            self.concat(node, asked)

    def sum(self, node: ir.Node, asked: IndexConstraints) -> None:
        sign = 1 if node.op_type == "Add" else -1
        first, second = node.inputs[:2]
        for value, other, factor in ((first, second, sign), (second, first, 1)):
            constant = constant_of(other)
            if constant is None or constant.size != 1 or (sign < 0 and value is second):
                self.ask(value, asked)
                continue
            shift = factor * int(constant.ravel()[0])
            self.ask(
                value,
                {
                    place: frozenset(replace(b, offset=b.offset + shift) for b in bounds)
                    for place, bounds in asked.items()
                },
            )

    def concat(self, node: ir.Node, asked: IndexConstraints) -> None:
        rank, axis = rank_of(node.outputs[0]), node.attributes.get_int("axis", 0)
        extents = [extent_of(value, -1) for value in node.inputs]
        if rank is None or axis not in (-1, rank - 1) or None in extents:
            everywhere = _anywhere(asked)
            for value in node.inputs:
                self.ask(value, everywhere)
            return
        start = 0
        for value, extent in zip(node.inputs, extents, strict=True):
            size = extent if isinstance(extent, int) else 0
            mine: IndexConstraints = {
                place if place is None else place - start: bounds
                for place, bounds in asked.items()
                if place is None or start <= place < start + size
            }
            self.ask(value, _anywhere(mine) if size == 1 else mine)
            start += size


def _computes(node: ir.Node) -> bool:
    """Return whether a node takes integers as numbers: it computes, or makes floats of them."""
    if node.op_type == "Cast":
        return ir.DataType(node.attributes.get_int("to", 1)).is_floating_point()
    return node.op_type in _ARITHMETIC


def _anywhere(constraints: IndexConstraints) -> IndexConstraints:
    return {None: frozenset().union(*constraints.values())}


def compared_constants(model: ir.Model) -> tuple[int, ...]:
    """Return the integers that the model compares with, such as the label -100."""
    found: set[int] = set()
    for graph in all_graphs(model):
        for node in graph:
            if node.op_type in _COMPARISONS:
                for value in node.inputs:
                    constant = constant_of(value)
                    if constant is not None and constant.size == 1 and constant.dtype.kind == "i":
                        found.add(int(constant.ravel()[0]))
    return tuple(sorted(n for n in found if abs(n) < 1 << 31))

"""Finds ranges for a model's integer inputs, from the operators that use them.

One pass goes backwards over the nodes, and passes the constraints of operators on their inputs on
to the sources of these inputs. The ranges need not be exact: they only guide the draws of `verify`,
and the original model is run on every draw.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import onnx_ir as ir

from onnx_scatterx.ir.constants import constant
from onnx_scatterx.ir.graphs import all_nodes, graphs_of
from onnx_scatterx.judges.verification.interface import Dim


@dataclass(frozen=True)
class Bound:
    """`value + offset` lies in [-size, size + slack), or in [0, size + slack) if not `signed`.

    If `whole`, the value is a number for arithmetic, and may be any number of its type.
    """

    size: Dim
    slack: int = 0
    offset: int = 0
    signed: bool = True
    distinct: bool = False
    nonzero: bool = False
    whole: bool = False


Bounds = frozenset[Bound]
IndexConstraints = dict[int | None, Bounds]
"""The constraints on a tensor's elements: by position in its last axis, or (None) for all."""

SMALL = frozenset([Bound(6, signed=False)])  # for elements that are used as extents
WHOLE = frozenset([Bound(None, whole=True)])  # for elements that are used as numbers
_MOST_COLUMNS = 64  # the most columns of indices, if the rank of the data is not known
_STEP = frozenset([Bound(3, nonzero=True)])


def _all(*bounds: Bound) -> IndexConstraints:
    return {None: frozenset(bounds)}


def _each(constraints: IndexConstraints, change: Callable[[Bound], Bound]) -> IndexConstraints:
    return {position: frozenset(map(change, bounds)) for position, bounds in constraints.items()}


def _shifted(shift: int, bound: Bound) -> Bound:
    return replace(bound, offset=bound.offset + shift)


def rank_of(value: ir.Value | None) -> int | None:
    return None if value is None or value.shape is None else len(value.shape)


def extent_of(value: ir.Value | None, axis: int) -> Dim:
    if value is None or value.shape is None or not -len(value.shape) <= axis < len(value.shape):
        return None
    dim = value.shape[axis]
    return dim if isinstance(dim, int) else dim.value


def constant_of(value: ir.Value | None) -> np.ndarray | None:
    tensor = constant(value, ())
    if tensor is None or tensor.dtype == ir.DataType.STRING or tensor.size > 64:
        return None
    return tensor.numpy()


def _axis(node: ir.Node) -> Dim:
    return extent_of(node.inputs[0], node.attributes.get_int("axis", 0))


def _unreduced(node: ir.Node) -> bool:
    return node.attributes.get_string("reduction", "none") == "none"


def _columns(data: ir.Value | None, indices: ir.Value | None, first: int) -> IndexConstraints:
    """Return the constraints of GatherND and ScatterND: column j indexes axis `first + j`."""
    width = extent_of(indices, -1)
    if not isinstance(width, int):
        return _all(Bound(extent_of(data, first)))
    rank = rank_of(data)
    most = _MOST_COLUMNS if rank is None else rank
    columns = range(min(width, most))  # with more columns the node is invalid
    return {column: frozenset([Bound(extent_of(data, first + column))]) for column in columns}


def _scatter_nd(node: ir.Node) -> dict[int, IndexConstraints]:
    constraints = _columns(node.inputs[0], node.inputs[1], 0)
    if len(constraints) == 1 and _unreduced(node):
        constraints = _each(constraints, lambda bound: replace(bound, distinct=True))
    return {1: constraints}


def _tensor_scatter(node: ir.Node) -> dict[int, IndexConstraints]:
    axis = node.attributes.get_int("axis", -2)
    size, count = extent_of(node.inputs[0], axis), extent_of(node.inputs[1], axis)
    slack = 1 - count if isinstance(count, int) else 0
    if node.attributes.get_string("mode", "linear") == "circular":
        slack = 0
    return {2: _all(Bound(size, slack=slack, signed=False))}


def _top_k(node: ir.Node) -> dict[int, IndexConstraints]:
    size = extent_of(node.inputs[0], node.attributes.get_int("axis", -1))
    return {1: _all(Bound(size, slack=1, signed=False))}


def _slice(node: ir.Node) -> dict[int, IndexConstraints]:
    axes = constant_of(node.inputs[3]) if len(node.inputs) > 3 else np.zeros(1, np.int64)
    size: Dim = 8
    if axes is not None and axes.size == 1:
        size = extent_of(node.inputs[0], int(axes.ravel()[0]))
    edge = _all(Bound(size, slack=1))
    return {1: edge, 2: edge, 4: {None: _STEP}}


def _extents_at(position: int) -> Callable[[ir.Node], dict[int, IndexConstraints]]:
    return lambda _: {position: {None: SMALL}}


USES: dict[str, Callable[[ir.Node], dict[int, IndexConstraints]]] = {
    **dict.fromkeys(("Gather", "GatherElements"), lambda node: {1: _all(Bound(_axis(node)))}),
    "ScatterElements": lambda node: {1: _all(Bound(_axis(node), distinct=_unreduced(node)))},
    "Scatter": lambda node: {1: _all(Bound(_axis(node), distinct=True))},
    "GatherND": lambda node: {
        1: _columns(node.inputs[0], node.inputs[1], node.attributes.get_int("batch_dims", 0))
    },
    "ScatterND": _scatter_nd,
    "TensorScatter": _tensor_scatter,
    "OneHot": lambda node: {
        0: _all(*(Bound(int(c.ravel()[0])) for c in _constants(node.inputs[1:2]))),
        1: {None: SMALL},
    },
    "Slice": _slice,
    "Range": lambda _: {0: {None: SMALL}, 1: {None: SMALL}, 2: {None: _STEP}},
    **dict.fromkeys(("Div", "Mod"), lambda _: {1: _all(Bound(5, nonzero=True))}),
    "TopK": _top_k,
    **dict.fromkeys(("CenterCropPad", "Expand", "Pad", "Reshape", "Split", "Tile"), _extents_at(1)),
    "ConstantOfShape": _extents_at(0),
    "Resize": _extents_at(3),
}


def _constants(values: Iterable[ir.Value | None]) -> list[np.ndarray]:
    return [c for value in values if (c := constant_of(value)) is not None and c.size]


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
            position: bounds for position, bounds in pass_.constraints[value].items() if bounds
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
            for position, bounds in constraints.items():
                self.constraints[value][position] |= bounds

    def bodies(self, node: ir.Node) -> None:
        for body in graphs_of(node):
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
            self.ask(value, _each(asked, partial(_shifted, shift)))

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
                position if position is None else position - start: bounds
                for position, bounds in asked.items()
                if position is None or start <= position < start + size
            }
            self.ask(value, _anywhere(mine) if size == 1 else mine)
            start += size


def _computes(node: ir.Node) -> bool:
    """Return whether a node computes with integers, or casts them to floats."""
    if node.op_type == "Cast":
        return ir.DataType(node.attributes.get_int("to", 1)).is_floating_point()
    return node.op_type in _ARITHMETIC


def _anywhere(constraints: IndexConstraints) -> IndexConstraints:
    return {None: frozenset().union(*constraints.values())}


def compared_constants(model: ir.Model) -> tuple[int, ...]:
    """Return the constants with which the model compares integers, such as the label -100."""
    constants: set[int] = set()
    for node in all_nodes(model):
        for value in node.inputs if node.op_type in _COMPARISONS else ():
            constant = constant_of(value)
            if constant is not None and constant.size == 1 and constant.dtype.kind == "i":
                constants.add(int(constant.ravel()[0]))
    return tuple(sorted(n for n in constants if abs(n) < 1 << 31))

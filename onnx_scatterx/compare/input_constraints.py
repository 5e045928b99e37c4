"""Finds the ranges of a model's integer inputs.

One pass goes backwards over the nodes, and passes the constraints of operators on their inputs on
to the sources of these inputs.
"""

from collections import defaultdict
from dataclasses import replace
from functools import partial

import onnx_ir as ir

from onnx_scatterx.compare.index_bounds import (
    SMALL,
    UNKNOWN,
    USES,
    WHOLE,
    Bound,
    Bounds,
    IndexConstraints,
    constant_of,
    each,
    extent_of,
    rank_of,
)
from onnx_scatterx.graphs import graphs_of
from onnx_scatterx.operators import Passing, described


def moved(node: ir.Node) -> list[ir.Value]:
    """Return the inputs that pass to the results of a node, but for a limit or a sign."""
    row = described(node)
    places = row.moves or row.chooses or (0,)
    return [v for place, v in enumerate(node.inputs) if place in places and v is not None]


def input_constraints(model: ir.Model) -> dict[str, IndexConstraints]:
    """Return the constraints on the elements of each graph input; functions must be inlined.

    >>> text = '''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N] x, int64[M] i) => (float[M] y) <int64 k = {2}> {
    ...         j = Add (i, k)  y = Gather (x, j) }'''
    >>> [bound] = input_constraints(ir.from_onnx_text(text))["i"][None]
    >>> bound.interval({"N": 9})
    (-11, 6)
    """
    pass_ = _Backwards()
    for value in model.graph.outputs:
        pass_.ask(value, {None: WHOLE})
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
            if graphs_of(node):
                self.bodies(node)
            elif node.domain == "":
                self.node(node)
            else:
                self.unknown(node)

    def ask(self, value: ir.Value | None, constraints: IndexConstraints) -> None:
        if value is not None:
            for position, bounds in constraints.items():
                self.constraints[value][position] |= bounds

    def unknown(self, node: ir.Node) -> None:
        for value in node.inputs:
            self.ask(value, {None: UNKNOWN})

    def bodies(self, node: ir.Node) -> None:
        is_known = node.op_type in ("If", "Loop") and node.domain == ""
        if not is_known:
            self.unknown(node)
        for body in graphs_of(node):
            results = body.outputs[node.op_type == "Loop" :]
            for inner, outer in zip(results, node.outputs, strict=False):
                self.ask(inner, self.constraints[outer] if is_known else {None: UNKNOWN})
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
        row = described(node)
        if row.compares:
            for value in node.inputs:
                self.ask(value, {None: WHOLE})
        elif _computes(node):
            anything = _takes_anything(node, asked) or node.op_type == "Mod"
            passes = node.op_type in ("Add", "Cast", "Sub")  # the branches below ask more
            for value in node.inputs[: 1 if use is not None else None]:
                if anything or not passes:
                    self.ask(value, {None: WHOLE if anything else UNKNOWN})
        if row.passes is Passing.ALIKE:
            for value in moved(node):
                self.ask(value, asked)
        elif row.passes is Passing.ELSEWHERE:
            self.ask(node.inputs[0], _anywhere(asked))
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
        elif use is None and not _computes(node) and not row.compares:
            self.unknown(node)

    def sum(self, node: ir.Node, asked: IndexConstraints) -> None:
        sign = 1 if node.op_type == "Add" else -1
        first, second = node.inputs[:2]
        for value, other, factor in ((first, second, sign), (second, first, 1)):
            constant = constant_of(other)
            if constant is None or constant.size != 1 or (sign < 0 and value is second):
                self.ask(value, asked)
                continue
            shift = factor * int(constant.ravel()[0])
            self.ask(value, each(asked, partial(_shifted, shift)))

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


def _shifted(shift: int, bound: Bound) -> Bound:
    return replace(bound, offset=bound.offset + shift)


def _computes(node: ir.Node) -> bool:
    """Return whether a node computes with integers, or casts them to floats or booleans."""
    if node.op_type == "Cast":
        to = ir.DataType(node.attributes.get_int("to", 1))
        return to.is_floating_point() or to == ir.DataType.BOOL
    return described(node).passes is Passing.COMPUTED


def _takes_anything(node: ir.Node, asked: IndexConstraints) -> bool:
    """Return whether the results of a computation may be any numbers.

    If they are floats, an unknown use takes any number, too.
    """
    bounds = frozenset[Bound]().union(*asked.values())
    dtype = node.outputs[0].dtype
    if dtype is not None and not dtype.is_integer():
        return all(bound.whole or bound.size is None for bound in bounds)
    return all(bound.whole for bound in bounds)


def _anywhere(asked: IndexConstraints) -> IndexConstraints:
    return {None: frozenset[Bound]().union(*asked.values())}

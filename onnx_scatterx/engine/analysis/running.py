"""Which nodes run whenever their graph runs, so that their checks hold.

    s = Shape(Gather(x, [3]))            x: float[N, 4]

ONNX Runtime knows that ``s`` is [1, 4]. It computes ``s`` when the model is loaded, and removes the
Gather with its check. So a node of which only the shape is read proves nothing, unless that shape
has a size that an input of the model declares: then it is not known before the node has run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.call import Call
from onnx_scatterx.engine.analysis.domain.tensor import TensorValue
from onnx_scatterx.engine.terms import Term
from onnx_scatterx.graphs import (
    all_nodes,
    callers_first,
    graphs_of,
    is_operator,
    live_nodes,
    makers,
    reached,
)

ReadInputs: TypeAlias = Mapping[ir.OperatorIdentifier, Collection[int]]
"""The inputs of each function of which it reads elements, by position."""

_OF_SHAPES = ("Shape", "Size")


class DeclaredSizes:
    """The sizes that inputs of the model declare by a name, or not at all.

    ONNX Runtime knows such a size before a run only if it is declared elsewhere as a number: then
    it is known of all that follows from there.
    """

    def __init__(self, declared: Collection[Term]) -> None:
        self._declared = declared  # by the inputs that have been visited
        self._known: set[Term] = set()

    def note(self, value: ir.Value, known: TensorValue) -> None:
        """Note whether a value is declared with numbers for the sizes that it has."""
        if self._declared and value.shape is not None and known.shape is not None:
            told = zip(known.shape, value.shape, strict=False)
            self._known.update(term for term, dim in told if isinstance(dim, int))

    def are_asked(self, call: Call) -> bool:
        """Return whether a node is a Shape that asks for a size which only a run knows."""
        if not self._declared or not is_operator(call.node, ("Shape",)):
            return False
        shape = (None if call.inputs[0] is None else call.inputs[0].shape) or ()
        asked = shape[call.integer("start", 0) : call.integer("end", len(shape))]
        return any(dim in self._declared and dim not in self._known for dim in asked)


def running_nodes(graph: ir.Graph, functions: ReadInputs) -> set[ir.Node]:
    """Return the nodes of a graph whose elements its outputs need.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N] x) => (float[N] y, int64[1] z) {
    ...         y = Neg (x)  e = Exp (x)  z = Shape (e) }''')
    >>> sorted(node.op_type for node in running_nodes(model.graph, {}))
    ['Neg', 'Shape']
    """
    return live_nodes(graph, lambda node: _read(node, functions))


def needed_by(
    values: Iterable[ir.Value | None],
    graph: ir.Graph | ir.Function | None,
    functions: ReadInputs,
    running: Collection[ir.Node],
) -> Iterator[ir.Node]:
    """Yield the nodes of a graph whose elements some values need, apart from those that run."""

    def within(read: Iterable[ir.Value | None]) -> list[ir.Node]:
        return [n for n in makers(read) if n.graph is graph and n not in running]

    return reached(within(values), lambda node: within(_read(node, functions)))


def read_inputs(model: ir.Model) -> ReadInputs:
    """Return of which inputs each function of a model reads elements."""
    known: dict[ir.OperatorIdentifier, Collection[int]] = {}
    for function in reversed(callers_first(model)):
        read = {v for node in running_nodes(function.graph, known) for v in _read(node, known)}
        read.update(function.outputs)
        known[function.identifier()] = {i for i, v in enumerate(function.inputs) if v in read}
    return known


def _read(node: ir.Node, functions: ReadInputs) -> list[ir.Value]:
    """Return the values of which a node and its subgraphs read elements."""
    read = _read_itself(node, functions)
    for body in graphs_of(node):
        read += [v for inner in all_nodes(body) for v in _read_itself(inner, functions)]
        read += [v for v in body.outputs if v is not None]
    return read


def _read_itself(node: ir.Node, functions: ReadInputs) -> list[ir.Value]:
    if is_operator(node, _OF_SHAPES):
        return []
    known = functions.get(node.op_identifier()) if node.domain != "" else None
    return [v for i, v in enumerate(node.inputs) if v is not None and (known is None or i in known)]

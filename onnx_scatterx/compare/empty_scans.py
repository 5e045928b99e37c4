"""The scan outputs of a Loop that ran no iteration: their dims behind the first may differ.

    f, s = Loop(0, ...)      s has the shape (0, ...): ONNX Runtime infers the rest from the body

Nodes that are written otherwise may let ONNX Runtime infer other dims. The promise excepts them,
and no element differs, since there are none.
"""

from collections.abc import Sequence
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.graphs import called_function, callers_first, graphs_of, is_operator

Axes: TypeAlias = frozenset[int]
_NONE: Axes = frozenset()


def iterated_axes(model: ir.Model) -> dict[str, Axes]:
    """Return the axes along which Loops stack scan outputs, for each output of a model.

    A Loop stacks along axis 0. If its body returns a scan output of another Loop, that is stacked
    along axis 1, too. The axes are followed through Identity, If, Loop, Scan and calls.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["": 18]>
    ...     g (int64 n, float[2] x) => (float[2] y, float[?, 2] z) {
    ...     y, z = Loop (n, , x) <body = b (int64 i, bool on, float[2] s)
    ...         => (bool go, float[2] t, float[2] w) {
    ...         go = Identity (on)  t = Neg (s)  w = Abs (s) }> }''')
    >>> iterated_axes(model)
    {'y': frozenset(), 'z': frozenset({0})}
    """
    walk = _Walk(model)
    for function in reversed(callers_first(model)):
        walk.called[function] = walk.outputs(function.graph)
    found = walk.outputs(model.graph)
    return {v.name or "": axes for v, axes in zip(model.graph.outputs, found, strict=True)}


def is_without_iterations(before: Sequence[int], after: Sequence[int], axes: Axes) -> bool:
    """Return whether two shapes differ only behind an axis of iterations that has none.

    >>> is_without_iterations((0, 4), (0, 0), frozenset({0}))
    True
    >>> is_without_iterations((2, 0), (2, 4), frozenset({0}))
    False
    """
    same = [axis for axis in axes if axis < min(len(before), len(after))]
    return any(before[axis] == 0 and before[: axis + 1] == after[: axis + 1] for axis in same)


class _Walk:
    """The axes of the values of a model that were visited, and those of functions' outputs."""

    def __init__(self, model: ir.Model) -> None:
        self._model = model
        self._axes: dict[ir.Value | None, Axes] = {}
        self.called: dict[ir.Function, list[Axes]] = {}

    def outputs(self, graph: ir.Graph) -> list[Axes]:
        for node in graph:
            self._axes.update(zip(node.outputs, self._of(node), strict=False))
        return [self._axes.get(value, _NONE) for value in graph.outputs]

    def _of(self, node: ir.Node) -> Sequence[Axes]:
        callee = called_function(self._model, node)
        if callee is not None:
            return self.called.get(callee, ())
        if is_operator(node, {"Identity"}):
            return [self._axes.get(node.inputs[0], _NONE)]
        bodies = [self.outputs(body) for body in graphs_of(node)]
        if is_operator(node, {"If"}):
            return [first & second for first, second in zip(*bodies, strict=False)]
        if is_operator(node, {"Loop"}):
            states = max(len(node.inputs) - 2, 0)
            stacked = (_behind(axes) | {0} for axes in bodies[0][states + 1 :])
            return [*[_NONE] * states, *stacked]
        if is_operator(node, {"Scan"}) and "scan_output_axes" not in node.attributes:
            states = len(node.inputs) - node.attributes["num_scan_inputs"].as_int()
            return [*[_NONE] * states, *map(_behind, bodies[0][states:])]
        return ()


def _behind(axes: Axes) -> Axes:
    """Return the axes of a body's output as axes of what is stacked."""
    return frozenset(axis + 1 for axis in axes)

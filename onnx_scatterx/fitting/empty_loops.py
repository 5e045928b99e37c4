"""The Loops that may run no iteration, and the Scans: what ONNX Runtime infers for their bodies.

    f, s = Loop(0, ...)             s has the numbers that ONNX Runtime infers of the body, else 0
    f, s = Scan(...)                runs only if ONNX Runtime infers all ranks of the body's outputs

If ONNX Runtime infers less for the new body, as for a Concat in the place of a scatter, the body
declares what was inferred for the original.
"""

from __future__ import annotations

from collections.abc import Collection, Container

import onnx_ir as ir

from onnx_scatterx.engine.budget.limits import LIMITS
from onnx_scatterx.engine.passes.marks import NUMBER
from onnx_scatterx.engine.write.native.attached import add_fallbacks
from onnx_scatterx.errors import ModelError
from onnx_scatterx.fitting.inference import inferred
from onnx_scatterx.graphs.cleanup import cloned
from onnx_scatterx.graphs.constants import constant, overridable
from onnx_scatterx.graphs.traversal import (
    all_nodes,
    called_function,
    callers_first,
    graphs_of,
    is_operator,
)
from onnx_scatterx.text.reasons import Reason, Refusal

Dims = tuple[int | None, ...] | None
_Inferred = dict[int, set[tuple[Dims, ...]]]
"""For each Loop or Scan, the dims of outputs of its body in each call of its function."""


class EmptyLoops:
    """The Loops that may run no iteration, the Scans, and what is inferred for their bodies.

    They are known by their numbers (``NUMBER``), which their copies share.
    """

    def __init__(self, model: ir.Model) -> None:
        self._model = model
        open_to_callers = overridable(model)
        nodes = all_nodes(model)
        loops = [n for n in nodes if is_operator(n, ("Scan",)) or _may_be_empty(n, open_to_callers)]
        self._numbers = {node.meta[NUMBER] for node in loops}
        self._inferred = self._infer()

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def keep_dims(self) -> dict[int, Refusal]:
        """Declare what was inferred; return those for which something else is inferred now."""
        for node in _nodes(self._model, self._numbers):
            called = (self._inferred[0] or {}).get(node.meta[NUMBER], set())
            for value, *dims in zip(_scanned(node), *called, strict=True) if called else ():
                _declare(value, dims)
        pairs = zip(self._infer(), self._inferred, strict=True)
        differing = {n for now, then in pairs for n in self._differing(now, then)}
        return dict.fromkeys(differing, Refusal(Reason.EMPTY_LOOP))

    def _infer(self) -> list[_Inferred | None]:
        """Return the dims of these outputs, without and with constants that are folded.

        ONNX Runtime folds them under its default options. A function has a body for each call.
        """
        folds = (False, True) if self._numbers else ()
        return [_dims_of(self._model, self._numbers, fold) for fold in folds]

    def _differing(self, now: _Inferred | None, then: _Inferred | None) -> set[int]:
        """Return those for which something else is inferred; one that is gone does not count."""
        if now is None or then is None:
            return self._numbers
        return {number for number in now if now[number] != then.get(number)}


def _nodes(model: ir.Model, numbers: Container[int]) -> list[ir.Node]:
    return [n for n in all_nodes(model) if n.meta.get(NUMBER) in numbers]


def _may_be_empty(node: ir.Node, overridable: Collection[ir.Value]) -> bool:
    """Return whether a node is a Loop with scan outputs that may run no iteration."""
    if node.op_type != "Loop" or node.domain != "" or len(node.outputs) < len(node.inputs) - 1:
        return False
    count, condition = (*node.inputs[:2], None, None)[:2]
    return not (_is_set(count, overridable) and _is_set(condition, overridable))


def _is_set(value: ir.Value | None, overridable: Collection[ir.Value]) -> bool:
    """Return whether a count or condition is left out, or is a constant that is positive."""
    if value is None:
        return True
    fixed = constant(value, overridable)
    kinds = ir.DataType.INT64, ir.DataType.BOOL
    return fixed is not None and fixed.dtype in kinds and bool((fixed.numpy() > 0).all())


def _scanned(node: ir.Node) -> list[ir.Value]:
    """Return the outputs of a body that are judged: all of a Scan; those that a Loop stacks."""
    (body,) = graphs_of(node)
    return list(
        body.outputs if is_operator(node, ("Scan",)) else body.outputs[len(node.inputs) - 1 :]
    )


def _dims_of(model: ir.Model, numbers: Container[int], fold: bool) -> _Inferred | None:
    """Return what ONNX infers of these outputs of each body, for each of its copies."""
    copy = cloned(model)
    add_fallbacks(copy)
    if _calls(copy) > LIMITS.visits:
        return None
    try:
        copy = inferred(copy, fold=fold)
    except ModelError:
        return None
    by_number: _Inferred = {}
    for node in _nodes(copy, numbers):
        dims = map(_ranks if is_operator(node, ("Scan",)) else _numbers, _scanned(node))
        by_number.setdefault(node.meta[NUMBER], set()).add(tuple(dims))
    return by_number


def _calls(model: ir.Model) -> int:
    """Return how many calls of functions are inlined: nested calls multiply."""
    counts = {f.identifier(): 0 for f in model.functions.values()}
    total = 0
    for function in (None, *callers_first(model)):
        times = 1 if function is None else counts[function.identifier()]
        graph = model.graph if function is None else function.graph
        for node in all_nodes(graph):
            callee = called_function(model, node)
            if callee is not None:
                counts[callee.identifier()] += times
                total += times
    return total


def _numbers(value: ir.Value) -> Dims:
    if value.shape is None:
        return None
    return tuple(dim if isinstance(dim, int) else None for dim in value.shape)


def _ranks(value: ir.Value) -> Dims:
    return None if value.shape is None else (None,) * len(value.shape)


def _declare(value: ir.Value, dims: list[Dims]) -> None:
    """Declare the numbers that are inferred in every call."""
    first = dims[0]
    if first is None or any(d is None or len(d) != len(first) for d in dims):
        return
    if value.producer() is None or (value.shape is not None and len(value.shape) != len(first)):
        return
    old = [None] * len(first) if value.shape is None else list(value.shape)
    same = [d[0] if len(set(d)) == 1 else None for d in zip(*filter(None, dims), strict=True)]
    value.shape = ir.Shape(
        o if s is None or isinstance(o, int) else s for o, s in zip(old, same, strict=True)
    )

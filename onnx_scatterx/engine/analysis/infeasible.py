"""Nodes that cannot run, as far as shapes show, and nodes that ONNX's shape inference misreads.

The shapes of a node's inputs may contradict each other: at some sizes, in a branch that is not
taken. ONNX Runtime refuses to run such a node, whether tensors have elements or not. If a failure
is not certain, it is not reported.

>>> from onnx_scatterx.engine.terms import size, term
>>> n = size("n")
>>> shapes_conflict((n, term(3)), (term(0),)), shapes_conflict((n, term(1)), (term(0),))
(True, False)

    u = Slice(x, starts = [0], ends = [2^63 - 1], steps = [-3])

ONNX Runtime takes the largest ends for the first element, and returns one element or more. ONNX's
shape inference takes them for the last one, and infers an empty axis. The original may load, if
nothing depends on that shape. A node that is written behind such a node might not.

    y = Reshape(x, Concat([0], n))             x: float[0], n known only at run time

Shape inference takes the unknown size for -1, and refuses -1 beside a 0. The original loads, if
what makes ``x`` empty is known only at run time, too. A constant in place of ``x`` is known sooner.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.call import (
    Call,
    Knowledge,
    Scope,
    require,
    required,
)
from onnx_scatterx.engine.analysis.domain.tensor import Shape
from onnx_scatterx.engine.analysis.operators.arithmetic import COMPARISONS, SAME_TYPE
from onnx_scatterx.engine.analysis.operators.gathers import named_axes
from onnx_scatterx.engine.terms import term


class InfeasibleError(Exception):
    """A model cannot run at the sizes that are asked about."""


def must_fail(call: Call) -> bool:
    """Return whether a node certainly fails wherever it is run."""
    check = _CHECKS.get(call.node.op_type)
    if check is None or call.node.domain != "" or not call.version:
        return False
    try:
        return check(call)
    except LookupError:
        return False


def shapes_conflict(a: Shape, b: Shape) -> bool:
    """Return whether two shapes certainly cannot be broadcast against each other."""
    return any(_differ(m, n) for m, n in zip(reversed(a), reversed(b), strict=False))


def _differ(m: object, n: object) -> bool:
    sizes = [getattr(d, "constant", None) for d in (m, n)]
    return None not in sizes and 1 not in sizes and sizes[0] != sizes[1]


def _shape(call: Call, i: int, least: int = 0) -> Shape:
    """Return the shape of an input. A dim that the facts prove to be 0 is the number 0."""
    dims = call.known(i, least).dims
    return tuple(term(0) if call.facts.interval(d)[1] <= 0 else d for d in dims)


def _broadcast(call: Call) -> bool:
    ranks = enumerate(None if x is None else x.rank for x in call.inputs)
    shapes = [_shape(call, i) for i, rank in ranks if rank is not None]
    return any(shapes_conflict(a, b) for i, a in enumerate(shapes) for b in shapes[:i])


def _expand(call: Call) -> bool:
    return shapes_conflict(_shape(call, 0), tuple(call.vector(1)))


def _gather(call: Call) -> bool:
    """An index names an element."""
    data, indices = _shape(call, 0, 1), _shape(call, 1)
    return _names_nothing(call, (data[call.integer("axis", 0) % len(data)],), indices)


def _elements(call: Call) -> bool:
    """Data and indices are of one rank, and an index names an element."""
    return len(_shape(call, 0)) != len(_shape(call, 1)) or _gather(call)


def _names_nothing(call: Call, axes: Shape, indices: Shape) -> bool:
    """Return whether there is an index, and an axis without elements."""
    return any(n.constant == 0 for n in axes) and all(
        call.facts.is_nonnegative(n - 1) for n in indices
    )


def _rows(call: Call) -> bool:
    """Indices name at most all axes, and elements; the updates have the remaining shape."""
    data, indices = _shape(call, 0), _shape(call, 1, 1)
    depth = required(indices[-1].constant)
    if depth > len(data) or _names_nothing(call, named_axes(call, data, indices) or (), indices):
        return True
    require(call.node.op_type == "ScatterND")
    updates, wanted = _shape(call, 2), (*indices[:-1], *data[depth:])
    if len(wanted) != len(updates):
        return True
    pairs = ((a.constant, b.constant) for a, b in zip(wanted, updates, strict=True))
    return any(a is not None and b is not None and a != b for a, b in pairs)


def _unsqueeze(call: Call) -> bool:
    """An axis is one of the output's."""
    x, axes = _shape(call, 0), required(call.numbers(1, "axes"))
    rank = len(x) + len(axes)
    return any(not -rank <= a < rank for a in axes)


def _top_k(call: Call) -> bool:
    x, count = _shape(call, 0, 1), required(call.present(1).scalar)
    k, n = count.constant, x[call.integer("axis", -1) % len(x)].constant
    return k is not None and n is not None and k > n


def _reshape(call: Call) -> bool:
    """The number of elements is kept; -1 is impossible if the other dims multiply to 0."""
    x, target = _shape(call, 0), call.vector(1)
    as_written = bool(call.integer("allowzero", 0))
    sizes = [t.constant for t in target]
    if not as_written and any(s == 0 and i >= len(x) for i, s in enumerate(sizes)):
        return True
    asked = [
        x[i] if s == 0 and not as_written else t
        for i, (s, t) in enumerate(zip(sizes, target, strict=True))
    ]
    total = math.prod(x, start=term(1)).constant
    others = math.prod((t for t in asked if t.constant != -1), start=term(1)).constant
    if -1 in sizes and others == 0:
        # This holds for all values of the unknown sizes. A 0 as it is written may mean "no
        # element".
        return total not in (None, 0) if as_written else True
    if total is None or others is None or None in sizes:
        return False
    return total % others != 0 if -1 in sizes else total != others


_CHECKS: dict[str, Callable[[Call], bool]] = {
    **dict.fromkeys((*SAME_TYPE, *COMPARISONS, "Where"), _broadcast),
    "Expand": _expand,
    "Gather": _gather,
    **dict.fromkeys(("ScatterElements", "GatherElements"), _elements),
    **dict.fromkeys(("ScatterND", "GatherND"), _rows),
    "Unsqueeze": _unsqueeze,
    "TopK": _top_k,
    "Reshape": _reshape,
}


_ENDS = (2**31 - 1, 2**63 - 1)


def misread_node(knowledge: Knowledge, *, folded: bool = False) -> ir.Node | None:
    """Return the first node of a model whose shape is inferred wrongly, if there is one.

    A Reshape counts only if values are to be ``folded``: else its shape is not known sooner.
    """
    for graph, scope in knowledge.scopes.items():
        for node in graph:
            check = _MISREAD.get(node.op_type) if node.domain == "" else None
            counts = folded or node.op_type != "Reshape"
            if check is not None and counts and check(node, scope):
                return node
    return None


def _reshape_is_misread(node: ir.Node, scope: Scope) -> bool:
    x, target = map(scope.of, node.inputs[:2])
    sizes = target.vector()
    if x.shape is None or sizes is None or all(t.constant is not None for t in sizes):
        return False
    empty = [i for i, t in enumerate(sizes) if t.constant == 0]
    as_written = "allowzero" in node.attributes
    return any(as_written or (i < len(x.shape) and x.shape[i].constant == 0) for i in empty)


def _slice_is_misread(node: ir.Node, scope: Scope) -> bool:
    ends, steps = (_numbers(node, index, scope) for index in (2, 4))
    if ends is None or steps is None or ends.shape != steps.shape:
        return False  # without steps, or with ends that shape inference does not know either
    return bool((np.isin(ends, _ENDS) & (steps < 0)).any())


_MISREAD = {"Reshape": _reshape_is_misread, "Slice": _slice_is_misread}


def _numbers(node: ir.Node, index: int, scope: Scope) -> np.ndarray | None:
    return scope.of(node.inputs[index]).constant if index < len(node.inputs) else None

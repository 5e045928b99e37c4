"""Facts that hold because the original model runs.

A node that checks its inputs, and did not fail, proves something: ``Gather`` at index 3 proves that
the axis has at least four elements. The optimized model may rely on it, since it may accept more
inputs than the original, never fewer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from onnx_scatterx.engine.analysis.domain.call import (
    Call,
    NotKnownError,
    require,
    required,
)
from onnx_scatterx.engine.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.engine.analysis.domain.widening import has_negative_size
from onnx_scatterx.engine.analysis.operators import slicing
from onnx_scatterx.engine.analysis.operators.gathers import named_axes
from onnx_scatterx.engine.analysis.operators.reshaping import may_copy
from onnx_scatterx.engine.budget import PRICES, budget
from onnx_scatterx.engine.terms import Facts, Term, term


def facts_of(call: Call) -> list[Term]:
    """Return terms that are >= 0 once the node has run."""
    check = _CHECKS.get(call.node.op_type)
    try:
        return [] if check is None else check(call)
    except NotKnownError:
        return []


def is_disproved(call: Call, outputs: Iterable[TensorValue | None]) -> bool:
    """Return whether what a node checks, or a size of its outputs, is a negative number."""
    below = any(fact.constant is not None and fact.constant < 0 for fact in facts_of(call))
    return below or any(t is not None and has_negative_size(t.shape) for t in outputs)


def _unproven(terms: Iterable[Term], facts: Facts) -> list[Term]:
    """Return the terms that are not numbers, and not yet known to be >= 0."""
    return [t for t in terms if t.constant is None and not facts.is_nonnegative(t)]


def _gather(call: Call) -> list[Term]:
    require(len(call.inputs) == 2)
    data, indices = call.known(0, 1).dims, call.present(1)
    axis = call.integer("axis", 0) % len(data)
    within = _within(indices.constant, data[axis])
    facts = within or _indexed([data[axis]], indices.shape, call.facts)
    return facts if call.node.op_type == "Gather" else [*facts, *_beside(axis, data, indices)]


def _scatter(call: Call) -> list[Term]:
    data, indices = call.known(0, 1).dims, call.present(1)
    return _beside(call.integer("axis", 0) % len(data), data, indices)


def _within(indices: np.ndarray | None, extent: Term) -> list[Term]:
    if indices is None or not indices.size or extent.constant is not None:
        return []
    budget().charge_part(PRICES.of_array(indices.size))
    low, high = int(indices.min()), int(indices.max())
    needed = max(high + 1 if high >= 0 else 0, -low if low < 0 else 0)
    return [extent - needed]


def _indexed(extents: Iterable[Term], rows: Shape | None, facts: Facts) -> list[Term]:
    """Every index is checked, even if no element is copied.

    So if there is an index, its axis has an element, and an axis without elements has no index. The
    nodes that write check them as well; but what replaces them is guarded against sizes of 0 in any
    case, since in older versions a Mod by 0 ends the process.
    """
    maybe = None if rows is None else [n for n in rows if not facts.is_nonnegative(n - 1)]
    unknown = [e for e in extents if e.constant is None]
    if maybe is None or len(maybe) > 1:
        return []
    if maybe:
        empty = any(facts.interval(e)[1] <= 0 for e in extents)
        return [-maybe[0]] if empty and maybe[0].constant is None else []
    return [e - 1 for e in unknown]


def _by_rows(call: Call) -> list[Term]:
    """Each row of indices that GatherND reads names an element of some axes."""
    data, indices = call.known(0, 1).dims, call.known(1, 1).dims
    return _indexed(required(named_axes(call, data, indices)), indices[:-1], call.facts)


def _filled(call: Call) -> list[Term]:
    """A Reshape cannot compute the size that -1 stands for if another one is 0.

    A 0 copies a dim of the input. If zeros do not copy, ONNX Runtime computes some size.
    """
    shape, target = call.known(0).dims, call.vector(1)
    require(not call.integer("allowzero", 0), any(t.constant == -1 for t in target))
    sizes = []
    for i, t in enumerate(target):
        if i < len(shape) and t.constant == 0:
            sizes.append(shape[i])
        elif i >= len(shape) or not may_copy(t, shape[i], call.facts):
            sizes.append(t)
    return _unproven((n - 1 for n in sizes), call.facts)


def _slid(call: Call) -> list[Term]:
    """The window of a convolution fits at least once."""
    return _unproven(slicing.room_of_conv(call), call.facts)


def _beside(axis: int, data: Shape, indices: TensorValue) -> list[Term]:
    """On axes that the indices do not name, at most the whole axis is read or written."""
    if indices.shape is None or len(indices.shape) != len(data):
        return []
    pairs = zip(data, indices.shape, strict=True)
    return [size - extent for d, (size, extent) in enumerate(pairs) if d != axis]


def _counted(call: Call) -> list[Term]:
    """At most all elements are true."""
    x = call.known(0)
    require(x.static_shape is not None or len(x.dims) < 2)
    return [math.prod(x.dims, start=term(1)) - call.unknown_size(1)]


def _axes(call: Call) -> list[Term]:
    """No size is negative, even if it depends on numbers that are known only at run time."""
    return [n for n in call.known(0).dims if call.facts.magnitude(n) == math.inf]


def _chosen(call: Call) -> list[Term]:
    """The number of chosen elements is between 0 and the number of elements."""
    require(len(call.inputs) == 2)
    data, count = call.known(0, 1).dims, required(call.present(1).scalar)
    require(count.constant is None)
    return [data[call.integer("axis", -1) % len(data)] - count, count]


def _sizes(call: Call) -> list[Term]:
    """A requested size is never negative, and unlike in a Reshape, -1 does not stand for a size."""
    return _unproven(call.vector(len(call.inputs) - 1), call.facts)


def _columns(call: Call) -> list[Term]:
    """Each known row of indices names an element."""
    data, indices = call.known(0, 1).dims, required(call.known(1, 1).constant)
    require(indices.size)
    columns = indices.reshape(-1, indices.shape[-1])
    facts = []
    for c in range(min(columns.shape[1], len(data))):
        facts += _within(columns[:, c], data[c])
    return facts


_CHECKS: dict[str, Callable[[Call], list[Term]]] = {
    **dict.fromkeys(("Gather", "GatherElements"), _gather),
    **dict.fromkeys(("Scatter", "ScatterElements"), _scatter),
    **dict.fromkeys(("Conv", "ConvInteger"), _slid),
    **dict.fromkeys(("ConstantOfShape", "Expand"), _sizes),
    "GatherND": _by_rows,
    "NonZero": _counted,
    "Reshape": _filled,
    "ScatterND": _columns,
    "Shape": _axes,
    "TopK": _chosen,
}

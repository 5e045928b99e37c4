"""A write of one number at the indices of the next write becomes that write's start value.

    before   s = ScatterElements(x, i, c)            all of c is one number
             y = ScatterElements(s, i, u, reduction="max")
             z = GatherElements(y, i)                nothing else reads y, nothing else reads s
    after    s = Expand(c, Shape(x))

Exporters write ``scatter_reduce(include_self=False)`` as such a pair. Where ``i`` points, s is c,
so y starts from c. Only these elements of y are read. Holds for any indices. If the first scatter
reduces too, x must be one number as well, and their result the same however often c is written.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Gather,
    Plan,
    Refusal,
    Scatter,
    ScatterRule,
    as_numbers,
    granted,
    refuse_unless,
)

_LISTED = 4096  # bytes of a new constant
_READERS = 64  # nodes that are visited
_REDUCE = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


class StartValueRule(ScatterRule):
    """Writes the number that another scatter starts from, if only that is read."""

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        number = granted(_written(scatter, context))
        refuse_unless(_is_start(scatter, context))
        w, dtype, shape = context.writer, scatter.dtype, as_numbers(scatter.data_shape)

        def write() -> ir.Value:
            if shape is not None and math.prod(shape) * number.itemsize <= _LISTED:
                return w.constant(np.full(shape, number), dtype)
            whole = context.numbers.shape(scatter.data_shape)
            return w.node("Expand", [w.constant(number, dtype), whole], dtype)

        return Plan(write)


def _written(scatter: Scatter, context: Context) -> np.ndarray | None:
    """Return the number that each written element has, however often it is written."""
    number = context.constants.splat(scatter.updates)
    if number is None or scatter.reduction == "none":
        return number
    reduce, before = _REDUCE.get(scatter.reduction), context.constants.splat(scatter.data)
    if reduce is None or before is None or number.dtype.kind not in "fiu":
        return None
    if np.isnan(number) or np.isnan(before) or number == before:
        return None  # the sign of equal zeros is undefined
    with np.errstate(over="ignore", invalid="ignore"):
        once = np.asarray(reduce(before, number))
        again = np.asarray(reduce(once, number))
    return once if again.tobytes() == once.tobytes() and not np.isnan(once) else None


def _is_start(scatter: Scatter, context: Context) -> bool:
    """Return whether the only reader is a scatter to these points, of which no others are read."""
    (output,) = scatter.node.outputs
    after = _only_reader(output, scatter)
    if after is None or after.inputs[0] is not output:
        return False
    later = context.access(after)
    if not isinstance(later, Scatter) or not _same_points(later, scatter):
        return False
    return _is_read_only_at(after.outputs[0], scatter, context)


def _only_reader(value: ir.Value, scatter: Scatter) -> ir.Node | None:
    """Return the node of the graph that reads a value, if it alone reads it, and once."""
    uses = list(value.uses())
    if len(uses) != 1 or value.is_graph_output():
        return None
    (use,) = uses
    return use.node if use.node.graph is scatter.node.graph else None


def _is_read_only_at(value: ir.Value, scatter: Scatter, context: Context) -> bool:
    """Return whether all readers of a tensor read only the points that a scatter writes."""
    uses = list(value.uses())
    if value.is_graph_output() or not uses or len(uses) > _READERS:
        return False
    for node, index in uses:
        if node.op_type == "Shape" and node.domain == "":
            continue
        if node.graph is not scatter.node.graph or index != 0:
            return False
        read = context.access(node)
        if not isinstance(read, Gather) or not _same_points(read, scatter):
            return False
    return True


def _same_points(access: Gather | Scatter, scatter: Scatter) -> bool:
    """Return whether two accesses have the same number of points I, and equal T(I) for each."""
    if len(access.shape) != len(scatter.shape):
        return False
    return (
        access.index_exprs == scatter.index_exprs
        and access.nonnegative == scatter.nonnegative
        and all(map(scatter.facts.equal, access.shape, scatter.shape))
        and all(map(scatter.facts.equal, access.data_shape, scatter.data_shape))
    )

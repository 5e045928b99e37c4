"""Numbers that are sizes, which a compiler does not know when it reads them as numbers.

    limit_as_size    Cast<float>(Gather(Shape(x), d))   =   Cast<float>(Max(n, 0))
                     axis d of x is as long as Range(0, n, 1)

A Range of more than 2^52 elements has no place in memory, so no number of elements is rounded.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import required
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import attribute_of, constant, is_operator, makers, remove_dead
from onnx_scatterx.operators import described

_INT64 = ir.DataType.INT64


def limit_as_size(at: Candidate) -> bool:
    """Cast the limit of a Range in place of a size that follows from it."""
    node, number = at.node, at.node.inputs[0] if at.node.inputs else None
    if number is None or not _is_read(number):
        return False
    size, to = at.scope.of(number).scalar, ir.DataType(attribute_of(node, "to", 0) or 0)
    if size is None or size.constant is not None or not to.is_floating_point():
        return False
    place = {id(other): i for i, other in enumerate(required(node.graph))}
    for line in at.others("Range"):
        dims = at.scope.of(line.outputs[0]).shape
        if dims is None or dims[0] != size or place[id(line)] > place[id(node)]:
            continue
        limit = _limit(at, line)
        if limit is not None:
            return _cast(at, number, limit)
    return False


def _cast(at: Candidate, number: ir.Value, limit: ir.Value) -> bool:
    before = required(number.producer())
    is_written = at.replace_input(at.node, 0, lambda: _written(at, number, limit))
    remove_dead([before] if is_written else [])
    return is_written


def _is_read(number: ir.Value) -> bool:
    """Return whether a number is read from a shape."""
    maker = number.producer()
    while maker is not None and 0 in described(maker).moves:
        maker = next(iter(makers(maker.inputs[:1])), None)
    return is_operator(maker, ("Shape",))


def _limit(at: Candidate, node: ir.Node) -> ir.Value | None:
    """Return the limit of a Range of int64 from 0 in steps of 1."""
    ends = [constant(node.inputs[i], at.scope.overridable) for i in (0, 2)]
    counts = [None if end is None else end.numpy().item() for end in ends]
    is_whole = at.scope.of(node.outputs[0]).dtype == _INT64
    return node.inputs[1] if is_whole and counts == [0, 1] else None


def _written(at: Candidate, number: ir.Value, limit: ir.Value) -> ir.Value:
    w, shape = at.writer, required(at.scope.of(number).shape)
    known = at.scope.of(limit)
    if known.scalar is None or not w.facts.is_nonnegative(known.scalar):
        limit = w.node("Max", [limit, w.constant(np.array(0))], _INT64)
    if known.rank == len(shape):
        return limit
    return w.node("Reshape", [limit, w.constant([1] * len(shape))], _INT64)

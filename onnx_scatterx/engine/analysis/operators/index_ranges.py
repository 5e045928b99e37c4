"""Which numbers an operator takes as indices, starts or counts along an axis of its data.

    Gather, GatherElements, Scatter, ScatterElements     indices in [-size, size) of one axis
    GatherND, ScatterND                                  a column of indices for each named axis
    TensorScatter                                        starts in [0, size - written]
    TopK                                                 a count in [0, size]

A range names inputs and axes, so it needs no sizes: the interpreter reads them off abstract values,
and the draws of `verify` read them off declared shapes.
"""

from __future__ import annotations

from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.call import Call


class IndexRange(NamedTuple):
    """Numbers of an input that lie in [-size, size) of an axis of the data, which is input 0.

    ``column`` is their position in the last axis of the input; None: all its numbers. If not
    ``signed``, the least one is 0. The greatest one is less by the size of the input ``less`` along
    that axis. If ``inclusive``, it is greater by 1. If ``wraps``, greater ones are taken, too, and
    mean what they are modulo the size.
    """

    input: int
    axis: int
    column: int | None = None
    signed: bool = True
    less: int | None = None
    inclusive: bool = False
    wraps: bool = False


def index_ranges(
    node: ir.Node, rank: int | None, width: int, call: Call | None = None
) -> list[IndexRange]:
    """Return the ranges of the numbers that a node of the default domain takes, if it takes some.

    ``rank`` is the rank of the data, if it is known. ``width`` is the last dim of the indices,
    which counts for GatherND and ScatterND only. With ``call``, attributes may refer to those of a
    function; NotKnownError if one is not known.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 4, 5] x, int64[M, 2] i) => (float[M, 5] y) { y = GatherND (x, i) }''')
    >>> [(r.axis, r.column) for r in index_ranges(model.graph[0], 3, 2)]
    [(0, 0), (1, 1)]
    """
    integer = node.attributes.get_int if call is None else call.integer
    op = node.op_type
    if op in ("Gather", "GatherElements", "Scatter", "ScatterElements"):
        return [IndexRange(1, integer("axis", 0))]
    if op in ("GatherND", "ScatterND"):
        first = integer("batch_dims", 0) if op == "GatherND" else 0
        columns = range(width if rank is None else min(width, rank - first) if first >= 0 else 0)
        return [IndexRange(1, first + column, column) for column in columns]
    if op == "TensorScatter":
        string = node.attributes.get_string if call is None else call.string
        axis = integer("axis", -2)
        if string("mode", "linear") == "circular":
            return [IndexRange(2, axis, signed=False, wraps=True)]
        return [IndexRange(2, axis, signed=False, less=1, inclusive=True)]
    if op == "TopK":
        return [IndexRange(1, integer("axis", -1), signed=False, inclusive=True)]
    return []

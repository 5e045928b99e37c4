"""Rows of a small table, for a compiler that tries an index beyond its end.

    Gather(w[3], i)   =   Gather([w, w, w], i)

An index from -3 to 2 finds the same row in a table that is repeated: a negative one counts from the
end of the last copy. Other indices fail in the original.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import require, required
from onnx_scatterx.engine.write.forms.request import Request

_LARGEST = 1 << 20  # elements of the repeated table


def repeated_rows(request: Request) -> ir.Value:
    """Gather from a constant table that is repeated until it has as many rows as are needed."""
    w = request.writer
    limits = w.target.limits_of(request.op)
    least = max((use.fewer or 0 for use in limits.refused), default=0)
    table = required(request.constant(request.inputs[0])).numpy()
    require(table.ndim, table.size, request.kind != ir.DataType.STRING)
    axis = request.axis(table.ndim)
    count = -(-least // table.shape[axis])
    require(count > 1, table.size * count <= _LARGEST)
    rows = w.constant(np.concatenate([table] * count, axis), request.kind)
    attributes = {} if axis == 0 and "axis" in limits.unwritten else {"axis": axis}
    return w.node(request.op, [rows, request.inputs[1]], request.kind, **attributes)

"""Angles of positions: floats that are made of integers, as a rotary embedding makes them.

    Cos(Cast(i) * [1, 0.75, 0.56, ...])      of an i that is known only when the model runs

A compiler that computes in float16 knows such an angle to a few bits: float16 has steps of 0.5
between 512 and 1024, and a turn is 6.3.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import onnx_ir as ir

from onnx_scatterx.engine.analysis import TensorValue
from onnx_scatterx.graphs import constant, is_operator

_WAVES = ("Cos", "Sin")
_INTEGERS = (ir.DataType.INT64, ir.DataType.INT32)
_MOST = 16  # nodes between the integers and the function


def is_of_positions(
    op_type: str,
    inputs: Sequence[ir.Value | None],
    of: Callable[[ir.Value], TensorValue],
    overridable: Collection[ir.Value],
) -> bool:
    """Return whether a node is a sine or cosine of integers that are cast.

    Between the Cast and the node, no node reads anything else that is not a constant.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 17]>
    ...     g (int64[1] i) => (float[2] y) <float[2] f = {1, 0.5}> {
    ...         a = Cast <to = 1> (i)  b = Mul (a, f)  y = Cos (b) }''')
    >>> types = {"i": ir.DataType.INT64}
    >>> of = lambda v: TensorValue(types.get(v.name, ir.DataType.FLOAT), None)
    >>> is_of_positions("Cos", model.graph[2].inputs, of, ())
    True
    """
    if op_type not in _WAVES:
        return False
    value = inputs[0]
    for _ in range(_MOST):
        node = None if value is None else value.producer()
        if node is None:
            return False
        computed = {v for v in node.inputs if v is not None and constant(v, overridable) is None}
        value = computed.pop() if len(computed) == 1 else None
        dtype = None if value is None else of(value).dtype
        if dtype is None or not dtype.is_floating_point():
            return dtype in _INTEGERS and is_operator(node, ("Cast",))
    return False

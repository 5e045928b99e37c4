"""TopK, which sorts an axis, and returns the elements and their positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx_ir as ir

if TYPE_CHECKING:
    from onnx_scatterx.engine.write.writer import Writer

_INT64 = ir.DataType.INT64


def top(
    w: Writer, x: ir.Value, dtype: ir.DataType, count: ir.Value, axis: int, *, largest: bool
) -> tuple[ir.Value, ir.Value]:
    """Write a TopK of ``count`` elements along an axis; return them, and their positions.

    It sorts in ascending order from operator set 11 on. Equal elements keep their order.
    """
    values, indices = [ir.Value(type=ir.TensorType(kind)) for kind in (dtype, _INT64)]
    settings = {"axis": axis, "largest": int(largest), "sorted": 1}
    attributes = [ir.AttrInt64(name, number) for name, number in settings.items()]
    outputs = [values, indices]
    w.insert(ir.Node("", "TopK", [x, count], attributes, outputs=outputs))
    return values, indices

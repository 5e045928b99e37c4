"""Split into parts of extent 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx_ir as ir

if TYPE_CHECKING:
    from onnx_scatterx.engine.write.writer import Writer

_SINCE = 13  # the operator set in which the sizes are an input


def single(w: Writer, x: ir.Value, dtype: ir.DataType, count: int, axis: int) -> list[ir.Value]:
    """Write a Split of an axis with so many positions; return a part for each of them."""
    outputs = [ir.Value(type=ir.TensorType(dtype)) for _ in range(count)]
    sizes, attributes = [1] * count, [ir.AttrInt64("axis", axis)]
    inputs = [x, w.constant(sizes)] if w.version >= _SINCE else [x]
    if w.version < _SINCE:
        attributes.append(ir.AttrInt64s("split", sizes))
    w.insert(ir.Node("", "Split", inputs, attributes, outputs=outputs))
    return outputs

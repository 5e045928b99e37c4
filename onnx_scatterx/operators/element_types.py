"""Element types as attributes name them."""

from __future__ import annotations

import onnx_ir as ir


def element_type(code: int) -> ir.DataType:
    """Return the element type that a number names in ONNX; UNDEFINED if there is no such type.

    A node with another number cannot run, but it may stand in a model.

    >>> element_type(7), element_type(99)
    (INT64, UNDEFINED)
    """
    try:
        return ir.DataType(code)
    except ValueError:
        return ir.DataType.UNDEFINED

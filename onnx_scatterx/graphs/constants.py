"""The constants of a model.

model.graph.initializers["w"]         a constant
the same, and "w" is an input, too    a default, which a caller may override (IR version 4)
"""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

import numpy as np
import onnx_ir as ir

INT64_MAX = 2**63 - 1
"""The largest int64: a Slice that ends here runs to the end of the axis."""

_NUMBERS = {
    "value_int": np.int64, "value_ints": np.int64,
    "value_float": np.float32, "value_floats": np.float32,
}  # fmt: skip
"""The attributes of a Constant that hold numbers, and the types of these numbers."""


def overridable(model: ir.Model) -> frozenset[ir.Value]:
    """Return the initializers that a caller may override: those that are inputs, too.

    Before IR version 4, every initializer of the main graph had to be an input: such an initializer
    is a constant.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x = {1, 2}) => (float[2] y) { y = Neg (x) }''')
    >>> [value.name for value in overridable(model)]
    ['x']
    >>> constant(model.graph.inputs[0], overridable(model)) is None
    True
    """
    constant_inputs = (model.ir_version or 0) < 4
    inputs = [] if constant_inputs else model.graph.inputs
    return frozenset(v for v in inputs if v.const_value is not None)


def constant(value: ir.Value | None, overridable: Collection[ir.Value]) -> ir.TensorProtocol | None:
    """Return the tensor of an initializer or Constant that a value is in every run; else None."""
    if value is None or value in overridable:
        return None
    if value.const_value is not None:
        return value.const_value
    node = value.producer()
    if node is None or node.op_type != "Constant" or node.domain != "":
        return None
    for name, attribute in node.attributes.items():
        if attribute.is_ref():
            return None
        if name == "value":
            return cast(ir.TensorProtocol, attribute.value)
        if name in _NUMBERS:
            return ir.Tensor(np.asarray(attribute.value, _NUMBERS[name]))
    return None

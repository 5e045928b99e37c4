"""The constants of a model that are weights: large, and only numbers that were learnt."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

_SMALL = 16  # elements that say nothing
_SEEN = 1 << 24  # elements of a constant that is tested for one number
_WEIGHTS = frozenset(
    {"FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE", "COMPLEX64", "COMPLEX128", "INT8", "UINT8", "INT4"}
    | {"UINT4", "STRING"}
)


def is_weight(tensor: ir.TensorProtocol) -> bool:
    """Return whether a constant is removed from a part, unless the report depends on it.

    Not removed are integers of the types of sizes and indices, a few numbers, and many that are all
    the same.

    >>> cases = (99, "f4"), (9, "f4"), (99, "i8")
    >>> [is_weight(ir.tensor(np.arange(n).astype(t))) for n, t in cases]
    [True, False, False]
    """
    kind = tensor.dtype.name
    if tensor.size <= _SMALL or not (kind in _WEIGHTS or kind.startswith(("FLOAT8", "FLOAT4"))):
        return False
    return kind == "STRING" or tensor.size > _SEEN or not _is_splat(tensor.numpy().ravel())


def _is_splat(elements: np.ndarray) -> bool:
    same = elements[:_SMALL] == elements[0]
    return bool(same.all()) and bool((elements == elements[0]).all())


def weight_of(value: ir.Value) -> bool:
    """Return whether a value is a weight: an initializer, or the output of a Constant."""
    if value.const_value is not None and value.is_initializer():
        return is_weight(value.const_value)
    node = value.producer()
    if node is None or node.op_type != "Constant" or "value" not in node.attributes:
        return False
    attribute = node.attributes["value"]
    return not attribute.is_ref() and is_weight(attribute.as_tensor())

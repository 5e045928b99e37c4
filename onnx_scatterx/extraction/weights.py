"""What a model has learnt, and its texts: large constants, and attributes that hold such things."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.ir.scatterx_domain import is_scatterx_domain

_SMALL = 16  # elements that say nothing
_TEXTS = frozenset({"delimiter", "locale", "pattern", "pool_strings", "stopwords", "weights"})
_OPEN = (
    *(ir.AttributeType.INT, ir.AttributeType.FLOAT, ir.AttributeType.TYPE_PROTO),
    *(ir.AttributeType.TYPE_PROTOS, ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS),
)
_SEEN = 1 << 24  # elements of a constant that is tested for one number
_WEIGHTS = frozenset(
    {"FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE", "COMPLEX64", "COMPLEX128", "INT8", "UINT8", "INT4"}
    | {"UINT4"}
)


def is_weight(tensor: ir.TensorProtocol) -> bool:
    """Return whether a constant is removed from a part, unless the report depends on it.

    Not removed are integers of the types of sizes and indices, a few numbers, and many that are all
    the same. Texts are removed.

    >>> cases = (99, "f4"), (9, "f4"), (99, "i8")
    >>> [is_weight(ir.tensor(np.arange(n).astype(t))) for n, t in cases]
    [True, False, False]
    """
    kind = tensor.dtype.name
    if kind == "STRING":
        return True
    if tensor.size <= _SMALL or not (kind in _WEIGHTS or kind.startswith(("FLOAT8", "FLOAT4"))):
        return False
    return tensor.size > _SEEN or not _is_splat(tensor.numpy().ravel())


def _is_splat(elements: np.ndarray) -> bool:
    same = elements[:_SMALL] == elements[0]
    return bool(same.all()) and bool((elements == elements[0]).all())


def weight_of(value: ir.Value) -> bool:
    """Return whether a value is a weight: an initializer, or the output of a Constant."""
    if value.is_initializer():
        return value.const_value is None or is_weight(value.const_value)  # None: a sparse one
    tensor = constant_of(value.producer())
    return tensor is not None and is_weight(tensor)


def constant_of(node: ir.Node | None) -> ir.TensorProtocol | None:
    """Return the tensor of a Constant, by whichever of its attributes; None for other nodes."""
    if node is None or node.op_type != "Constant" or node.domain != "":
        return None
    if any(attribute.is_ref() for attribute in node.attributes.values()):
        return None
    return ir.convenience.get_const_tensor(node.outputs[0])


def private_attributes(node: ir.Node) -> list[str]:
    """Return the names of a node's attributes that hold tensors or texts which it has for itself.

    Texts of standard operators are the words of ONNX, except those of operators on texts.

    >>> node = ir.node("Tokenize", [], {"keys": ["a"], "axis": 1}, domain="own")
    >>> private_attributes(node)
    ['keys']
    """
    standard = node.domain in ("", "ai.onnx") or is_scatterx_domain(node.domain)
    if standard and node.op_type == "Constant":
        return []
    return [
        name
        for name, attribute in node.attributes.data.items()
        if (name in _TEXTS if standard else is_private(attribute))
    ]


def is_private(attribute: ir.Attr) -> bool:
    """Return whether an attribute that ONNX does not define holds tensors, texts, many numbers."""
    if attribute.is_ref() or attribute.value is None:
        return False
    if attribute.type in (ir.AttributeType.FLOATS, ir.AttributeType.INTS):
        return len(attribute.value) > _SMALL
    return attribute.type not in _OPEN

"""Whether a node is one that ONNX defines: its attributes, and the types of what it reads.

What is not is refused by ONNX Runtime, or read in another way than here: an attribute of a newer
operator set, an output without a name, integers for conditions.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import onnx

from onnx_scatterx.judges.equivalence.core.reading import Node
from onnx_scatterx.judges.equivalence.core.tensor import Tensor

_OWN_NAMES = {"float32": "float", "float64": "double", "float4_e2m1fn": "float4e2m1"}


_Input = tuple[frozenset[str], str]
"""The types that an input may have, and the name of its type."""


@functools.cache
def _schema(op: str, version: int) -> tuple[dict[str, int], list[_Input], range, range] | None:
    """Return the types of attributes, the inputs, and how many inputs and outputs there may be."""
    try:
        schema = onnx.defs.get_schema(op, version, "")
    except onnx.defs.SchemaError:
        return None
    attributes = {name: int(getattr(a.type, "value", 0)) for name, a in schema.attributes.items()}
    inputs = [(frozenset(i.types), i.type_str) for i in schema.inputs]
    outputs = range(schema.min_output, schema.max_output + 1)
    return attributes, inputs, range(schema.min_input, schema.max_input + 1), outputs


def fault(node: Node, inputs: Sequence[Tensor | None]) -> str | None:
    """Return what is wrong with a node of ONNX's operators; None if nothing is."""
    schema = _schema(node.op, node.version)
    if schema is None:
        return f"{node.op}, which its operator set does not have"
    attributes, declared, reads, makes = schema
    if len(inputs) not in reads or len(node.outputs) not in makes or "" in node.outputs:
        return f"{node.op} with inputs or outputs that are missing, or too many"
    if any(attributes.get(a.name) != a.type for a in node.proto.attribute):
        return f"{node.op} with an attribute that its operator set does not have"
    bound: dict[str, str] = {}
    for index, tensor in enumerate(inputs):
        if tensor is None or tensor.dtype == "unknown":
            continue
        types, name = declared[min(index, len(declared) - 1)]
        own = _OWN_NAMES.get(tensor.dtype, tensor.dtype.replace("_", ""))
        if f"tensor({own})" not in types or bound.setdefault(name, own) != own:
            return f"{node.op} of types that its operator set does not have"
    return None

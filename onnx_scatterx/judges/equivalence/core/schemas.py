"""Whether a node is one that ONNX defines: its attributes, and the types of what it reads.

What is not is refused by ONNX Runtime, or read in another way than here: an attribute of a newer
operator set, an output without a name, integers for conditions.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import onnx

from onnx_scatterx.judges.equivalence.core.reading import Node
from onnx_scatterx.judges.equivalence.core.tensor import Tensor

_OWN_NAMES = {"float32": "float", "float64": "double", "float4_e2m1fn": "float4e2m1"}


@dataclass(frozen=True)
class _Schema:
    """An operator: its attributes with their types; for each input its types and their name."""

    attributes: dict[str, int]
    inputs: list[tuple[frozenset[str], str]]
    counts: tuple[range, range]


@functools.cache
def _schema(op: str, version: int) -> _Schema | None:
    try:
        found = onnx.defs.get_schema(op, version, "")
    except onnx.defs.SchemaError:
        return None
    if found.deprecated:
        return None
    return _Schema(
        {name: int(getattr(a.type, "value", 0)) for name, a in found.attributes.items()},
        [(frozenset(i.types), i.type_str) for i in found.inputs],
        (
            range(found.min_input, found.max_input + 1),
            range(found.min_output, found.max_output + 1),
        ),
    )


def fault(node: Node, inputs: Sequence[Tensor | None]) -> str | None:
    """Return what is wrong with a node of ONNX's operators; None if nothing is."""
    schema = _schema(node.op, node.version)
    if schema is None:
        return f"{node.op}, which its operator set does not have"
    if len(inputs) not in schema.counts[0] or len(node.outputs) not in schema.counts[1]:
        return f"{node.op} with too many or too few inputs or outputs"
    if "" in node.outputs:
        return f"{node.op} with an output that is left out"
    for a in node.proto.attribute:
        if schema.attributes.get(a.name) != a.type:
            return f"{node.op} with an attribute {a.name!r} that its operator set does not have"
    bound: dict[str, str] = {}
    for place, tensor in enumerate(inputs):
        if tensor is None or tensor.dtype == "unknown":
            continue
        types, name = schema.inputs[min(place, len(schema.inputs) - 1)]
        own = _OWN_NAMES.get(tensor.dtype, tensor.dtype.replace("_", ""))
        if f"tensor({own})" not in types or bound.setdefault(name, own) != own:
            return f"{node.op} of types that its operator set does not have"
    return None

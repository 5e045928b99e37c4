"""Whether a node is written the same in two operator sets."""

from __future__ import annotations

from collections.abc import Collection

import onnx.defs


def is_spelled_alike(
    name: str, inputs: int, attributes: Collection[str], one: int, other: int
) -> bool:
    """Return whether a node of so many inputs is written the same in two operator sets.

    >>> is_spelled_alike("Concat", 2, ["axis"], 13, 18)
    True
    >>> is_spelled_alike("ReduceMax", 1, ["axes"], 13, 18)
    False
    """
    if not all(onnx.defs.has(name, max_inclusive_version=v, domain="") for v in (one, other)):
        return False
    schemas = [onnx.defs.get_schema(name, v, "") for v in (one, other)]
    names = [[p.name for p in schema.inputs][:inputs] for schema in schemas]
    there = all(set(attributes) <= schema.attributes.keys() for schema in schemas)
    enough = all(s.min_input <= inputs <= s.max_input for s in schemas)
    return there and enough and names[0] == names[1]

"""Decides by the schemas of ONNX whether a node means the same in an older operator set.

ONNX gives an operator a new version when its schema changes; mostly, element types are added. So a
node may move to an older version if both versions have the same inputs, outputs and attributes, and
the older version has the element types of the node.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

import onnx.defs
import onnx_ir as ir

Types: TypeAlias = "Callable[[ir.Value], Collection[str]]"
"""Returns the types that a value may have, such as ``tensor(float)``; none if they are unknown."""

ALIKE_SINCE = 11
"""Before this set, some versions differ only in their texts, such as about negative axes."""
_ADDED = {
    **dict.fromkeys(("Cast", "CastLike"), ("saturate", "round_mode")),
    **dict.fromkeys(("ScatterElements", "ScatterND"), ("reduction",)),
}
"""Attributes that were added, and whose default is the old behaviour."""
_VALUES = {
    ("Pad", "mode"): ("wrap",),
    ("Resize", "coordinate_transformation_mode"): ("half_pixel_symmetric",),
    ("ScatterElements", "reduction"): ("max", "min"),
    ("ScatterND", "reduction"): ("max", "min"),
    ("AveragePool", "ceil_mode"): (1,),
    ("MaxPool", "ceil_mode"): (1,),
}
"""Values of attributes that are new in some version, or changed their meaning."""
_REDEFINED = frozenset({"BitShift", "Mod"})
"""Operators with a version that defines a case which an earlier version left undefined."""


def difference(node: ir.Node, new: int, old: int, types: Types) -> str | None:
    """Return why a node of one operator set may mean something else in an older one.

    >>> model = ir.from_onnx_text('''<ir_version: 10, opset_import: ["" : 20]>
    ...     g (float[2] x) => (float[2] z) { y = IsNaN (x)
    ...         z = Gelu (x) }''')
    >>> for node in model.graph:
    ...     print(node.op_type, difference(node, 20, 19, lambda _: {"tensor(float)"}))
    IsNaN takes no tensor(float) there
    Gelu began with 20
    """
    name = node.op_type
    if not onnx.defs.has(name, max_inclusive_version=new, domain=""):
        return None  # not an operator of ONNX
    after = onnx.defs.get_schema(name, new, "")
    if after.since_version <= old:
        return None
    since = after.since_version
    if not onnx.defs.has(name, max_inclusive_version=old, domain=""):
        return f"began with {since}"
    before = onnx.defs.get_schema(name, old, "")
    changed = f"changed after {old}"
    if old < ALIKE_SINCE:
        return changed
    added = [a for a in _ADDED.get(name, ()) if a not in before.attributes]
    if name in _REDEFINED or form(before) != form(after, added):
        return changed
    if any(attribute in node.attributes for attribute in added):
        return changed
    for (operator, attribute), values in _VALUES.items():
        given = node.attributes.get(attribute) if operator == name else None
        if given is not None and (given.is_ref() or given.value in values):
            return changed
    return narrower(node.inputs, node.outputs, before, types)


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


def form(schema: onnx.defs.OpSchema, without: Sequence[str] = ()) -> object:
    """Return inputs, outputs and attributes, without element types."""
    parameters = [
        [(p.name, p.option, p.is_homogeneous, p.min_arity) for p in given]
        for given in (schema.inputs, schema.outputs)
    ]
    attributes = {
        a.name: (a.type, a.required, a.default_value.SerializeToString(deterministic=True))
        for a in schema.attributes.values()
        if a.name not in without
    }
    return parameters, attributes


def narrower(
    inputs: Sequence[ir.Value | None],
    outputs: Sequence[ir.Value | None],
    schema: onnx.defs.OpSchema,
    types: Types,
) -> str | None:
    """Return a sentence if the schema lacks an element type of the node; otherwise None."""
    allowed = {c.type_param_str: set(c.allowed_type_strs) for c in schema.type_constraints}
    bound: dict[str, Collection[str]] = {}  # the types that inputs give to type parameters
    for values, parameters in ((inputs, schema.inputs), (outputs, schema.outputs)):
        for index, value in enumerate(values):
            if value is None or not value.name:
                continue
            parameter = parameters[min(index, len(parameters) - 1)]
            taken = allowed.get(parameter.type_str, {parameter.type_str})
            own = types(value) or bound.get(parameter.type_str, ())
            own = own or (taken if len(taken) == 1 else ())
            if not own:
                return f"the type of {value.name!r} is not known"
            if parameter.is_homogeneous and own != bound.setdefault(parameter.type_str, own):
                return "takes one type alone there"
            lacking = sorted(set(own) - taken)
            if lacking:
                return f"takes no {lacking[0]} there"
    return None

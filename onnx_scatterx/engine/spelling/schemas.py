"""What the schemas of ONNX say of two versions of an operator: the types that each takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

import onnx.defs
import onnx_ir as ir

Types: TypeAlias = "Callable[[ir.Value], Collection[str]]"
"""Returns the types that a value may have, such as ``tensor(float)``; none if they are unknown."""


def takes_less(new: onnx.defs.OpSchema, old: onnx.defs.OpSchema) -> bool:
    """Return whether a version may refuse types that another version takes.

    >>> get = onnx.defs.get_schema
    >>> takes_less(get("Abs", 13), get("Abs", 6)), takes_less(get("Abs", 6), get("Abs", 13))
    (False, True)
    """
    if new.name != old.name:
        return True
    there, here = _allowed(new), _allowed(old)
    joined: dict[str, str] = {}  # type parameters of the new version, and those of the old one
    for ours, theirs in ((old.inputs, new.inputs), (old.outputs, new.outputs)):
        for a, b in zip(ours, theirs, strict=False):
            mixed = b.is_homogeneous and not a.is_homogeneous
            if mixed or not _types(a, here) <= _types(b, there):
                return True
            if joined.setdefault(b.type_str, a.type_str) != a.type_str:
                return True
    return False


def _allowed(schema: onnx.defs.OpSchema) -> dict[str, set[str]]:
    return {c.type_param_str: set(c.allowed_type_strs) for c in schema.type_constraints}


def _types(parameter: onnx.defs.OpSchema.FormalParameter, allowed: dict[str, set[str]]) -> set[str]:
    return allowed.get(parameter.type_str, {parameter.type_str})


def narrower(
    inputs: Sequence[ir.Value | None],
    outputs: Sequence[ir.Value | None],
    schema: onnx.defs.OpSchema,
    types: Types,
) -> str | None:
    """Return a sentence if the schema lacks an element type of the node; otherwise None."""
    allowed = _allowed(schema)
    bound: dict[str, Collection[str]] = {}  # the types that inputs give to type parameters
    for values, parameters in ((inputs, schema.inputs), (outputs, schema.outputs)):
        for index, value in enumerate(values):
            if value is None or not value.name:
                continue
            parameter = parameters[min(index, len(parameters) - 1)]
            taken = _types(parameter, allowed)
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

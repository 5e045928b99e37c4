"""What the schemas of ONNX say of two versions of an operator: the types that each takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

import onnx.defs
import onnx_ir as ir

Types: TypeAlias = "Callable[[ir.Value], Collection[str]]"
"""Returns the types that a value may have, such as ``tensor(float)``; none if they are unknown."""


class Parameter(NamedTuple):
    """An input or output of a version: its type parameter, or its type, and the types it takes."""

    type_str: str
    types: frozenset[str]
    is_homogeneous: bool


class Signature(NamedTuple):
    """What the schema of a version says, read once: to read it takes longer than to compare it."""

    name: str
    since_version: int
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: frozenset[str]


@cache
def signature(op_type: str, version: int) -> Signature:
    """Return what the schema of an operator says in an operator set.

    >>> sorted(signature("Gather", 18).attributes), signature("Gather", 18).since_version
    (['axis'], 13)
    """
    schema = onnx.defs.get_schema(op_type, version, "")
    allowed = {c.type_param_str: frozenset(c.allowed_type_strs) for c in schema.type_constraints}

    def read(formal: Sequence[onnx.defs.OpSchema.FormalParameter]) -> tuple[Parameter, ...]:
        return tuple(
            Parameter(
                p.type_str, allowed.get(p.type_str, frozenset([p.type_str])), p.is_homogeneous
            )
            for p in formal
        )

    inputs, outputs = read(schema.inputs), read(schema.outputs)
    since = int(schema.since_version)
    return Signature(schema.name, since, inputs, outputs, frozenset(schema.attributes))


def takes_less(new: Signature, old: Signature) -> bool:
    """Return whether a version may refuse types that another version takes.

    >>> old, new = signature("Abs", 6), signature("Abs", 13)
    >>> takes_less(new, old), takes_less(old, new)
    (False, True)
    """
    if new.name != old.name:
        return True
    joined: dict[str, str] = {}  # type parameters of the new version, and those of the old one
    for ours, theirs in ((old.inputs, new.inputs), (old.outputs, new.outputs)):
        for a, b in zip(ours, theirs, strict=False):
            mixed = b.is_homogeneous and not a.is_homogeneous
            if mixed or not a.types <= b.types:
                return True
            if joined.setdefault(b.type_str, a.type_str) != a.type_str:
                return True
    return False


def narrower(
    inputs: Sequence[ir.Value | None],
    outputs: Sequence[ir.Value | None],
    version: Signature,
    types: Types,
) -> str | None:
    """Return a sentence if the version lacks an element type of the node; otherwise None."""
    bound: dict[str, Collection[str]] = {}  # the types that inputs give to type parameters
    for values, parameters in ((inputs, version.inputs), (outputs, version.outputs)):
        for index, value in enumerate(values):
            if value is None or not value.name:
                continue
            parameter = parameters[min(index, len(parameters) - 1)]
            taken = parameter.types
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

"""Targets as data: what a device has, in a TOML file.

    name = "my_npu"
    description = "the NPU on our board"
    source = "the vendor's operator list, version 3"
    base = "standard"                      # or "scatterx": what is left becomes ScatterX
    avoid = ["ScatterND", "NonZero"]       # operators that it has not
    operators = ["Add", "Concat", ...]     # or all those that it has
    tensor_scatter = false                 # whether it has TensorScatter (operator set 24)
    max_rank = 5                           # the most dims of a tensor
    static_only = true                     # all sizes must be numbers
    dense = true                           # forms whose work is data times indices are allowed
    dense_limit = 16777216                 # up to so many elements of one tensor; inf: any number

Only the name is needed.
"""

from __future__ import annotations

import math
import os
import reprlib
from collections.abc import Mapping
from typing import Any

import onnx.defs

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.system.reading import read_toml
from onnx_scatterx.system.record import note_read
from onnx_scatterx.targets.target import NEW, Target

_DENSE_LIMIT = 1 << 24  # elements, where a profile allows dense forms and says no limit
_KINDS: dict[str, type] = {
    "name": str,
    "description": str,
    "source": str,
    "base": str,
    "avoid": list,
    "operators": list,
    "tensor_scatter": bool,
    "max_rank": int,
    "static_only": bool,
    "dense": bool,
    "dense_limit": int,
}
_WORDS = {str: "a text", list: "a list of operators", bool: "true or false", int: "a number"}


def read_profile(path: str | os.PathLike[str], bases: Mapping[str, Target]) -> Target:
    """Return the target that a file describes, or raise ScatterXError where it describes none."""
    note_read(path, "the profile")
    content = read_toml(path)
    try:
        return target_from(content, bases)
    except ScatterXError as error:
        raise ScatterXError(f"{path}: {error}") from error


def target_from(content: Mapping[str, Any], bases: Mapping[str, Target]) -> Target:
    """Return the target that the content of a profile describes.

    >>> npu = target_from({"name": "npu", "avoid": ["NonZero"]}, {"standard": Target("standard")})
    >>> npu.has("NonZero"), npu.has("Where")
    (False, True)
    """
    for key, value in content.items():
        if key not in _KINDS:
            said = reprlib.repr(key)
            raise ScatterXError(f"unknown key {said}; a profile may contain: {', '.join(_KINDS)}")
        kind = _KINDS[key]
        if key == "dense_limit" and value == math.inf:
            continue
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ScatterXError(f"{key} is {_WORDS[kind]}, not {reprlib.repr(value)}")
    if not content.get("name"):
        raise ScatterXError("a profile has a name")
    base_name = content.get("base", "standard")
    if base_name not in bases:
        raise ScatterXError(f"base is {' or '.join(bases)}, not {reprlib.repr(base_name)}")
    base = bases[base_name]
    avoid = frozenset(_operators(content, "avoid"))
    operators = frozenset(_operators(content, "operators")) if "operators" in content else None
    extra = base.extra | ({"TensorScatter"} if content.get("tensor_scatter") else frozenset())
    max_rank = content.get("max_rank")
    limit = content.get("dense_limit", _DENSE_LIMIT)
    for key, number in (("max_rank", max_rank), ("dense_limit", limit)):
        if number is not None and number < 1:
            raise ScatterXError(f"{key} is at least 1, not {number}")
    return Target(
        content["name"],
        content.get("description", ""),
        content.get("source", ""),
        operators,
        avoid,
        extra,
        max_rank,
        content.get("static_only", False),
        limit if content.get("dense", False) else None,
        base.avoids_dense,
        base.is_timed,
    )


def _operators(content: Mapping[str, Any], key: str) -> list[str]:
    """Return a list of operators, each of which ONNX has; those of other domains have a dot."""
    names = content.get(key, [])
    for name in names:
        known = isinstance(name, str) and ("." in name or name in NEW or onnx.defs.has(name))
        if not known:
            raise ScatterXError(f"{key} has {reprlib.repr(name)}, which is no ONNX operator")
    return list(names)

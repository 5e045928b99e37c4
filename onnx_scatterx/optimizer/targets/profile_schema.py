"""The keys of a profile, and their possible values."""

from __future__ import annotations

import datetime
import math
import reprlib
from collections.abc import Collection, Mapping
from typing import Any

import onnx.defs
import onnx_ir as ir

from onnx_scatterx.errors import ScatterXError, did_you_mean
from onnx_scatterx.optimizer.targets.limits import KEYS
from onnx_scatterx.optimizer.targets.target import NEW

_WORDS: dict[type, str] = {
    str: "a text",
    list: "a list",
    bool: "true or false",
    int: "a number",
    dict: "a table",
    datetime.date: "a date such as 2026-11-22, without quotes",
}
PROFILE_KEYS: dict[str, type] = {
    "name": str,
    "description": str,
    "source": str,
    "version": str,
    "date": datetime.date,
    "checked": str,
    "extends": str,
    "add": list,
    "remove": list,
    "base": str,
    "avoid": list,
    "operators": list,
    "misread": list,
    "tensor_scatter": bool,
    "max_rank": int,
    "max_opset": int,
    "static_only": bool,
    "onnxruntime": bool,
    "dense": bool,
    "dense_limit": int,
    "limits": dict,
}
_LISTS = ("add", "remove", "avoid", "operators", "misread")
_LIMITS: dict[str, type] = {
    name: list
    if name.endswith(("types", "reductions", "written"))
    else int
    if name in ("max_rank", "most")
    else bool
    for name in KEYS
}
_LEAST = {"max_rank": 1, "max_opset": 9, "dense_limit": 1, "most": 1}
_REDUCTIONS = ("none", "add", "mul", "min", "max")
_TYPES = {t.name.lower(): t for t in ir.DataType if t != ir.DataType.UNDEFINED}


def check_profile(content: Mapping[str, Any]) -> None:
    """Raise ScatterXError if a profile has a key or a value that no profile may have.

    >>> check_profile({"name": "npu", "max_ranks": 4})
    Traceback (most recent call last):
    onnx_scatterx.errors.ScatterXError: unknown key 'max_ranks'; did you mean max_rank?
    """
    _check(content, PROFILE_KEYS, "")
    for key in _LISTS:
        _check_operators(content.get(key, []), key)
    if "operators" in content and "avoid" in content:
        raise ScatterXError("a profile says operators (all that it has) or avoid, not both")
    for key in ("add", "remove"):
        if key in content and "extends" not in content:
            raise ScatterXError(f"{key} changes the profile that this one extends; say extends too")
    for op_type, limits in content.get("limits", {}).items():
        _check_operators([op_type], "limits")
        if not isinstance(limits, dict):
            raise ScatterXError(f"limits.{op_type} is a table, not {reprlib.repr(limits)}")
        _check(limits, _LIMITS, f"limits.{op_type}.")
        for key in ("types", "no_types", "native"):
            given = limits.get(key)
            names = given if isinstance(given, list) else []
            _check_names(names, f"limits.{op_type}.{key}", _TYPES, "an element type")
        defaults = _with_defaults(op_type)
        what = f"an attribute of {op_type} with a default"
        _check_names(limits.get("written", []), f"limits.{op_type}.written", defaults, what)
        names = limits.get("reductions", [])
        known = f"a reduction: there are {', '.join(_REDUCTIONS)}"
        _check_names(names, f"limits.{op_type}.reductions", _REDUCTIONS, known)


def _check(content: Mapping[str, Any], kinds: Mapping[str, type], prefix: str) -> None:
    for key, value in content.items():
        if key not in kinds:
            shown = reprlib.repr(prefix + key)
            near = did_you_mean(key, kinds)
            known = near or f"; there may be {', '.join(kinds)}"
            raise ScatterXError(f"unknown key {shown}{known}")
        kind = kinds[key]
        if key == "steps" and isinstance(value, list) and _are_steps(value):
            continue
        if key == "native" and isinstance(value, list):
            continue
        if key == "dense_limit" and value == math.inf:
            continue
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ScatterXError(f"{prefix}{key} is {_WORDS[kind]}, not {reprlib.repr(value)}")
        if isinstance(value, int) and value < _LEAST.get(key, value):
            raise ScatterXError(f"{prefix}{key} is at least {_LEAST[key]}, not {value}")
    if not prefix and not content.get("name"):
        raise ScatterXError("a profile has a name")


def _are_steps(values: list[Any]) -> bool:
    return all(isinstance(v, int) and not isinstance(v, bool) and v != 0 for v in values)


def _check_operators(names: list[Any], key: str) -> None:
    """Check that ONNX has each operator of a list; those of other domains have a dot."""
    for name in names:
        if not (isinstance(name, str) and ("." in name or name in NEW or onnx.defs.has(name))):
            known = {schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain}
            _check_names([name], key, known, "an ONNX operator")


def _check_names(names: list[Any], key: str, known: Collection[str], what: str) -> None:
    for name in names:
        if not isinstance(name, str) or name not in known:
            near = did_you_mean(name, known) if isinstance(name, str) else ""
            raise ScatterXError(f"{key} has {reprlib.repr(name)}, which is not {what}{near}")


def _with_defaults(op_type: str) -> list[str]:
    """Return the attributes of an operator of ONNX that have a default."""
    found = onnx.defs.get_schema(op_type).attributes if onnx.defs.has(op_type) else {}
    return [name for name, attribute in found.items() if attribute.default_value.name]

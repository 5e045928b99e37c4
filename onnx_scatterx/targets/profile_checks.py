"""What a profile may say: its keys, and the values that each of them may have."""

from __future__ import annotations

import dataclasses
import datetime
import math
import re
import reprlib
from collections.abc import Collection, Mapping
from importlib.resources import files
from typing import Any

import onnx.defs
import onnx_ir as ir

from onnx_scatterx.errors import ScatterXError, did_you_mean
from onnx_scatterx.targets.faults import FORMS as FAULT_FORMS
from onnx_scatterx.targets.limits import KEYS
from onnx_scatterx.targets.refused_use import KEYS as REFUSED_KEYS
from onnx_scatterx.targets.refused_use import LETTERS
from onnx_scatterx.targets.target import NEW

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
    "types": list,
    "no_types": list,
    "tensor_scatter": bool,
    "max_rank": int,
    "max_opset": int,
    "static_only": bool,
    "onnxruntime": bool,
    "one_file": bool,
    "dense": bool,
    "dense_limit": int,
    "work_limit": int,
    "ends": list,
    "faults": list,
    "limits": dict,
}
_LISTS = ("add", "remove", "avoid", "operators", "misread")


def _kinds(fields: Mapping[str, dataclasses.Field[Any]]) -> dict[str, type]:
    """Return what stands in TOML for each field, as its annotation begins: else it is a list."""
    kinds = {"bool": bool, "int": int, "tuple[tuple[str": dict}
    return {
        name: next((kind for word, kind in kinds.items() if str(f.type).startswith(word)), list)
        for name, f in fields.items()
    }


_LIMITS = _kinds(KEYS)
_SLOW = {"types": list, "reductions": list}
_REFUSED = _kinds(REFUSED_KEYS)
_NUMBERS = ("ranks", "steps", "columns", "inputs")
_LEAST = {
    **dict.fromkeys(
        ("axes", "fewer", "more_inputs", "max_rank", "dense_limit", "work_limit", "most"), 1
    ),
    "data_rank": 0,
    "max_opset": 9,
}
_EQUATION = re.compile(r"[A-Za-z]*(,[A-Za-z]*)*->[A-Za-z]*")
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
    for op_type in sorted({*content.get("add", [])}.intersection(content.get("remove", []))):
        raise ScatterXError(f"add and remove both have {op_type}; say which is meant")
    for key in ("types", "no_types"):
        _check_types(content.get(key, []), key)
    for table in content.get("ends", []):
        _check_facts(table, "ends", {key: _REFUSED[key] for key in ("types", "ranks")})
    _check_faults(content.get("faults", []))
    for op_type, limits in content.get("limits", {}).items():
        _check_operators([op_type], "limits")
        if not isinstance(limits, dict):
            raise ScatterXError(f"limits.{op_type} is a table, not {reprlib.repr(limits)}")
        _check(limits, _LIMITS, f"limits.{op_type}.")
        for key in ("types", "no_types", "native", "zeros"):
            value = limits.get(key)
            names = value if isinstance(value, list) else []
            _check_types(names, f"limits.{op_type}.{key}")
        defaults = _with_defaults(op_type)
        what = f"an attribute of {op_type} with a default"
        for key in ("written", "unwritten"):
            _check_names(limits.get(key, []), f"limits.{op_type}.{key}", defaults, what)
        _check_names(limits.get("within", []), f"limits.{op_type}.within", ("Gelu",), "a pattern")
        for equation in limits.get("equations", []):
            if not isinstance(equation, str) or not _EQUATION.fullmatch(equation):
                shown = reprlib.repr(equation)
                raise ScatterXError(f"limits.{op_type}.equations has {shown}, not an equation")
        _check_reductions(limits.get("reductions", []), f"limits.{op_type}.reductions")
        slow = limits.get("slow")
        if isinstance(slow, dict):
            _check(slow, _SLOW, f"limits.{op_type}.slow.")
            _check_types(slow.get("types", []), f"limits.{op_type}.slow.types")
            _check_reductions(slow.get("reductions", []), f"limits.{op_type}.slow.reductions")
        for table in limits.get("refused", []):
            _check_refused(table, op_type)


def profile_schema() -> str:
    """Return the JSON Schema of a profile, as a text: an editor of TOML completes its keys by it.

    >>> '"max_rank"' in profile_schema()
    True
    """
    return files("onnx_scatterx").joinpath("schemas", "profile.json").read_text("utf-8")


def _check_faults(faults: list[Any]) -> None:
    for fault in faults:
        if not isinstance(fault, dict):
            raise ScatterXError(f"a fault is a table, not {reprlib.repr(fault)}")
        _check(fault, {"form": str, "version": str, "switch": str}, "faults.")
        if "version" not in fault:
            raise ScatterXError("a fault names the version of the compiler that has it")
        known = f"a form: there are {', '.join(FAULT_FORMS)}"
        _check_names([fault.get("form")], "faults.form", FAULT_FORMS, known)


def _check_facts(table: Any, place: str, keys: Mapping[str, type]) -> None:
    """Check the keys of a table of facts, its types and its numbers."""
    if not isinstance(table, dict) or not table:
        raise ScatterXError(f"{place} has {reprlib.repr(table)}, which is not a table of facts")
    _check(table, keys, f"{place}.")
    for key in ("types", "index_types"):
        _check_types(table.get(key, []), f"{place}.{key}")
    for key in _NUMBERS:
        for number in table.get(key, []):
            if not isinstance(number, int) or isinstance(number, bool):
                raise ScatterXError(f"{place}.{key} has {reprlib.repr(number)}, not a number")


def _check_refused(table: Any, op_type: str) -> None:
    """Check one use that a target does not take."""
    place = f"limits.{op_type}.refused"
    _check_facts(table, place, _REFUSED)
    known = f"a kind of equation: there are {', '.join(LETTERS)}"
    _check_names(table.get("letters", []), f"{place}.letters", LETTERS, known)
    schema = onnx.defs.get_schema(op_type) if onnx.defs.has(op_type) else None
    if schema is None:
        return
    inputs = [parameter.name for parameter in schema.inputs]
    for key in ("constant", "computed", "whole", "broadcast"):
        _check_names([*table.get(key, [])], f"{place}.{key}", inputs, f"an input of {op_type}")
    ends = [*inputs, *(parameter.name for parameter in schema.outputs)]
    known = f"an input or an output of {op_type}"
    _check_names([*table.get("rank_of", {})], f"{place}.rank_of", ends, known)
    for name, ranks in table.get("rank_of", {}).items():
        if not isinstance(ranks, list) or not all(isinstance(r, int) for r in ranks):
            what = f"{place}.rank_of.{name} is a list of numbers"
            raise ScatterXError(f"{what}, not {reprlib.repr(ranks)}")
    names, known = [*inputs, *schema.attributes], f"an input or an attribute of {op_type}"
    _check_names(table.get("absent", []), f"{place}.absent", names, known)
    for name, values in table.get("attributes", {}).items():
        known = f"an attribute of {op_type}"
        _check_names([name], f"{place}.attributes", list(schema.attributes), known)
        if not isinstance(values, list) or not all(
            isinstance(v, str | int | float) for v in values
        ):
            what = "is a list of numbers or texts"
            raise ScatterXError(f"{place}.attributes.{name} {what}, not {reprlib.repr(values)}")


def _check_types(names: list[Any], key: str) -> None:
    _check_names(names, key, _TYPES, "an element type")


def _check_reductions(names: list[Any], key: str) -> None:
    _check_names(names, key, _REDUCTIONS, f"a reduction: there are {', '.join(_REDUCTIONS)}")


def _check(content: Mapping[str, Any], kinds: Mapping[str, type], prefix: str) -> None:
    for key, value in content.items():
        if key not in kinds:
            shown = reprlib.repr(prefix + key)
            if not prefix and key in _LIMITS:
                raise ScatterXError(
                    f"unknown key {shown}; an operator has it: limits.OPERATOR.{key}"
                )
            near = did_you_mean(key, kinds)
            known = near or f"; there may be {', '.join(kinds)}"
            raise ScatterXError(f"unknown key {shown}{known}")
        kind = kinds[key]
        if key == "steps" and isinstance(value, list) and _are_steps(value):
            continue
        if (key, type(value)) in (("native", list), ("slow", dict)):
            continue
        if value in {"axes_input": ("all", "several"), "computed": ("sizes",)}.get(key, ()):
            continue
        if key in ("dense_limit", "work_limit") and value == math.inf:
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
        if isinstance(name, str) and re.fullmatch(r".*[^.]\.\w+", name):
            continue
        if not (isinstance(name, str) and (name in NEW or onnx.defs.has(name))):
            known = {schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain}
            _check_names([name], key, known, "an ONNX operator")


def _check_names(names: list[Any], key: str, known: Collection[str], what: str) -> None:
    for name in names:
        if not isinstance(name, str) or name not in known:
            near = did_you_mean(name, known) if isinstance(name, str) else ""
            raise ScatterXError(f"{key} has {reprlib.repr(name)}, which is not {what}{near}")


def _with_defaults(op_type: str) -> list[str]:
    """Return the attributes of an operator of ONNX that have a default, perhaps in words only."""
    if op_type == "ConstantOfShape":
        return ["value"]
    attributes = onnx.defs.get_schema(op_type).attributes if onnx.defs.has(op_type) else {}
    return [name for name, attribute in attributes.items() if attribute.default_value.name]

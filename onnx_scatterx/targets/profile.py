"""Targets as data: the keys of a TOML file, and the operators that a device takes.

    name = "my_npu"
    description = "the NPU on our board"
    source = "the vendor's operator list"  # the page from which this was taken
    version = "3.1"                        # of the compiler that is described
    date = 2026-11-22                      # when the source was read
    checked = "by the vendor's simulator"  # how this was compared with the compiler
    extends = "qnn"                        # a profile that this one changes, by its name or path
    add = ["CumSum"]                       # operators that it has beyond those of that profile
    remove = ["Mod"]                       # and operators of that profile that it lacks
    base = "standard"                      # or "scatterx": kept scatters become ScatterX
    avoid = ["ScatterND", "NonZero"]       # operators that it lacks
    operators = ["Add", "Concat", ...]     # or all those that it has
    misread = ["Mod"]                      # not refused where it lacks these, but wrong
    tensor_scatter = false                 # whether it has TensorScatter (operator set 24)
    max_rank = 5                           # the most dims of a tensor
    max_opset = 19                         # the newest operator set that it reads
    static_only = true                     # all sizes must be numbers
    onnxruntime = false                    # neither ONNX Runtime nor a provider of it runs it
    dense = true                           # forms whose work is data times indices are allowed
    dense_limit = 16777216                 # up to so many elements of one tensor; inf: any number

    [[faults]]                             # faults of the compiler that another form avoids
    form = "relu_behind_softmax"           # which form, at its pattern alone
    version = "3.1"                        # of the compiler that has the fault
    switch = "--no-fusion"                 # the compiler's own option against it, if there is one

    [limits.Pad]                           # uses of an operator that it does not take
    no_types = ["int64", "bool"]           # element types; or types = [...]: only these
    max_rank = 4                           # the most dims of its inputs and outputs
    [limits.ScatterND]
    reductions = ["none"]                  # of a scatter: only these
    [limits.CumSum]
    exclusive = false                      # no attribute exclusive=1
    [limits.Where]
    broadcast = false                      # operands of one shape only
    [limits.Slice]
    steps = false                          # no step other than 1; or [1, -1]: only these
    computed = false                       # starts and ends must be constants
    [limits.Gather]
    negative = false                       # no indices, steps or dividends that may be negative
    constant = false                       # no indices that are constants
    [limits.ReduceMax]
    axes_input = false                     # axes as an attribute only, as in operator set 17
    [limits.TopK]
    most = 3839                            # how many elements it finds
    [limits.OneHot]
    written = ["axis"]                     # attributes that must be written, even with the default
    [limits.Split]
    unwritten = ["axis"]                   # attributes that must not be written: only the default
    [limits.Concat]
    zeros = ["int64"]                      # element types of which constants must be 0
    [limits.GatherND]
    computed_data = false                  # the data must be a constant
    data_rank = 2                          # and have so many dims
    [limits.Not]
    native = false                         # it runs on the host, which is a second choice
    [limits.Add]
    native = ["float"]                     # the same, if its element type is another one

Only the name is needed.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
import os
import re
import reprlib
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

import onnx.defs
import onnx_ir as ir

from onnx_scatterx.errors import ScatterXError, did_you_mean
from onnx_scatterx.files import note_read, read_toml
from onnx_scatterx.targets.faults import FORMS as FAULT_FORMS
from onnx_scatterx.targets.faults import Fault
from onnx_scatterx.targets.limits import KEYS, NO_LIMITS, OperatorLimits
from onnx_scatterx.targets.target import NEW, Target

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
    "faults": list,
    "limits": dict,
}
_LISTS = ("add", "remove", "avoid", "operators", "misread")
_LIMITS: dict[str, type] = {
    name: list
    if name.endswith(("types", "reductions", "written", "zeros"))
    else int
    if name in ("max_rank", "most", "data_rank")
    else bool
    for name in KEYS
}
_LEAST = {"max_rank": 1, "data_rank": 0, "max_opset": 9, "dense_limit": 1, "most": 1}
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
    _check_faults(content.get("faults", []))
    for op_type, limits in content.get("limits", {}).items():
        _check_operators([op_type], "limits")
        if not isinstance(limits, dict):
            raise ScatterXError(f"limits.{op_type} is a table, not {reprlib.repr(limits)}")
        _check(limits, _LIMITS, f"limits.{op_type}.")
        for key in ("types", "no_types", "native", "zeros"):
            given = limits.get(key)
            names = given if isinstance(given, list) else []
            _check_names(names, f"limits.{op_type}.{key}", _TYPES, "an element type")
        defaults = _with_defaults(op_type)
        what = f"an attribute of {op_type} with a default"
        for key in ("written", "unwritten"):
            _check_names(limits.get(key, []), f"limits.{op_type}.{key}", defaults, what)
        names = limits.get("reductions", [])
        known = f"a reduction: there are {', '.join(_REDUCTIONS)}"
        _check_names(names, f"limits.{op_type}.reductions", _REDUCTIONS, known)


def _check_faults(faults: list[Any]) -> None:
    for fault in faults:
        if not isinstance(fault, dict):
            raise ScatterXError(f"a fault is a table, not {reprlib.repr(fault)}")
        _check(fault, {"form": str, "version": str, "switch": str}, "faults.")
        if "version" not in fault:
            raise ScatterXError("a fault names the version of the compiler that has it")
        known = f"a form: there are {', '.join(FAULT_FORMS)}"
        _check_names([fault.get("form")], "faults.form", FAULT_FORMS, known)


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
    """Return the attributes of an operator of ONNX that have a default."""
    attributes = onnx.defs.get_schema(op_type).attributes if onnx.defs.has(op_type) else {}
    return [name for name, attribute in attributes.items() if attribute.default_value.name]


DENSE_LIMIT = 1 << 24  # elements, if a profile allows dense forms without a limit
_COPIED = (
    *("name", "description", "source", "version", "date", "checked"),
    *("max_rank", "max_opset", "static_only", "onnxruntime"),
)

Find: TypeAlias = "Callable[[str], Target]"
"""Returns the target that a profile extends, or raises ScatterXError."""


def read_profile(path: str | os.PathLike[str], bases: Mapping[str, Target], find: Find) -> Target:
    """Return the target that a file describes, or raise ScatterXError if it describes none.

    ``bases`` are the targets that a profile may name as its base; ``find`` returns the target that
    it extends.
    """
    note_read(path, "the profile")
    content = read_toml(path)
    try:
        return target_from(content, bases, find)
    except ScatterXError as error:
        raise ScatterXError(f"{path}: {error}") from error


def target_from(
    content: Mapping[str, Any], bases: Mapping[str, Target], find: Find | None = None
) -> Target:
    """Return the target that the content of a profile describes.

    >>> bases = {"standard": Target("standard")}
    >>> npu = target_from({"name": "npu", "avoid": ["NonZero"]}, bases)
    >>> npu.has("NonZero"), npu.has("Where")
    (False, True)
    >>> ours = {"name": "ours", "extends": "npu", "add": ["NonZero"], "remove": ["Mod"]}
    >>> target = target_from(ours, bases, {"npu": npu}.__getitem__)
    >>> target.has("NonZero"), target.has("Mod")
    (True, False)
    """
    check_profile(content)
    parent = _parent(content, bases, find)
    changes: dict[str, Any] = {key: content[key] for key in _COPIED if key in content}
    if "operators" in content:
        changes |= {"operators": frozenset(content["operators"]), "avoid": frozenset()}
    if "misread" in content:
        changes["misread"] = frozenset(content["misread"])
    if "faults" in content:
        changes["faults"] = tuple(Fault(**fault) for fault in content["faults"])
    if "avoid" in content:
        changes |= {"operators": None, "avoid": frozenset(content["avoid"])}
    target = dataclasses.replace(parent, **changes)
    more, fewer = frozenset(content.get("add", [])), frozenset(content.get("remove", []))
    operators = None if target.operators is None else (target.operators | more) - fewer
    avoid = (target.avoid - more) | fewer
    if "base" in content and "extends" in content:
        base = _base(content["base"], bases)
        target = dataclasses.replace(target, extra=base.extra, prefers_scatter=base.prefers_scatter)
    extra = target.extra - {"TensorScatter"}
    if content.get("tensor_scatter", "TensorScatter" in target.extra):
        extra |= {"TensorScatter"}
    limits = dict(target.limits)
    for op_type, keys in content.get("limits", {}).items():
        given: dict[str, Any] = {
            k: frozenset(v) if isinstance(v, list) else v for k, v in keys.items()
        }
        limits[op_type] = dataclasses.replace(limits.get(op_type, NO_LIMITS), **given)
    return dataclasses.replace(
        target,
        operators=operators,
        avoid=avoid,
        extra=extra,
        limits=limits,
        dense_limit=_dense_limit(content, target),
    )


def _parent(content: Mapping[str, Any], bases: Mapping[str, Target], find: Find | None) -> Target:
    """Return the target that the profile changes: the one it extends, or its base."""
    if "extends" not in content:
        base = _base(content.get("base", "standard"), bases)
        return dataclasses.replace(base, description="", dense_limit=None)
    if find is None:
        raise ScatterXError("a profile that extends another one is read from a file")
    parent = find(content["extends"])
    return dataclasses.replace(parent, checked="", date=None)


def _base(name: str, bases: Mapping[str, Target]) -> Target:
    if name not in bases:
        raise ScatterXError(f"base is {' or '.join(bases)}, not {name!r}")
    return bases[name]


def _dense_limit(content: Mapping[str, Any], target: Target) -> float | None:
    """Return the most elements of a tensor of a dense form, None if dense forms are not allowed."""
    if content.get("dense", target.dense_limit is not None):
        limit: float = content.get("dense_limit", target.dense_limit or DENSE_LIMIT)
        return limit
    if "dense_limit" in content:
        raise ScatterXError("dense_limit says how large dense forms may be; say dense = true too")
    return None


__all__ = ["OperatorLimits", "read_profile", "target_from"]

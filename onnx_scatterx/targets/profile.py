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
    no_types = ["int64"]                   # element types that it lacks, whatever the operator;
                                           # or types = [...]: only these
    max_rank = 5                           # the most dims of a tensor
    max_opset = 19                         # the newest operator set that it reads
    static_only = true                     # all sizes must be numbers
    ends = [{types = ["int64"], ranks = [5]}]  # inputs and outputs that it does not take
    onnxruntime = false                    # its compiler reads the file; true, the default: ONNX
                                           # Runtime loads it, and hands nodes to the chip
    one_file = true                        # it reads no weights beside the file
    dense = true                           # forms whose work is data times indices are allowed
    dense_limit = 16777216                 # up to so many elements of one tensor; inf: any number
    work_limit = 16                        # how many times the work of chosen rows, for all rows

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
    computed = false                       # constant starts and ends; "sizes": or from input sizes
    [limits.Gather]
    negative = false                       # no indices, steps, pads or dividends below 0
    constant = false                       # no indices that are constants
    [limits.ReduceMax]
    axes_input = false                     # axes as an attribute only; "all", "several": or so many
    [limits.Erf]
    within = ["Gelu"]                      # only as a node of this pattern
    [limits.Einsum]
    equations = ["bij,bjk->bik"]           # these only, by whichever letters
    [limits.TopK]
    most = 3839                            # how many elements it finds
    [limits.OneHot]
    written = ["axis"]                     # attributes that must be written, even with the default
    [limits.TensorScatter]
    inner = false                          # only from an input of the model to an output of it
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
    [limits.ScatterElements]
    slow = true                            # or {types = [...], reductions = [...]}: a second choice
    [limits.Where]                         # uses that it does not take: all of a table holds
    refused = [{types = ["int64"], ranks = [4, 5]}, {scalars = true}]

Only the name is needed.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files import note_read, read_toml
from onnx_scatterx.targets.faults import Fault
from onnx_scatterx.targets.limits import NO_LIMITS, OperatorLimits, SlowUse
from onnx_scatterx.targets.profile_checks import check_profile
from onnx_scatterx.targets.refused_use import RefusedUse
from onnx_scatterx.targets.target import NEW, Target

DENSE_LIMIT = 1 << 24  # elements, if a profile allows dense forms without a limit
_COPIED = (
    *("name", "description", "source", "version", "date", "checked"),
    *("max_rank", "max_opset", "static_only", "onnxruntime", "one_file"),
)

Find: TypeAlias = "Callable[[str], Target]"
"""Returns the target that a profile extends, or raises ScatterXError."""


def read_profile(
    path: str | os.PathLike[str], bases: Mapping[str, Target], find: Find, **limit: int
) -> Target:
    """Return the target that a file describes, or raise ScatterXError if it describes none.

    ``bases`` are the targets that a profile may name as its base; ``find`` returns the target that
    it extends. ``most`` may say how many bytes the file may have.
    """
    note_read(path, "the profile")
    content = read_toml(path, **limit)
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
    for key in ("misread", "types", "no_types"):
        if key in content:
            changes[key] = frozenset(content[key])
    if "ends" in content:
        changes["ends"] = tuple(map(RefusedUse.of, content["ends"]))
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
    extra = (target.extra - {"TensorScatter"}) | (more & NEW)
    if content.get("tensor_scatter", "TensorScatter" in target.extra):
        extra |= {"TensorScatter"}
    limits = dict(target.limits)
    for op_type, keys in content.get("limits", {}).items():
        fields = {key: _limit(key, value) for key, value in keys.items()}
        limits[op_type] = dataclasses.replace(limits.get(op_type, NO_LIMITS), **fields)
    return dataclasses.replace(
        target,
        operators=operators,
        avoid=avoid,
        extra=extra,
        limits=limits,
        dense_limit=_dense_limit(content, target),
        work_limit=content.get("work_limit", target.work_limit),
    )


def _limit(key: str, value: Any) -> Any:
    """Return a limit as ``OperatorLimits`` has it."""
    if key == "refused":
        return tuple(map(RefusedUse.of, value))
    if isinstance(value, dict):
        return SlowUse(**{name: frozenset(names) for name, names in value.items()})
    return frozenset(value) if isinstance(value, list) else value


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

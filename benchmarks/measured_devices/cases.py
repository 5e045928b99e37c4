"""A row of a table as a use, which a profile can be asked about, and its facts as atoms.

Only models with fixed shapes are cases. A node whose inputs are all constants is none: it is
computed before a device sees it. An absent optional input is a case of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import onnx.defs
import onnx_ir as ir

from benchmarks.measured_devices.tables import Table
from onnx_scatterx.engine.analysis import TensorValue
from onnx_scatterx.engine.device import Use

T = TypeVar("T")
Atom = tuple[str, Any]
"""A fact of a use as a profile says it: a key of ``RefusedUse``, and a value."""
TYPES = ("float", "float16", "int64", "int32", "bool", "int8", "uint8", "double")
"""The element types of data that are looked at: exporters write no others."""
PARAMETERS = frozenset(
    {"K", "axes", "axis", "ends", "pads", "repeats", "shape", "split", "starts", "steps"}
)
"""Inputs that say what a node does: bounds, amounts, axes and shapes."""
_INTS = onnx.defs.OpSchema.AttrType.INTS
_OPERAND = {"A": "x", "B": "y"}
_RANKS = ("data_dim", "inputs_dim", "input_dim")
_COUNTED = (onnx.defs.OpSchema.AttrType.INT, onnx.defs.OpSchema.AttrType.STRING)
_DIM = 2  # of each axis: a fact of a profile depends on no size


@dataclass(frozen=True)
class Case:
    """A node that was measured, and whether the device ran it."""

    use: Use
    ran: bool
    atoms: frozenset[Atom]
    computes: bool
    """Whether bounds, amounts or shapes are no constants."""


def cases(table: Table, most: int) -> list[Case]:
    """Return the cases of a table; of those with computed operands, and of the others, ``most``.

    If there are more, they are taken at even distances.
    """
    schema = onnx.defs.get_schema(table.operator, table.version, "")
    operands = [given.name for given in schema.inputs if given.name in PARAMETERS]
    computing: list[Mapping[str, Any]] = []
    others: list[Mapping[str, Any]] = []
    for row in table.rows:
        if _counts(row):
            computes = any(row.get(f"{name}_is_constant") is False for name in operands)
            (computing if computes else others).append(row)
    rows = [*_thinned(others, most), *_thinned(computing, most)]
    return [case for row in rows if (case := _case(table, schema, row)) is not None]


def parameters(cases: Sequence[Case]) -> set[str]:
    """Return the inputs of an operator that say what it does, and need no size."""
    return {v for case in cases for key, v in case.atoms if key == "computed" and v in PARAMETERS}


def _counts(row: Mapping[str, Any]) -> bool:
    """Return whether all shapes are fixed, and the types are among ``TYPES``."""
    for name, value in row.items():
        if name.endswith("_is_fixed_shape"):
            if not (all(value) if isinstance(value, tuple) else value in (True, None)):
                return False
        elif name.startswith("T_") and value is not None and str(value).lower() not in TYPES:
            return False
    return True


def _thinned(rows: Sequence[T], most: int) -> Sequence[T]:
    return rows[:: max(1, -(-len(rows) // most))]


def _case(table: Table, schema: onnx.defs.OpSchema, row: Mapping[str, Any]) -> Case | None:
    inputs: list[TensorValue | None] = []
    constant: list[bool] = []
    for given in schema.inputs:
        for value, is_constant in _inputs(given, row, table.operator):
            inputs.append(value)
            constant.append(is_constant)
    while inputs and inputs[-1] is None:
        inputs.pop()
    constant = constant[: len(inputs)]
    if inputs and all(c for c, v in zip(constant, inputs, strict=True) if v is not None):
        return None
    attributes = _attributes(schema, row)
    use = Use(table.operator, inputs, [_output(row, inputs)], attributes, constant)
    if use.dtype is not None and use.dtype.name.lower() not in TYPES:
        return None
    axis, rank = attributes.get("axis"), 0 if use.data is None else use.data.rank or 0
    if axis is not None and not -rank <= axis < rank:
        return None  # ONNX has no such node
    named = zip(schema.inputs, constant, strict=False)
    computes = any(given.name in PARAMETERS and not known for given, known in named)
    return Case(use, bool(row["ran"]), frozenset(_atoms(use, schema)), computes)


def _attributes(schema: onnx.defs.OpSchema, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a node; those of lists are empty, as tables have no lists."""
    found: dict[str, Any] = {}
    for name, known in schema.attributes.items():
        if known.type in _COUNTED and row.get(f"attr_{name}") is not None:
            found[name] = row[f"attr_{name}"]
        elif known.type == _INTS and row.get(f"attr_{name}_is_none") is False:
            found[name] = ()
    rank = next((row[name] for name in _RANKS if name in row), None)
    if "axis" in schema.attributes and "axis" not in found and rank:
        for first in ("attr_axis_is_zero", "axis_is_zero", "first_axis"):
            if first in row:
                inner = row.get("attr_axis_is_one") or (rank > 2 and row.get("last_axis") is False)
                found["axis"] = 0 if row[first] else 1 if inner else rank - 1
    return found


def _inputs(
    given: onnx.defs.OpSchema.FormalParameter, row: Mapping[str, Any], operator: str
) -> Iterator[tuple[TensorValue | None, bool]]:
    """Yield what a row says of an input, and whether it is a constant."""
    name, make = given.name, _OPERANDS.get((operator, given.name))
    make = make or _OPERANDS.get(("", name))
    known = f"{name}_is_constant" in row or f"{name}_dim" in row
    if row.get(f"{name}_is_none") or not known:
        yield None, True
        return
    rank, constant = row.get(f"{name}_dim"), row.get(f"{name}_is_constant", False)
    dtype = _dtype(given, row, operator)
    if given.option == onnx.defs.OpSchema.FormalParameterOption.Variadic:
        of_each = constant if isinstance(constant, tuple) else ()
        for i in range(row.get("num_inputs", 2)):
            yield _tensor(dtype, rank or 0), i < len(of_each) and bool(of_each[i])
    elif rank is not None and make is None:
        yield _tensor(dtype, rank, 1 if _is_stretched(name, row) else _DIM), bool(constant)
    else:
        array = np.zeros(1, np.int64) if make is None else np.asarray(make(row), np.int64)
        value = TensorValue.of(array)
        value = TensorValue(dtype or ir.DataType.INT64, value.shape, value.content)
        yield value if constant else TensorValue(value.dtype, value.shape), bool(constant)


def _is_stretched(name: str, row: Mapping[str, Any]) -> bool:
    """Return whether a row says that an input is broadcast to another one."""
    begin = _OPERAND.get(name, name.lower()) + "_broadcasting_to_"
    return any(value is True for key, value in row.items() if key.startswith(begin))


def _dtype(
    given: onnx.defs.OpSchema.FormalParameter, row: Mapping[str, Any], operator: str
) -> ir.DataType | None:
    told: Any = row.get(f"{given.type_str}_{operator}")
    if told is None and given.type_str.startswith("tensor("):
        told = given.type_str[len("tensor(") : -1].upper()
    return ir.DataType[told] if told in ir.DataType.__members__ else None


def _tensor(dtype: ir.DataType | None, rank: int, size: int = _DIM) -> TensorValue:
    shape = TensorValue.of(np.zeros([size] * rank, np.int8)).shape
    return TensorValue(dtype, shape)


def _output(row: Mapping[str, Any], inputs: list[TensorValue | None]) -> TensorValue:
    ranks = [t.rank or 0 for t in inputs if t is not None]
    dtype = next((t.dtype for t in inputs if t is not None), None)
    told = row.get("output_dim", row.get("shape_len"))
    return _tensor(dtype, max(ranks, default=0) if told is None else told)


def _steps(row: Mapping[str, Any]) -> list[int]:
    count = 1 if row["axes_is_single"] else row["data_dim"]
    if row["steps_all_ones"]:
        return [1] * count
    return [-1] * count if row["steps_is_neg_one"] else [2] * count


def _pads(row: Mapping[str, Any]) -> list[int]:
    rank = row["data_dim"]
    pads = [0 if row["pads_all_zeros"] else 1] * (2 * rank)
    return pads if row["pads_is_symmetric"] else [2, *pads[1:]]


def _reduced(row: Mapping[str, Any]) -> range:
    if row.get("single_axis"):
        return range(1)
    return range(row["data_dim"] if row.get("full_reduction") else 2)


def _columns(row: Mapping[str, Any]) -> np.ndarray:
    """Return indices of a GatherND or ScatterND: their last dim are the columns."""
    if "last_index_dimension" in row:
        return np.zeros([_DIM] * (row["indices_dim"] - 1) + [row["last_index_dimension"]])
    rank = row["data_dim"]
    known = {1: "k_is_one", 2: "k_is_two", rank - 1: "k_is_dim_minus_one", rank: "k_is_dim"}
    count = next((k for k, name in known.items() if k > 0 and row[name]), 3)
    return np.zeros([1 if row["q_is_one"] else _DIM, count])


_OPERANDS: Mapping[tuple[str, str], Callable[[Mapping[str, Any]], Any]] = {
    ("Slice", "starts"): lambda row: (
        [int(row["starts_equal_shape"])] * (1 if row["axes_is_single"] else row["data_dim"])
    ),
    ("Slice", "steps"): _steps,
    ("Slice", "axes"): lambda row: range(1 if row["axes_is_single"] else row["data_dim"]),
    ("Pad", "pads"): _pads,
    ("Reshape", "shape"): lambda row: (
        [_DIM] * row["shape_len"] if not row["shape_has_zero"] else [0] * row["shape_len"]
    ),
    ("Expand", "shape"): lambda row: [_DIM] * row["shape_len"],
    ("Squeeze", "axes"): lambda row: range(
        0 if row["axes_is_empty"] else 1 + row["axes_len_greater_than_one"]
    ),
    ("Unsqueeze", "axes"): lambda row: range(row["num_axes"]),
    ("", "axes"): _reduced,
    ("GatherND", "indices"): _columns,
    ("ScatterND", "indices"): _columns,
}


def _atoms(use: Use, schema: onnx.defs.OpSchema) -> Iterator[Atom]:
    """Yield the facts of a use that a table of ``refused`` may say."""
    if use.dtype is not None:
        yield "types", use.dtype.name.lower()
    if use.op_type in ("Gather", "GatherElements", "Slice") and use.inputs[1] is not None:
        kind = use.inputs[1].dtype
        if kind is not None:
            yield "index_types", kind.name.lower()
    yield "ranks", use.rank
    names = [given.name for given in schema.inputs]
    single = [
        given.option != onnx.defs.OpSchema.FormalParameterOption.Variadic for given in schema.inputs
    ]
    inputs = [*use.inputs, *[None] * len(names)]
    constant = [*use.is_constant, *[True] * len(names)]
    read = [t for t, known in zip(inputs, constant, strict=False) if not known]
    if any(t is not None and t.shape == () for t in [*read, *use.outputs]):
        yield "scalars", True
    for name, known in schema.attributes.items():
        if known.type == _INTS and not known.required and name not in use.attributes:
            yield "absent", name
    for i, name in enumerate(names):
        if not single[i]:
            continue
        given = inputs[i]
        if given is None:
            yield "absent", name
            continue
        yield ("constant" if constant[i] else "computed"), name
        if name not in PARAMETERS and len(use.inputs) > 1 and given.rank is not None:
            yield f"rank_of.{name}", given.rank
            if given.shape == use.outputs[0].shape:
                yield "whole", name
    for name, value in use.attributes.items():
        if value == ():
            continue
        behind = name == "axis" and value < 0 and use.data is not None
        yield f"attributes.{name}", value + (use.data.rank or 0) if behind and use.data else value
    yield from _of_operands(use, inputs)


def _of_operands(use: Use, inputs: list[TensorValue | None]) -> Iterator[Atom]:
    op, data = use.op_type, inputs[0] if inputs else None
    place = 3 if op == "Slice" else 1
    if op in ("Slice", "Squeeze", "Unsqueeze") or op.startswith("Reduce"):
        axes = inputs[place]
        count = data.rank if axes is None and data is not None else None
        if axes is not None and axes.static_shape is not None:
            count = int(np.prod(axes.static_shape))
        yield from (("axes", least) for least in range(2, 1 + min(count or 0, 3)))
    if op == "Slice" and inputs[1] is not None and inputs[1].constant is not None:
        yield from [("last", True)] * bool((inputs[1].constant == _DIM - 1).any())
    if op == "Reshape" and inputs[1] is not None and inputs[1].constant is not None:
        yield from [("zeros", True)] * bool((inputs[1].constant == 0).any())
    if op == "Slice" and inputs[4] is not None and inputs[4].constant is not None:
        yield from (("steps", int(s)) for s in set(inputs[4].constant.ravel().tolist()))
    if op == "Pad" and inputs[1] is not None and inputs[1].constant is not None:
        before, behind = np.split(inputs[1].constant, 2)
        if (before != behind).any():
            yield "uneven", True
    if op in ("GatherND", "ScatterND") and inputs[1] is not None and inputs[1].static_shape:
        yield "columns", inputs[1].static_shape[-1]

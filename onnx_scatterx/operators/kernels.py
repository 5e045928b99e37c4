"""The kernels of ONNX Runtime, by operator, type and version, and wider types where it has none.

The kernels were probed with ONNX Runtime 1.18 to 1.32 by loading models of one node
(benchmarks/kernel_versions.py). ONNX allows more, but a node that only ONNX allows would not load,
although the original did. Those that came after the oldest version, ``OLDEST``, have their version
in ``LATER``: they are written if the installed one has them, and the report says what the result
needs. If ONNX Runtime is not installed, it is taken to be the oldest. Values of a type that ONNX
Runtime only casts are written in a wider one, and cast back where they are read.

A node of float16 without a kernel of its own is computed in float32. Its result is the same bits if
it does not round. So the table has such nodes, but not CumSum of float16, which would be rounded
once and not after each step. ONNX Runtime does no such thing for bfloat16.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of

import onnx_ir as ir

from onnx_scatterx.operators.table import OPERATORS

T = ir.DataType

_FLOATS = {T.FLOAT, T.DOUBLE, T.FLOAT16}
_WIDE = {T.INT32, T.INT64, T.UINT32, T.UINT64}
_NARROW = {T.INT8, T.UINT8, T.INT16, T.UINT16}
_ALL = _FLOATS | _WIDE | _NARROW | {T.BOOL, T.STRING}

_MOVES = {"Concat", "Identity", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"}

# operator: (from this version, element types), newest first
KERNELS: dict[str, tuple[tuple[int, set[ir.DataType]], ...]] = {
    **dict.fromkeys(_MOVES, ((13, _ALL | {T.BFLOAT16}), (9, _ALL))),
    **dict.fromkeys(("Add", "Mul"), ((14, _FLOATS | _WIDE | _NARROW), (9, _FLOATS | _WIDE))),
    **dict.fromkeys(("And", "Or", "Not"), ((9, {T.BOOL}),)),
    **dict.fromkeys(("Greater", "Less"), ((9, _FLOATS | _WIDE | _NARROW),)),
    "Equal": (
        (11, {T.INT32, T.INT64, T.BOOL, T.FLOAT, T.DOUBLE, T.FLOAT16}),
        (9, {T.INT32, T.INT64, T.BOOL}),
    ),
    "IsNaN": ((13, {T.FLOAT, T.DOUBLE, T.FLOAT16}), (9, {T.FLOAT, T.FLOAT16})),
    "CumSum": ((11, {T.FLOAT, T.DOUBLE, T.INT32, T.INT64}),),
    **dict.fromkeys(
        ("ReduceMax", "ReduceMin"),
        (
            (13, {T.FLOAT, T.DOUBLE, T.FLOAT16, T.INT32, T.INT64, T.INT8, T.UINT8}),
            (9, {T.FLOAT, T.DOUBLE, T.FLOAT16, T.INT32, T.INT64}),
        ),
    ),
    "Shape": ((9, set(T) - {T.INT2, T.UINT2, T.INT4, T.UINT4, T.FLOAT4E2M1}),),
    "Range": ((11, {T.FLOAT, T.DOUBLE, T.INT16, T.INT32, T.INT64}),),
    "Expand": ((9, _ALL),),
    # Gather of strings runs, but may return empty strings.
    "Gather": ((13, (_ALL | {T.BFLOAT16}) - {T.STRING}), (9, _ALL - {T.STRING})),
    "GatherElements": ((13, _ALL | {T.BFLOAT16}), (11, _ALL)),
    **dict.fromkeys(("Max", "Min"), ((12, _FLOATS | _WIDE | {T.INT8, T.UINT8}), (9, _FLOATS))),
    "Pad": (
        (13, _FLOATS | _WIDE | {T.INT8, T.UINT8, T.BOOL}),
        (11, _FLOATS | _WIDE | {T.INT8, T.UINT8}),
        (9, _FLOATS),
    ),
    "TopK": ((11, {T.FLOAT, T.DOUBLE, T.INT32, T.INT64}),),
    "TensorScatter": ((24, (_ALL | {T.BFLOAT16}) - {T.STRING}),),
    "Where": ((9, _FLOATS | {T.INT32, T.INT64, T.UINT32, T.INT8, T.UINT8, T.STRING}),),
}

OLDEST = (1, 18)
"""The oldest ONNX Runtime that is supported."""

MEASURED = "1.32"
"""The version of ONNX Runtime that was measured, on x86-64 with AVX2 and AVX-512.

It showed which results do not depend on the place of an element, and what is moved past, computed
in integers or made one node. Others are taken to do the same.
"""

_UNSIGNED = {T.UINT32, T.UINT64}
LATER: dict[tuple[str, ir.DataType], tuple[int, int]] = {
    **{(op, t): (1, 21) for op in ("Add", "Mul") for t in _NARROW | _UNSIGNED},
    **{(op, t): (1, 21) for op in ("Greater", "Less") for t in _NARROW | _UNSIGNED},
    **{(op, t): (1, 24) for op in ("Max", "Min") for t in (T.INT8, T.UINT8)},
    **{("Where", t): (1, 31) for t in (T.INT8, T.UINT32)},
}
"""Since which version a kernel is there, if the oldest one lacks it.

An operator set that a version does not read is not counted: the original does not run there.
"""


_PACKAGES = ("onnxruntime", *(f"onnxruntime-{kind}" for kind in ("gpu", "openvino", "qnn")))


@cache
def installed() -> tuple[int, int]:
    """Return the version of the installed ONNX Runtime, or the oldest if there is none."""
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            major, minor, *_ = version_of(name).split(".")
            return int(major), int(minor)
    return OLDEST


def needs(op: str, dtype: ir.DataType | None) -> tuple[int, int]:
    """Return since which version ONNX Runtime has a kernel.

    >>> needs("Where", ir.DataType.INT8), needs("Where", ir.DataType.FLOAT)
    ((1, 31), (1, 18))
    """
    return OLDEST if dtype is None else LATER.get((op, dtype), OLDEST)


def is_of_inputs(op: str) -> bool:
    """Return whether the kernels of an operator depend on the type of the inputs."""
    return bool(OPERATORS[op].compares) or OPERATORS[op].tests


def needed(nodes: Iterable[ir.Node]) -> str | None:
    """Return the ONNX Runtime that some nodes need, None if the oldest has all kernels.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (bool[2] c, int8[2] x) => (int8[2] y) { y = Where (c, x, x) }''')
    >>> needed(model.graph)
    '1.31'
    """
    newest = OLDEST
    for node in nodes:
        values = node.inputs if is_of_inputs(node.op_type) else node.outputs
        dtype = None if not values or values[0] is None else values[0].dtype
        newest = max(newest, needs(node.op_type, dtype) if node.domain == "" else OLDEST)
    return None if newest == OLDEST else f"{newest[0]}.{newest[1]}"


# The tests hold for each code: Cast to the wider type and back gives the same code.
WIDER = dict.fromkeys((T.FLOAT8E4M3FN, T.FLOAT8E4M3FNUZ, T.FLOAT8E5M2FNUZ), T.FLOAT)
WIDER |= {T.INT4: T.INT8, T.UINT4: T.UINT8}
_NOT_WIDER = {
    T.FLOAT8E5M2: ": Cast to a wider type and back changes the codes 7C to 7E and FC to FE",
    T.FLOAT4E2M1: ", and Cast to a wider type",
}


def lacking(op: str, dtype: ir.DataType) -> str:
    """Return what lacks a kernel, and why Cast does not help.

    >>> lacking("Concat", ir.DataType.FLOAT4E2M1)
    'Concat of float4e2m1, and Cast to a wider type'
    """
    later = needs(op, dtype)
    since = f": it is in {later[0]}.{later[1]}" if later > installed() else ""
    return f"{op} of {dtype.name.lower()}{since or _NOT_WIDER.get(dtype, '')}"


def has_kernel(op: str, version: int, dtype: ir.DataType) -> bool:
    """Return whether an operator of an operator-set version runs on an element type.

    >>> has_kernel("Where", 18, ir.DataType.BOOL), has_kernel("Slice", 18, ir.DataType.BOOL)
    (False, True)
    """
    for since, dtypes in KERNELS.get(op, ()):
        if version >= since:
            return dtype in dtypes and needs(op, dtype) <= installed()
    return False

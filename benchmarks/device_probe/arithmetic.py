"""Elementwise arithmetic, CumSum and Cast."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx import TensorProto, helper

from benchmarks.device_probe.case import OPSET
from benchmarks.device_probe.rows import (
    I8,
    I32,
    I64,
    U8,
    B,
    C,
    D,
    F,
    H,
    In,
    Row,
    a,
    row,
    type_name,
    typed,
)

UNARY = """
Acosh Asinh Atan Ceil Celu Cos Cosh Elu Erf Exp Floor HardSigmoid HardSwish LeakyRelu Log Mish
Reciprocal Relu Round Selu Sigmoid Sin Sinh Softplus Softsign Sqrt Tan Tanh ThresholdedRelu
"""
UNARY_FROM_ONE = ("Log", "Sqrt", "Acosh", "Reciprocal")


def arithmetic() -> Iterator[Row]:
    for name in ("Add", "Sub", "Mul", "Div"):
        yield row(name, "", In(a(4, 6)), In(a(4, 6, low=9)))
        yield from typed(
            name,
            lambda k: (In(a(4, 6, dtype=k, low=1)), In(a(4, 6, dtype=k, low=3))),
            (F, I64, I32, H, D),
        )
        yield row(name, "constant int64", In(a(4, 6, dtype=I64)), C(3))
        yield row(name, "broadcast", In(a(4, 1)), In(a(6, low=9)))
        yield row(name, "broadcast int64", In(a(4, 1, dtype=I64)), C(np.arange(1, 7)))
    yield row("Div", "negative int64", In(a(4, 6, dtype=I64, low=-15)), C(4))
    yield row("Mod", "", In(a(4, 6, dtype=I64)), C(5))
    yield from typed("Mod", lambda k: (In(a(4, 6, dtype=k)), In(np.full((4, 6), 5, k))), (I64, I32))
    yield row("Mod", "type=float", In(a(4, 6)), C(1.5, F), fmod=1)
    yield row("Mod", "negative", In(a(4, 6, dtype=I64, low=-15)), C(5))
    yield row("Mod", "negative int32", In(a(4, 6, dtype=I32, low=-15)), C(5, I32))
    yield row("Mod", "fmod", In(a(4, 6, dtype=I64, low=-15)), C(5), fmod=1)
    for name in ("Max", "Min"):
        yield row(name, "", In(a(4, 6)), In(a(6, 4).reshape(4, 6)))
        yield from typed(
            name,
            lambda k: (In(a(4, 6, dtype=k)), In(a(6, 4, dtype=k).reshape(4, 6))),
            (F, I64, I32, H, D),
        )
        yield row(name, "broadcast", In(a(4, 1)), In(a(6)))
        yield row(name, "constant int64", In(a(4, 6, dtype=I64)), C(9))
        yield row(name, "inputs=3", In(a(4, 6)), In(a(4, 6, low=5)), C(1.0, F))
        yield row(name, "inputs=1", In(a(4, 6)))
    for name in ("Abs", "Neg", "Sign"):
        yield row(name, "", In(a(4, 6)))
        yield from typed(name, lambda k: (In(a(4, 6, dtype=k, low=-9)),), (F, I64, I32))
    yield row("Pow", "", In(a(4, 6, dtype=U8).astype(F)), C(2.0, F))
    yield row("Pow", "type=int64", In(a(4, 6, dtype=I64)), C(2))
    yield row("Clip", "", In(a(4, 6)), C(-1.0, F), C(2.0, F))
    yield from typed(
        "Clip", lambda k: (In(a(4, 6, dtype=k)), C(1, k), C(4, k)), (F, I64, I32, D, H)
    )
    yield row("Clip", "min only", In(a(4, 6)), C(-1.0, F))
    yield row("Clip", "max only", In(a(4, 6)), None, C(1.0, F))
    yield row("Clip", "computed", In(a(4, 6)), In(-1.0, F), In(1.0, F))
    for axis in (0, 1, -1):
        yield row("CumSum", "" if axis == 1 else f"axis={axis}", In(a(4, 6)), C(axis))
    yield from typed("CumSum", lambda k: (In(a(4, 6, dtype=k)), C(1)), (F, I64, I32, D, H))
    for kind in (F, I64, I32):
        yield row(
            "CumSum", f"exclusive {type_name(kind)}", In(a(4, 6, dtype=kind)), C(1), exclusive=1
        )
        yield row("CumSum", f"reverse {type_name(kind)}", In(a(4, 6, dtype=kind)), C(1), reverse=1)
    yield row("CumSum", "axis int32", In(a(4, 6)), C(1, I32))
    for rank in range(1, 7):
        yield row("CumSum", f"rank={rank}", In(a(*[3] * rank)), C(rank - 1))
    kinds = (F, H, D, I64, I32, U8, I8, B)
    to = {k: helper.np_dtype_to_tensor_dtype(np.dtype(k)) for k in kinds}
    yield row("Cast", "", In(a(4, 6)), to=TensorProto.INT32)
    for source in kinds:
        for target in kinds:
            if source is not target:
                label = f"cast={type_name(source)} to {type_name(target)}"
                data = (
                    a(4, 6, dtype=source)
                    if np.dtype(source).kind != "f"
                    else a(4, 6, dtype=source).clip(0)
                )
                yield row("Cast", label, In(data), to=to[target])
    for name in UNARY.split():
        data = a(4, 6, low=1)
        yield row(
            name,
            "",
            In(np.abs(data) + 1.25 if name in UNARY_FROM_ONE else data),
            opset=18 if name == "Mish" else OPSET,
        )
    for name in ("Asin", "Acos", "Atanh"):
        yield row(name, "", In(a(4, 6) / 8))
    yield row("Gelu", "", In(a(4, 6)), opset=20)
    yield row("PRelu", "", In(a(1, 3, 2, 2)), C(np.full((3, 1, 1), 0.25), F))
    yield row("Sum", "", In(a(4, 6)), In(a(4, 6)), In(a(4, 6)))
    yield row("Mean", "", In(a(4, 6)), In(a(4, 6, low=3)))
    yield row("BitShift", "", In(a(4, 6, dtype=U8)), C(1, U8), direction="LEFT")
    yield row("BitwiseAnd", "", In(a(4, 6, dtype=I32)), C(5, I32), opset=18)
    yield row("BitwiseOr", "", In(a(4, 6, dtype=I32)), C(5, I32), opset=18)
    yield row("BitwiseXor", "", In(a(4, 6, dtype=I32)), C(5, I32), opset=18)
    yield row("BitwiseNot", "", In(a(4, 6, dtype=I32)), opset=18)

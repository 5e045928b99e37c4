"""Reductions, and operators on shapes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx import numpy_helper

from benchmarks.device_probe.rows import I8, I32, I64, U8, B, C, D, F, H, In, Row, a, row, type_name


def reductions() -> Iterator[Row]:
    """Yield what ONNX reduces: axes are an attribute at first, an input since operator set 18."""
    for name in ("ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean", "ReduceProd"):
        as_input = {"opset": 18} if name != "ReduceSum" else {}
        if name == "ReduceSum":
            yield row(name, "", In(a(4, 6)), C([1]))
        else:
            yield row(name, "", In(a(4, 6)), axes=[1])
        yield row(name, "axes=input", In(a(4, 6)), C([1]), **as_input)
        for kind in (F, I64, I32, H, D):
            if name == "ReduceSum":
                yield row(name, f"type={type_name(kind)}", In(a(4, 6, dtype=kind)), C([1]))
            else:
                small = a(4, 6, dtype=kind) % 3 + 1 if name == "ReduceProd" else a(4, 6, dtype=kind)
                yield row(name, f"type={type_name(kind)}", In(small.astype(kind)), axes=[1])
        yield row(name, "keepdims=0", In(a(4, 6)), C([1]), keepdims=0, **as_input)
        yield row(name, "axes=all", In(a(4, 6)), **as_input)
        yield row(name, "axes=-1", In(a(2, 3, 4)), C([-1]), **as_input)
        yield row(name, "axes=2", In(a(2, 3, 4)), C([0, 2]), **as_input)
        for rank in range(2, 7):
            yield row(name, f"rank={rank}", In(a(*[2] * rank)), C([rank - 1]), **as_input)
    yield row("ReduceMax", "type=bool", In(a(4, 6, dtype=B)), C([1]), opset=20)
    yield row("ReduceMax", "type=uint8", In(a(4, 6, dtype=U8)), axes=[1])
    yield row("ReduceMax", "type=int8", In(a(4, 6, dtype=I8)), axes=[1])
    for name in ("ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceSumSquare", "ReduceLogSum"):
        yield row(name, "", In(np.abs(a(4, 6)) + 1), axes=[1])


def shapes() -> Iterator[Row]:
    yield row("Shape", "", In(a(4, 6)))
    yield row("Shape", "start and end", In(a(4, 6, 2)), start=1, end=2)
    yield row("Size", "", In(a(4, 6)))
    yield row("Range", "", C(0), In(5, I64), C(1))
    yield row("Range", "type=int32", C(0, I32), In(5, I32), C(1, I32))
    yield row("Range", "type=float", C(0, F), In(5, F), C(1, F))
    yield row("Range", "delta=-1", In(5, I64), C(0), C(-1))
    yield row("ConstantOfShape", "", In([2, 3], I64))
    number = numpy_helper.from_array(a(1, dtype=F))
    yield row("ConstantOfShape", "value", In([2, 3], I64), value=number)
    yield row("ConstantOfShape", "constant", C([2, 3]))
    yield row("ConstantOfShape", "constant value", C([2, 3]), value=number)
    yield row("Constant", "", value=numpy_helper.from_array(a(2, 3)))

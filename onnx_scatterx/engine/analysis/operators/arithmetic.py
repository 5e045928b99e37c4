"""Transfer functions of the operators that compute: integer arithmetic, comparisons, logic.

Numbers are computed by NumPy in the tensor's own type, so 32-bit chains wrap as they do in the
model. Terms are used only if no value can leave the type's range.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.call import Call, Result, required
from onnx_scatterx.engine.analysis.domain.tensor import TensorValue
from onnx_scatterx.engine.analysis.operators.elementwise import combine
from onnx_scatterx.engine.terms import Term, equals, maximum, minimum, step, where
from onnx_scatterx.operators import described


def truncating_div(a: Term, b: Term) -> Term | None:
    """Return the quotient of integers rounded towards zero, as ONNX's Div."""
    low, high = b.interval()
    if high < 0:
        return truncating_div(-a, -b)
    if low < 0:
        return None
    a_low, a_high = a.interval()
    if a_low >= 0:
        return a // b
    if a_high <= 0:
        return -(-a // b)
    return where(step(a), a // b, -(-a // b))


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if not np.all(b):  # of floats too: runtimes differ in the sign of a zero result
        raise ZeroDivisionError
    if a.dtype.kind == "f":
        return np.asarray(a / b)
    quotient = a // b  # rounded down
    inexact = (quotient * b != a) & ((a < 0) != (b < 0))
    return np.asarray(quotient + inexact).astype(a.dtype)


def _mod(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind in "iu" and not np.all(b):
        raise ZeroDivisionError
    return np.asarray(np.mod(a, b))


def _fmod(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    # Integers are converted to double.
    if a.dtype.kind in "iu" and (not np.all(b) or not (_exact(a) and _exact(b))):
        raise ZeroDivisionError
    return np.asarray(np.fmod(a, b))


def _exact(a: np.ndarray) -> bool:
    return bool(np.all((a.astype(np.float64) <= 2.0**52) & (a.astype(np.float64) >= -(2.0**52))))


Numeric = Callable[..., np.ndarray]
Symbolic = Callable[..., "Term | None"]

# operator: (on numbers, on terms); the result has the inputs' type
SAME_TYPE: dict[str, tuple[Numeric, Symbolic | None]] = {
    "Add": (np.add, lambda a, b: a + b),
    "Sub": (np.subtract, lambda a, b: a - b),
    "Mul": (np.multiply, lambda a, b: a * b),
    "Div": (_divide, truncating_div),
    "Neg": (np.negative, lambda a: -a),
    "Abs": (np.abs, lambda a: maximum(a, -a)),
    "Min": (np.minimum, minimum),
    "Max": (np.maximum, maximum),
    "Sign": (np.sign, lambda a: step(a - 1) - step(-a - 1)),
    "Floor": (np.floor, None),
    "Ceil": (np.ceil, None),
    "Round": (np.rint, None),
    "Sqrt": (np.sqrt, None),
    "And": (np.logical_and, lambda a, b: a * b),
    "Or": (np.logical_or, lambda a, b: a + b - a * b),
    "Xor": (np.logical_xor, lambda a, b: a + b - 2 * a * b),
    "Not": (np.logical_not, lambda a: 1 - a),
}

# operator: (on numbers, on terms); the result is boolean
COMPARISONS: dict[str, tuple[Numeric, Symbolic | None]] = {
    "Equal": (np.equal, equals),
    "Less": (np.less, lambda a, b: step(b - a - 1)),
    "LessOrEqual": (np.less_equal, lambda a, b: step(b - a)),
    "Greater": (np.greater, lambda a, b: step(a - b - 1)),
    "GreaterOrEqual": (np.greater_equal, lambda a, b: step(a - b)),
}


def elementwise(call: Call) -> Result:
    """Transfer any operator of the two tables, with broadcasting."""
    op = call.node.op_type
    comparison = op in COMPARISONS
    numeric, symbolic = (COMPARISONS if comparison else SAME_TYPE)[op]
    inputs = [required(i) for i in call.inputs]
    dtype = ir.DataType.BOOL if comparison else inputs[0].dtype
    if op in ("Min", "Max"):  # of one, two or many
        numeric = _folded(numeric)
        symbolic = None if symbolic is None else _folded(symbolic)
    if op == "Equal" and any(i.dtype is None or i.dtype.is_string() for i in inputs):
        symbolic = None
    selects = op == "Sign" or bool(described(call.node).chooses)  # -1, 0, 1, or one of the inputs
    return combine(inputs, dtype, numeric, symbolic, call.facts, selects=selects)


def _folded(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *items: functools.reduce(function, items)


def where_(call: Call) -> Result:
    condition, a, b = map(call.present, range(3))
    return combine([condition, a, b], a.dtype, np.where, where, call.facts, selects=True)


def mod(call: Call) -> Result:
    a, b = call.present(0), call.present(1)
    if call.integer("fmod", 0):
        return combine([a, b], a.dtype, _fmod, None, call.facts)

    def symbolic(t: Term, divisor: Term) -> Term | None:
        low, high = divisor.interval()
        return t % divisor if low >= 0 or high < 0 else None

    return combine([a, b], a.dtype, _mod, symbolic, call.facts)


def clip(call: Call) -> Result:
    x = call.present(0)
    if call.version < 11:
        return [TensorValue(x.dtype, x.shape)]
    numbers = [None if tensor is None else tensor.constant for tensor in call.inputs]
    if any(n is not None and n.dtype.kind == "f" and not np.isfinite(n).all() for n in numbers):
        # NaN bounds nothing, or everything; an absent bound is the type's largest number.
        return [TensorValue(x.dtype, x.shape)]
    for i, (numeric, symbolic) in ((1, SAME_TYPE["Max"]), (2, SAME_TYPE["Min"])):
        bound = call.input(i)
        if bound is not None:
            pair = [x, _as_scalar(bound)]
            (x,) = combine(pair, x.dtype, numeric, symbolic, call.facts, selects=True)
    return [x]


def _as_scalar(bound: TensorValue) -> TensorValue:
    """Return a bound without dims: ONNX Runtime takes one of shape [1], without broadcasting."""
    if bound.constant is not None and bound.constant.size == 1:
        return TensorValue(bound.dtype, (), bound.constant.reshape(()))
    return TensorValue(bound.dtype, (), bound.scalar)

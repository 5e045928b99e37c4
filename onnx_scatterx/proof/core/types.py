"""Element types: the sort of an element's term, and how integers wrap around."""

from __future__ import annotations

import numpy as np
import onnx

from onnx_scatterx.proof.core.arithmetic import add, integer, multiply
from onnx_scatterx.proof.core.logic import truth
from onnx_scatterx.proof.core.terms import (
    RULES,
    Sort,
    Term,
    UnsupportedError,
    literal,
    make,
)

RANGES = {
    "uint8": (0, 2**8 - 1),
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 32, 64)},
}
COMPUTED = {"bool", "float32", *RANGES}
"""The types with which operators compute. Elements of other types are data, and only moved."""


def dtype_name(element: int) -> str:
    """Return the name of an element type."""
    if element == onnx.TensorProto.STRING:
        return "string"
    try:
        return str(onnx.helper.tensor_dtype_to_np_dtype(element).name)
    except KeyError as error:
        raise UnsupportedError(f"the element type {element}") from error


def sort_of(dtype: str) -> Sort:
    """Return the sort of a type's elements."""
    if dtype == "bool":
        return "condition"
    return "integer" if dtype in RANGES else "data"


def range_of(dtype: str) -> tuple[int, int]:
    """Return the least and the greatest element of an integer type; 0, 0 for other types."""
    return RANGES.get(dtype, (0, 0))


def wrapped(value: Term, dtype: str) -> Term:
    """Return an integer wrapped to a type: modulo the number of values of the type.

    Within a sum or product, terms that are wrapped to the same type are unwrapped first.
    """
    low, high = range_of(dtype)
    if value.op == "polynomial" and any(a.op == "wrap" and a.data == dtype for a in value.args):
        inside = {a: a.args[0] for a in value.args if a.op == "wrap" and a.data == dtype}
        parts = []
        for monomial, coefficient in value.data:
            factors = [inside.get(a, a) for a in monomial]
            parts.append(multiply(*factors) * coefficient)
        value = add(*parts)
    if low <= value.low and value.high <= high:
        return value
    if value.op == "integer":
        return integer((value.data - low) % (high - low + 1) + low)
    return make("wrap", (value,), dtype, "integer", low, high)


RULES["wrap"] = lambda term, args: wrapped(args[0], term.data)


def constant(element: np.generic, dtype: str) -> Term:
    """Return an element of a constant as a term."""
    sort = sort_of(dtype)
    if sort == "condition":
        return truth(bool(element))
    if sort == "integer":
        return integer(int(element))
    if isinstance(element, (str, bytes)):
        return literal(dtype, element.encode() if isinstance(element, str) else element)
    return literal(dtype, np.asarray(element).tobytes())


def number_of(literal: Term) -> np.float32:
    """Return the number of a literal of float32."""
    number: np.float32 = np.frombuffer(literal.data[1], np.float32)[0]
    return number


def float_constant(value: float) -> Term:
    """Return a number as a literal of float32."""
    return constant(np.float32(value), "float32")

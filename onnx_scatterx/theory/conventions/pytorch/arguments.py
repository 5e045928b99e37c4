"""Checks and converts arguments as PyTorch does: element types, dims, scalars."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.conventions import axes
from onnx_scatterx.theory.conventions.axes import (
    FLOATS,
    INTEGERS,
    Integers,
    check,
    check_dtype,
)

Scalar: TypeAlias = bool | int | float | complex
Array: TypeAlias = NDArray[Any]

COPIED = INTEGERS | FLOATS | {"bool", "complex64", "complex128"}
TENSORS = COPIED - {"uint16", "uint32", "uint64"}
LONG = frozenset({"int64"})


def check_tensor(array: Array, copied: bool = False) -> None:
    """Raise ``ValueError`` if PyTorch's CPU kernels do not take the element type of an input.

    If ``copied``, the tensor is only copied, and may also have a wide unsigned type.
    """
    check_dtype("input", array, COPIED if copied else TENSORS)


def converted(name: str, array: Array, dtype: np.dtype[Any]) -> Array:
    """Convert a tensor as a copy does: fractions and imaginary parts are dropped."""
    check_dtype(name, array, COPIED)
    if np.iscomplexobj(array) and dtype.kind not in "cb":
        array = array.real
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def wrap(dim: int, rank: int, name: str = "dim") -> int:
    """Count a dim from the start. A tensor of rank 0 has the dims 0 and -1."""
    return axes.wrap(name, dim, max(rank, 1))


def extent(array: Array, dim: int) -> int:
    """Return the size of a dim; a tensor of rank 0 has the size 1."""
    return array.shape[dim] if array.ndim else 1


def vector(name: str, index: Integers) -> Integers:
    """Return an index of rank 1, or of rank 0, as a vector."""
    check(index.ndim <= 1, f"{name} must have rank 1 or 0, not {index.ndim}")
    return index.reshape(-1)


def as_scalar(name: str, value: Scalar, dtype: np.dtype[Any]) -> Array:
    """Convert a number; ``ValueError`` if it is too large for the type.

    Fractions are dropped, every number but 0 is true, and a negative integer wraps in uint8.

    >>> as_scalar("value", 2.7, np.dtype(np.int8)), as_scalar("value", -1, np.dtype(np.uint8))
    (array(2, dtype=int8), array(255, dtype=uint8))
    """
    number = value.item() if isinstance(value, np.generic) else value
    held = not isinstance(number, int) or -(2**63) <= number < 2**64
    check(held, f"{name} is {number}, which 64 bits cannot hold")
    if dtype == np.bool_:
        return np.array(bool(number))
    if isinstance(number, complex) and dtype.kind != "c":
        check(not number.imag, f"{name} is {number}, and {dtype.name} has no imaginary part")
        number = number.real
    check(_fits(number, dtype), f"{name} is {number}, which {dtype.name} cannot hold")
    if dtype.kind in "iu":
        return np.array(int(number.real), np.int64).astype(dtype)
    with np.errstate(over="ignore"):
        return np.array(number).astype(dtype)


def as_filling(value: Array | Scalar, dtype: np.dtype[Any]) -> Array:
    """Convert a number or a tensor of rank 0."""
    if not isinstance(value, np.ndarray):
        return as_scalar("value", value, dtype)
    check(value.ndim == 0, f"value must have rank 0, not {value.ndim}")
    return as_scalar("value", value.item(), dtype)


def _fits(number: Scalar, dtype: np.dtype[Any]) -> bool:
    if dtype.kind == "c":
        parts = np.finfo(dtype).dtype
        return _fits(number.real, parts) and _fits(number.imag, parts)
    assert not isinstance(number, complex)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low = -limits.max if dtype.kind == "u" and isinstance(number, int) else limits.min
        return bool(low <= number <= limits.max)  # false for NaN
    if not np.isfinite(number):
        return True
    largest = 3.3895313892515355e38 if dtype.name == "bfloat16" else np.finfo(dtype).max
    return abs(float(number)) <= float(largest)

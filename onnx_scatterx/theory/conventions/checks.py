"""Checks that several conventions share; each error names the argument."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.conventions.axes import Integers


def check_range(name: str, values: Integers, low: int, high: int) -> None:
    """Raise ``ValueError`` if a value is outside low..high, both included."""
    outside = (values < low) | (values > high)
    if outside.any():
        at = tuple(int(i) for i in np.unravel_index(int(outside.argmax()), outside.shape))
        raise ValueError(f"{name} is {values[at]} at {at}, and must be in [{low}, {high}]")


def check_dtype(name: str, array: NDArray[Any], allowed: frozenset[str] | set[str]) -> None:
    """Raise ``ValueError`` if the type of an array is not among these types."""
    if array.dtype.name not in allowed:
        raise ValueError(
            f"{name} holds {array.dtype.name}, and may hold {', '.join(sorted(allowed))}"
        )


def check_same_dtype(name: str, array: NDArray[Any], other: str, data: NDArray[Any]) -> None:
    """Raise ``ValueError`` if the types of two arrays differ."""
    if array.dtype != data.dtype:
        raise ValueError(f"{name} holds {array.dtype.name}, and {other} holds {data.dtype.name}")

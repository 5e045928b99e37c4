"""Checks that several conventions share; each error names the argument."""

from collections.abc import Iterable
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


def check_integers(name: str, array: NDArray[Any]) -> None:
    """Raise ``ValueError`` if an array does not hold integers."""
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integers, not {array.dtype}")


def check_dims(*named: tuple[str, NDArray[Any]]) -> None:
    """Raise ``ValueError`` if an array has rank 0."""
    for name, array in named:
        if not array.ndim:
            raise ValueError(f"{name} must have rank 1 or more")


def check_same_rank(name: str, array: NDArray[Any], other: str, data: NDArray[Any]) -> None:
    """Raise ``ValueError`` if the ranks of two arrays differ."""
    if array.ndim != data.ndim:
        raise ValueError(f"{name} must have the rank of {other}, {data.ndim}, not {array.ndim}")


def check_shape(name: str, array: NDArray[Any], expected: tuple[int, ...]) -> None:
    """Raise ``ValueError`` if an array has another shape."""
    if array.shape != expected:
        raise ValueError(f"{name} must have shape {expected}, not {array.shape}")


def check_extents(
    name: str,
    shape: tuple[int, ...],
    other: str,
    most: tuple[int, ...],
    except_on: int | None = None,
) -> None:
    """Raise ``ValueError`` if a dim is larger than that of another array, except on one axis."""
    for d, (extent, size) in enumerate(zip(shape, most, strict=True)):
        if d != except_on and extent > size:
            raise ValueError(f"dim {d} of {name} is {extent}, but {other} has only {size} there")


def check_choice(name: str, value: str, known: Iterable[str]) -> None:
    """Raise ``ValueError`` if a word is not among those that are known."""
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")


def wrap(name: str, axis: int, rank: int) -> int:
    """Count an axis from the start; ``ValueError`` if the axis does not exist."""
    if not -rank <= axis < rank:
        raise ValueError(f"{name} is {axis}, and must be in [{-rank}, {rank - 1}]")
    return axis % rank


def check_same_dtype(name: str, array: NDArray[Any], other: str, data: NDArray[Any]) -> None:
    """Raise ``ValueError`` if the types of two arrays differ."""
    if array.dtype != data.dtype:
        raise ValueError(f"{name} holds {array.dtype.name}, and {other} holds {data.dtype.name}")

"""The words of the tables: an input, a constant, a row, a row for each element type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.device_probe.case import OPSET


class In:
    """An input that is fed."""

    def __init__(self, array: Any, dtype: Any = None, dims: Sequence[Any] | None = None) -> None:
        """Take an array, and dims that are declared instead of its own."""
        self.array = np.asarray(array, dtype)
        self.dims = list(self.array.shape if dims is None else dims)


class C:
    """A constant."""

    def __init__(self, array: Any, dtype: Any = np.int64) -> None:
        """Take an array."""
        self.array = np.asarray(array, dtype)


def a(*shape: int, dtype: Any = np.float32, low: int = 0) -> np.ndarray:
    """Return numbers that all differ, or booleans in turns, in a shape."""
    numbers = (np.arange(int(np.prod(shape))) * 7 % 31 + low).reshape(shape)
    if dtype is np.bool_:
        return np.asarray(numbers % 2 == 0)
    if np.dtype(dtype).kind == "f":
        return np.asarray(numbers / 4 - 2).astype(dtype)
    return numbers.astype(dtype)


@dataclass
class Row:
    """One line of the table."""

    operator: str
    label: str
    inputs: Sequence[In | C | None]
    attributes: Mapping[str, Any]
    opset: int
    outputs: int


def row(
    operator: str,
    label: str,
    *inputs: In | C | None,
    opset: int = OPSET,
    outputs: int = 1,
    **attributes: Any,
) -> Row:
    """Return one line of the table."""
    return Row(operator, label, inputs, attributes, opset, outputs)


F, D, H = np.float32, np.float64, np.float16
I64, I32, I8, U8, B = np.int64, np.int32, np.int8, np.uint8, np.bool_
NUMBERS: tuple[Any, ...] = (F, I64, I32)
TYPES: tuple[Any, ...] = (F, I64, I32, B, H, D, U8, I8)
NO_BOOL = tuple(kind for kind in TYPES if kind is not B)  # ONNX Runtime has no Where of them


def typed(operator: str, make: Any, kinds: Sequence[Any] = TYPES, **options: Any) -> Iterator[Row]:
    """Return the same for every element type."""
    for kind in kinds:
        yield row(operator, f"type={type_name(kind)}", *make(kind), **options)


def type_name(kind: Any) -> str:
    return {"float32": "float", "float64": "double"}.get(np.dtype(kind).name, np.dtype(kind).name)

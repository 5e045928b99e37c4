"""A table of arrays, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from onnx_scatterx.tell import ShownInTables, TextTable

_SHOWN = 4  # elements
_TEXT_SHOWN = 20  # characters


@dataclass(frozen=True)
class ArrayTable(ShownInTables):
    """Arrays by name: their types, shapes, least and greatest elements, and first elements."""

    arrays: Mapping[str, np.ndarray]
    title: str = ""

    def shown(self) -> TextTable:
        """Return the arrays as a table, for a terminal or a pipe."""
        columns = ("output", "type", "shape", "least", "greatest", "first elements")
        rows = [(name, *describe(array)) for name, array in self.arrays.items()]
        return TextTable(self.title, columns, rows, names=["output"])

    def to_dict(self) -> dict[str, object]:
        """Return the same as plain data; numbers are the texts of the table."""
        keys = ("type", "shape", "least", "greatest", "first")
        outputs = {
            name: {**dict(zip(keys, describe(array), strict=True)), "shape": list(array.shape)}
            for name, array in self.arrays.items()
        }
        return {"title": self.title, "outputs": outputs}


def describe(array: np.ndarray) -> tuple[str, str, str, str, str]:
    """Return the type, shape, least, greatest and first elements, as texts.

    >>> describe(np.float32([[0.5, np.nan], [2, -1]]))
    ('float32', '2 x 2', '-1', '2 and NaN', '0.5, nan, 2, -1')
    >>> describe(np.array(["a", "b"], object)), describe(np.zeros((0, 3), np.int64))
    (('string', '2', '', '', "'a', 'b'"), ('int64', '0 x 3', '', '', ''))
    """
    shape = " x ".join(map(str, array.shape)) or "scalar"
    first = array.ravel()[:_SHOWN]
    more = ", ..." if array.size > _SHOWN else ""
    if array.dtype.kind in "OUT":
        words = (repr(str(word)[:_TEXT_SHOWN]) for word in first)
        return "string", shape, "", "", ", ".join(words) + more
    shown = ", ".join(map(_number, first)) + more
    if array.dtype.kind == "c" or not array.size:
        return str(array.dtype), shape, "", "", shown
    # Some types of ml_dtypes lack isnan and minimum.
    plain = array if array.dtype.kind in "biuf" else array.astype(np.float32)
    nans = np.isnan(plain) if plain.dtype.kind == "f" else np.zeros(plain.shape, bool)
    numbers = plain[~nans]
    ends = (_number(numbers.min()), _number(numbers.max())) if numbers.size else ("", "")
    greatest = " and ".join(filter(None, (ends[1], "NaN" if nans.any() else "")))
    return str(array.dtype), shape, ends[0], greatest, shown


def _number(value: np.generic) -> str:
    if value.dtype.kind in "biu":
        return str(value.item())
    return f"{complex(value):.6g}" if value.dtype.kind == "c" else f"{float(value):.6g}"

"""What a dense form costs: the elements and bytes of its largest tensor, and the limit for them.

A dense form compares all positions with all updates, so its largest tensor has the product of both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.targets import DENSE_LIMIT, Target
from onnx_scatterx.tell.builder import NodeRecord
from onnx_scatterx.tell.entries import ScatterReport, bytes_text

_HELD = (1 << 31) - 1  # the most elements of a tensor of a dense form that a compiler takes


class Price(NamedTuple):
    """The elements of the largest tensor of a dense form, and the element type of the data.

    ``elements`` are a number, or a text if they depend on symbolic sizes.

    >>> str(Price(2_000_040_000, ir.DataType.FLOAT))
    'its largest tensor has 2000040000 elements (8.00 GB in float)'
    >>> str(Price("N*M", ir.DataType.FLOAT16))
    'its largest tensor has N*M elements (2 bytes each in float16)'
    """

    elements: int | str
    dtype: ir.DataType | None

    @classmethod
    def of(cls, record: NodeRecord) -> Price | None:
        """Return the price of the dense form that replaces a node; None if it is not dense."""
        entry = record.entry
        if not isinstance(entry, ScatterReport) or not entry.work:
            return None
        known = record.in_theory
        elements = int(entry.work) if entry.work.isdigit() else entry.work
        return cls(elements, None if known is None else known.access.dtype)

    @property
    def number(self) -> float:
        """The elements, if they are a number, or 0."""
        return self.elements if isinstance(self.elements, int) else 0

    def __str__(self) -> str:
        told = f"its largest tensor has {self.elements} elements"
        if self.dtype is None or self.dtype is ir.DataType.STRING:
            return told
        is_number = isinstance(self.elements, int)
        size = bytes_text(math.ceil(self.dtype.itemsize * (self.number if is_number else 1)))
        return f"{told} ({size}{' each' * (not is_number)} in {self.dtype.name.lower()})"


def largest(prices: Iterable[Price]) -> Price | None:
    """Return the highest of some prices; one that depends on symbolic sizes comes first."""
    return max(prices, key=lambda p: (isinstance(p.elements, str), p.number), default=None)


def limit_of(target: Target) -> float:
    """Return how many elements a tensor of a dense form may have for a target."""
    return min(target.dense_limit or DENSE_LIMIT, _HELD)

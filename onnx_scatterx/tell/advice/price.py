"""What a dense form costs: the elements and bytes of its largest tensor, and the limit for them.

A dense form compares all positions with all updates, so its largest tensor has the product of both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.engine.plan import work_text
from onnx_scatterx.engine.terms import Term
from onnx_scatterx.targets import DENSE_LIMIT, Target
from onnx_scatterx.tell.builder import NodeRecord
from onnx_scatterx.tell.entries import bytes_text

_HELD = (1 << 31) - 1  # the most elements of a tensor of a dense form that a compiler takes


class Price(NamedTuple):
    """The elements of the largest tensor of a dense form, and the element type of the data.

    ``elements`` are several terms if none of them is the largest at all sizes.

    >>> from onnx_scatterx.engine.terms import size, term
    >>> str(Price((term(2_000_040_000),), ir.DataType.FLOAT))
    'its largest tensor has 2000040000 elements (8.00 GB in float)'
    >>> n, m = size("N"), size("M")
    >>> str(largest([Price((n,), ir.DataType.FLOAT16), Price((n * 4,), ir.DataType.FLOAT16)]))
    'its largest tensor has 4*N elements (2 bytes each in float16)'
    >>> str(largest([Price((n * 4,), None), Price((m,), None)]))
    'its largest tensor has 4*N or M elements, whichever is more'
    """

    elements: tuple[Term, ...]
    dtype: ir.DataType | None

    @classmethod
    def of(cls, record: NodeRecord) -> Price | None:
        """Return the price of the dense form that replaces a node; None if it is not dense."""
        if record.work is None:
            return None
        known = record.in_theory
        return cls((record.work,), None if known is None else known.access.dtype)

    @property
    def number(self) -> int:
        """The elements, if they are a number, or 0."""
        return max((each.constant or 0 for each in self.elements), default=0)

    def __str__(self) -> str:
        texts = tuple(dict.fromkeys(map(work_text, self.elements)))
        more = ", whichever is more" if len(texts) > 1 else ""
        told = f"its largest tensor has {' or '.join(texts)} elements{more}"
        if self.dtype is None or self.dtype is ir.DataType.STRING:
            return told
        is_number = len(texts) == 1 and self.elements[0].constant is not None
        size = bytes_text(math.ceil(self.dtype.itemsize * (self.number if is_number else 1)))
        return f"{told} ({size}{' each' * (not is_number)} in {self.dtype.name.lower()})"


def largest(prices: Iterable[Price]) -> Price | None:
    """Return the highest of some prices; if none is the highest, all that may be, in one."""
    given = list(prices)
    if not given:
        return None
    most: list[Term] = []
    for each in (term for price in given for term in price.elements):
        if not any(_is_within(each, other) for other in most):
            most = [other for other in most if not _is_within(other, each)] + [each]
    types = {price.dtype for price in given if {*price.elements} & {*most}}
    return Price(tuple(most), types.pop() if len(types) == 1 else None)


def _is_within(count: Term, other: Term) -> bool:
    """Return whether a number of elements is at most another one, at all sizes."""
    return (other - count).interval()[0] >= 0


def limit_of(target: Target) -> float:
    """Return how many elements a tensor of a dense form may have for a target."""
    return min(target.dense_limit or DENSE_LIMIT, _HELD)

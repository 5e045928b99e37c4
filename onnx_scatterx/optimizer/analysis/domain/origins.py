"""The origin of a symbol: a declared dim, a dim of a tensor, or an element of a tensor.

``visit`` distinguishes the visits of one graph, since a body runs more than once. A graph input has
the same value in all visits, so the input itself stands for the visit.
"""

from __future__ import annotations

from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.optimizer.symbolic.terms import Symbol, Term


class DeclaredDim(NamedTuple):
    """A dim that graph inputs declare by a name."""

    name: str


class DimOf(NamedTuple):
    """An unknown dim of a tensor."""

    visit: object
    value: ir.Value
    axis: int


class LongSize(NamedTuple):
    """A size whose term is too long to be followed: equal terms are equal sizes in one visit."""

    visit: object
    term: Term


class ElementOf(NamedTuple):
    """The elements of a tensor; ``parts`` of the symbol are the indices."""

    visit: object
    value: ir.Value


def read_value(symbol: Symbol | None) -> ir.Value | None:
    """Return the tensor that a symbol is an element of, if it is one."""
    origin = None if symbol is None else symbol.origin
    return origin.value if isinstance(origin, ElementOf) else None

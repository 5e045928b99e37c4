"""Integer terms: canonical polynomials over sizes, scalars and coordinates.

A term is a polynomial with integer coefficients over atoms::

    IndexVar(d)      the coordinate x_d of the present element
    Symbol           a run-time number: a size, or an element of a tensor
    Lookup           an element of a constant array
    PositivePart(t)  max(t, 0)
    Indicator(t)     1 if t >= 0, else 0
    FloorDiv(t, d)   floor(t / d)

Everything piecewise is written with these: ``max(a, b) = b + PositivePart(a - b)``, ``[a == b] =
Indicator(a - b) - Indicator(a - b - 1)``, ``where(c, a, b) = c a + (1 - c) b``, ``a mod d = a - d
FloorDiv(a, d)``. The constructors bring a term to one form, so equal terms are the same object and
``is`` compares them.

>>> n = size("n")
>>> maximum(n - 1, 0) + minimum(n - 1, 0) is n - 1
True
>>> floor_div(2 * n + 3, 2)
n + 1
"""

from onnx_scatterx.optimizer.symbolic.atom import Atom, Interval
from onnx_scatterx.optimizer.symbolic.cases import (
    FloorDiv,
    Indicator,
    PositivePart,
    divided,
    equals,
    floor_div,
    maximum,
    minimum,
    modulo,
    pos,
    step,
    where,
)
from onnx_scatterx.optimizer.symbolic.monomial import Monomial, interval_of
from onnx_scatterx.optimizer.symbolic.polynomial import (
    Number,
    Term,
    as_term,
    polynomial,
    summed,
    term,
)
from onnx_scatterx.optimizer.symbolic.symbols import (
    IndexVar,
    Lookup,
    Symbol,
    coord,
    dim_of,
    element,
    lookup,
    size,
    symbol_of,
)

__all__ = [
    "Atom",
    "FloorDiv",
    "IndexVar",
    "Indicator",
    "Interval",
    "Lookup",
    "Monomial",
    "Number",
    "PositivePart",
    "Symbol",
    "Term",
    "as_term",
    "coord",
    "dim_of",
    "divided",
    "element",
    "equals",
    "floor_div",
    "interval_of",
    "lookup",
    "maximum",
    "minimum",
    "modulo",
    "polynomial",
    "pos",
    "size",
    "step",
    "summed",
    "symbol_of",
    "term",
    "where",
]

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
>>> (2 * n + 3) // 2
n + 1
"""

from onnx_scatterx.engine.terms.algebra import Number as Number
from onnx_scatterx.engine.terms.algebra import Term as Term
from onnx_scatterx.engine.terms.algebra import term as term
from onnx_scatterx.engine.terms.atom import Atom as Atom
from onnx_scatterx.engine.terms.atom import Interval as Interval
from onnx_scatterx.engine.terms.cases import FloorDiv as FloorDiv
from onnx_scatterx.engine.terms.cases import Indicator as Indicator
from onnx_scatterx.engine.terms.cases import PositivePart as PositivePart
from onnx_scatterx.engine.terms.cases import both_cases as both_cases
from onnx_scatterx.engine.terms.cases import equals as equals
from onnx_scatterx.engine.terms.cases import maximum as maximum
from onnx_scatterx.engine.terms.cases import minimum as minimum
from onnx_scatterx.engine.terms.cases import step as step
from onnx_scatterx.engine.terms.cases import where as where
from onnx_scatterx.engine.terms.monomial import Monomial as Monomial
from onnx_scatterx.engine.terms.monomial import interval_of as interval_of
from onnx_scatterx.engine.terms.monomial import lower_bound as lower_bound
from onnx_scatterx.engine.terms.monomial import remainders as remainders
from onnx_scatterx.engine.terms.symbols import IndexVar as IndexVar
from onnx_scatterx.engine.terms.symbols import Lookup as Lookup
from onnx_scatterx.engine.terms.symbols import Symbol as Symbol
from onnx_scatterx.engine.terms.symbols import as_numbers as as_numbers
from onnx_scatterx.engine.terms.symbols import coord as coord
from onnx_scatterx.engine.terms.symbols import element as element
from onnx_scatterx.engine.terms.symbols import lookup as lookup
from onnx_scatterx.engine.terms.symbols import size as size

"""Integer expressions over sizes and coordinates, and the prover of inequalities.

A term (``Term``) is a polynomial over atoms::

    Symbol           a run-time number: a size, or an element of a tensor
    Lookup           an element of a constant array
    PositivePart(t)  max(t, 0)
    Indicator(t)     1 if t >= 0, else 0
    FloorDiv(t, d)   floor(t / d)
    x_d              the coordinate of the present element along dim d (``coord``)

Everything piecewise is written with these: ``max(a, b) = b + PositivePart(a - b)``, ``[a == b] =
Indicator(a - b) - Indicator(a - b - 1)``, ``where(c, a, b) = c a + (1 - c) b``, ``a % d = a - d
FloorDiv(a, d)``. Terms have one form, so equal terms are the same object and ``is`` compares them.

Come here for what holds of such numbers at every size (``Facts``), and for their values over a grid
(``tabulated``). Nothing here knows ONNX: not for what a tensor holds (that is in
``engine.analysis``), nor for nodes that compute a term (those are in ``engine.write``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.engine.terms.algebra import Number as Number
    from onnx_scatterx.engine.terms.algebra import Term as Term
    from onnx_scatterx.engine.terms.algebra import term as term
    from onnx_scatterx.engine.terms.atom import Atom as Atom
    from onnx_scatterx.engine.terms.cases import FloorDiv as FloorDiv
    from onnx_scatterx.engine.terms.cases import Indicator as Indicator
    from onnx_scatterx.engine.terms.cases import PositivePart as PositivePart
    from onnx_scatterx.engine.terms.cases import equals as equals
    from onnx_scatterx.engine.terms.cases import maximum as maximum
    from onnx_scatterx.engine.terms.cases import minimum as minimum
    from onnx_scatterx.engine.terms.cases import step as step
    from onnx_scatterx.engine.terms.cases import where as where
    from onnx_scatterx.engine.terms.constraints import Elements as Elements
    from onnx_scatterx.engine.terms.facts import Facts as Facts
    from onnx_scatterx.engine.terms.symbol_ids import fresh_symbols as fresh_symbols
    from onnx_scatterx.engine.terms.symbol_ids import keeps as keeps
    from onnx_scatterx.engine.terms.symbol_ids import results as results
    from onnx_scatterx.engine.terms.symbols import Lookup as Lookup
    from onnx_scatterx.engine.terms.symbols import Symbol as Symbol
    from onnx_scatterx.engine.terms.symbols import as_numbers as as_numbers
    from onnx_scatterx.engine.terms.symbols import coord as coord
    from onnx_scatterx.engine.terms.symbols import element as element
    from onnx_scatterx.engine.terms.symbols import size as size
    from onnx_scatterx.engine.terms.tabulate import fitted as fitted
    from onnx_scatterx.engine.terms.tabulate import tabulated as tabulated
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "algebra": "Number Term term",
            "atom": "Atom",
            "cases": "FloorDiv Indicator PositivePart equals maximum minimum step where",
            "constraints": "Elements",
            "facts": "Facts",
            "symbol_ids": "fresh_symbols keeps results",
            "symbols": "Lookup Symbol as_numbers coord element size",
            "tabulate": "fitted tabulated",
        },
    )

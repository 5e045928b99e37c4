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

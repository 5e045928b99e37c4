"""What can be assumed of a model, by the names of its inputs and of their sizes."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from onnx_scatterx.assumptions.clauses import Clause, check_clauses
from onnx_scatterx.assumptions.expressions import names_in


def check_assumptions(assumed: Sequence[Clause], model: ir.Model) -> None:
    """Raise ScatterXError if a clause is about nothing that the model has."""
    inputs = model.graph.inputs
    integers = {v.name or "": v.dtype is not None and v.dtype.is_integer() for v in inputs}
    check_clauses(assumed, symbols=_symbols_of(model), inputs=integers)


def _symbols_of(model: ir.Model) -> set[str]:
    """Return the symbols that can be assumed of: declared dims, their names, and ``x[0]``.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 4, ?] x) => (float[N, 4, M] y) { y = Identity(x) }''')
    >>> sorted(_symbols_of(model))
    ['N', 'x[2]']
    """
    symbols: set[str] = set()
    for value in model.graph.inputs:
        for axis, d in enumerate(value.shape or ()):
            name = None if isinstance(d, int) else d.value
            if name:
                symbols |= {name, *names_in(name)}
            elif not isinstance(d, int) or d < 0:
                symbols.add(f"{value.name}[{axis}]")
    return symbols

"""The sizes at which a model can be compared with one whose inputs declare more numbers.

A model with fixed sizes takes inputs of these sizes alone: at others, nothing can be compared.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.assumptions.fixed_sizes import FixedSizes, dims_of
from onnx_scatterx.ir.clone import cloned
from onnx_scatterx.transforms.write_sizes import write_sizes


def narrowing(first: ir.Model, second: ir.Model) -> FixedSizes:
    """Return the sizes that are numbers in the inputs of the second model, and not in the first.

    >>> text = '''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, ?] x) => (float[N, M] y) { y = Neg (x) }'''
    >>> fixed = ir.from_onnx_text(text.replace("N, ?", "3, 4"))
    >>> print(narrowing(ir.from_onnx_text(text), fixed))
    N = 3, x[1] = 4
    """
    others = {v.name: dims_of(v) for v in second.graph.inputs}
    symbols: dict[str, int] = {}
    shapes: dict[str, tuple[int | None, ...]] = {}
    for value in first.graph.inputs:
        theirs = others.get(value.name)
        mine = dims_of(value)
        if theirs is None or not isinstance(value.type, ir.TensorType):
            continue
        if mine is None and all(isinstance(d, int) for d in theirs):
            mine = (None,) * len(theirs)
        if mine is None or len(mine) != len(theirs):
            continue
        found = [n if isinstance(n, int) else None for n in theirs]
        for axis, (dim, number) in enumerate(zip(mine, found, strict=True)):
            if number is not None and not isinstance(dim, int):
                symbols.setdefault(dim or f"{value.name}[{axis}]", number)
        if any(n is not None and not isinstance(d, int) for n, d in zip(found, mine, strict=True)):
            shapes[value.name or ""] = tuple(
                d if isinstance(d, int) else n for n, d in zip(found, mine, strict=True)
            )
    return FixedSizes(symbols, shapes)


def narrowed(first: ir.Model, fixed: FixedSizes) -> ir.Model:
    """Return a model with fixed sizes, for analysis; the model itself without fixed sizes."""
    if not fixed.shapes:
        return first
    copy = cloned(first)
    write_sizes(copy, fixed)
    return copy

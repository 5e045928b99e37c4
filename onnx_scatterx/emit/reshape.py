"""Reshapes between shapes that are terms, right where sizes are 0 too.

A 0 in the shape copies the dim at its place; where a dim may be 0 at another place, the shape is
written out under ``allowzero``, which needs operator set 14.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.emit.numbers import Numbers
from onnx_scatterx.indexing.abstract import Shape
from onnx_scatterx.indexing.prove import Facts
from onnx_scatterx.indexing.terms import Term, term
from onnx_scatterx.reasons import Reason, RefusedError


def reshape_cost(numbers: Numbers, old: Shape, new: Shape, facts: Facts) -> int:
    """Return how many nodes ``reshape`` takes, or refuse."""
    if old == new:
        return 0
    shape, _ = _target(numbers, old, new, facts)
    return 1 + numbers.shape_cost(shape)


def reshape(
    numbers: Numbers, x: ir.Value, dtype: ir.DataType, old: Shape, new: Shape, facts: Facts
) -> ir.Value:
    """Return a tensor of shape ``old`` in the shape ``new``, which has as many elements."""
    if old == new:
        return x
    w = numbers.writer
    shape, as_written = _target(numbers, old, new, facts)
    given = {"allowzero": 1} if as_written else {}
    return w.node("Reshape", [x, numbers.shape(shape)], dtype, **given)


def _target(numbers: Numbers, old: Shape, new: Shape, facts: Facts) -> tuple[list[Term], bool]:
    """Return the shape to write, and whether its zeros are zeros."""
    copied = [d < len(old) and old[d] is n and n.constant in (None, 0) for d, n in enumerate(new)]
    if all(c or facts.proves(n - 1) for c, n in zip(copied, new, strict=True)):
        return [term(0) if c else n for c, n in zip(copied, new, strict=True)], False
    if numbers.writer.version < 14:
        raise RefusedError(Reason.OPSET, "Reshape with allowzero needs operator set 14")
    return list(new), True

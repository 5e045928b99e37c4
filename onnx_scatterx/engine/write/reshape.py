"""Reshapes between symbolic shapes, correct for sizes of 0 too.

A 0 in the shape copies the dim at its place. If a dim may be 0 at another place, the shape is
written out under ``allowzero``, which older sets lack. A -1 does not work for empty tensors.

ONNX Runtime's ReshapeFusion itself writes a -1 if only one dim is computed, even beside a copied
dim that is 0, and then rejects empty tensors. It does not change a Reshape with ``allowzero``, or a
shape that is not a Concat: without ``allowzero``, the shape is therefore written as its Abs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Shape
from onnx_scatterx.engine.terms import Facts, Term, term
from onnx_scatterx.engine.write.terms import TermEmitter
from onnx_scatterx.text import Refusal


def reshape(
    numbers: TermEmitter,
    x: ir.Value,
    dtype: ir.DataType,
    old: Shape | None,
    new: Shape,
    facts: Facts,
) -> ir.Value:
    """Return a tensor in the shape ``new``, where ``old`` is its own shape, if that is known."""
    if old == new:
        return x
    w = numbers.writer
    target = _target(numbers, old or (), new, facts)
    shape = numbers.shape(target.dims)
    if target.hidden:
        shape = w.node("Abs", [shape], ir.DataType.INT64)
    attributes = {"allowzero": 1} if target.allowzero else {}
    return w.node("Reshape", [x, shape], dtype, **attributes)


@dataclass(frozen=True)
class _NewShape:
    """The shape to write.

    If ``allowzero``, its zeros are zeros. If ``hidden``, ONNX Runtime must not see a Concat.
    """

    dims: list[Term]
    allowzero: bool = False
    hidden: bool = False


def _target(numbers: TermEmitter, old: Shape, new: Shape, facts: Facts) -> _NewShape:
    copied = [d < len(old) and old[d] is n and n.constant in (None, 0) for d, n in enumerate(new)]
    if not all(c or _may_copy(d, old, new, facts) for d, c in enumerate(copied)):
        return _NewShape(list(new), allowzero=True)
    pairs = list(zip(copied, new, strict=True))
    copying = _NewShape([term(0) if c else n for c, n in pairs])
    if any(c and not facts.is_nonnegative(n - 1) for c, n in pairs):
        one = sum(not c and n.constant is None for c, n in pairs) == 1
        told = numbers.writer.has("Reshape", "allowzero")
        return _NewShape(list(new), allowzero=told, hidden=not told) if one else copying

    def cost(target: _NewShape) -> float:
        nodes = numbers.writer.fragment_of(lambda: numbers.shape(target.dims))
        return math.inf if isinstance(nodes, Refusal) else nodes.cost

    return min(copying, _NewShape(list(new)), key=cost)


def _may_copy(d: int, old: Shape, new: Shape, facts: Facts) -> bool:
    """Return whether a dim is 0 only if the one at its place is, so that a 0 may copy that."""
    if facts.is_nonnegative(new[d] - 1):
        return True
    if d + 1 >= len(old) or not facts.is_nonnegative(old[d + 1] - 1):
        return False
    return new[d] is old[d] * old[d + 1]  # two dims are joined

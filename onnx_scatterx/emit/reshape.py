"""Reshapes between shapes that are terms, right where sizes are 0 too.

A 0 in the shape copies the dim at its place; where a dim may be 0 at another place, the shape is
written out under ``allowzero``, which needs operator set 14. A -1 does not work for empty tensors.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from onnx_scatterx.emit.numbers import Numbers
from onnx_scatterx.indexing.abstract import Shape
from onnx_scatterx.indexing.prove import Facts
from onnx_scatterx.indexing.terms import Term, term
from onnx_scatterx.reasons import Reason, RefusedError


def reshape_cost(numbers: Numbers, old: Shape | None, new: Shape, facts: Facts) -> int:
    """Return how many nodes ``reshape`` takes, or refuse."""
    if old == new:
        return 0
    shape, _ = _target(numbers, old or (), new, facts)
    return 1 + numbers.shape_cost(shape)


def reshape(
    numbers: Numbers, x: ir.Value, dtype: ir.DataType, old: Shape | None, new: Shape, facts: Facts
) -> ir.Value:
    """Return a tensor in the shape ``new``, where ``old`` is its own shape, if that is known."""
    if old == new:
        return x
    w = numbers.writer
    shape, as_written = _target(numbers, old or (), new, facts)
    given = {"allowzero": 1} if as_written else {}
    return w.node("Reshape", [x, numbers.shape(shape)], dtype, **given)


def _target(numbers: Numbers, old: Shape, new: Shape, facts: Facts) -> tuple[list[Term], bool]:
    """Return the shape to write, and whether its zeros are zeros."""
    copied = [d < len(old) and old[d] is n and n.constant in (None, 0) for d, n in enumerate(new)]
    if not all(c or _is_copied(d, old, new, facts) for d, c in enumerate(copied)):
        if numbers.writer.version < 14:
            raise RefusedError(Reason.OPSET, "Reshape with allowzero needs operator set 14")
        return list(new), True
    copying = [term(0) if c else n for c, n in zip(copied, new, strict=True)]
    if _is_fused(copied, new, facts):
        return list(new), False
    return min(copying, list(new), key=numbers.shape_cost), False


def _is_copied(d: int, old: Shape, new: Shape, facts: Facts) -> bool:
    """Return whether a dim is 0 only where the one at its place is, so that a 0 may copy that."""
    if facts.proves(new[d] - 1):
        return True
    if d + 1 >= len(old) or not facts.proves(old[d + 1] - 1):
        return False
    return new[d] is old[d] * old[d + 1]  # two dims are joined


def _is_fused(copied: Sequence[bool], new: Shape, facts: Facts) -> bool:
    """Return whether ONNX Runtime makes a shape of it that no empty tensor has.

    Where one dim alone is computed, its ReshapeFusion writes -1 for it, which it cannot find out
    beside a dim that is copied and 0.
    """
    computed = [n for c, n in zip(copied, new, strict=True) if not c and n.constant is None]
    empty = any(c and not facts.proves(n - 1) for c, n in zip(copied, new, strict=True))
    return len(computed) == 1 and empty

"""A Pad with a constant is a Concat with constants.

    Pad(x, [0, 1, 0, 2], 0)   =   Concat([[0]..., x, [[0, 0]...], axis=1)

Holds if the sizes of ``x`` and the amounts are known numbers that are not negative.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.emit.forms.request import Request

_SMALL = 1 << 10  # elements of a constant that is written out, if the target has Expand
_MOST = 1 << 20  # elements of a constant that is written out


def concat(request: Request) -> ir.Value | None:
    """Write constants before and behind, axis by axis."""
    shape, amounts, w = request.shape(0), request.numbers(1), request.writer
    dtype, mode = request.dtype, request.attributes.get("mode", "constant")
    if shape is None or amounts is None or dtype is None or mode != "constant":
        return None
    axes = _axes(request, len(shape))
    if axes is None or len(amounts) != 2 * len(axes) or min(amounts, default=0) < 0:
        return None
    fill = _fill(request)
    if fill is None or not request.takes("Concat"):
        return None
    sizes, x = list(shape), request.input(0)
    pairs = zip(amounts[: len(axes)], amounts[len(axes) :], strict=True)
    blocks: list[tuple[int, list[tuple[int, ...]]]] = []
    for d, pair in sorted(zip(axes, pairs, strict=True)):
        parts = [(*sizes[:d], n, *sizes[d + 1 :]) for n in pair]
        blocks.append((d, parts))
        sizes[d] += sum(pair)
    may_expand = request.takes("Expand") or request.takes("Tile")
    largest = max((math.prod(part) for _, parts in blocks for part in parts), default=0)
    if largest > (_SMALL if may_expand else _MOST) and not may_expand:
        return None

    def block(part: tuple[int, ...]) -> ir.Value:
        if math.prod(part) <= _SMALL or not may_expand:
            return w.constant(np.full(part, fill), dtype)
        one = w.constant(np.full([1] * len(part), fill), dtype)
        return w.node("Expand", [one, w.constant(list(part))], dtype)

    for d, (before, after) in blocks:
        around = [block(before)] if before[d] else []
        behind = [block(after)] if after[d] else []
        if around or behind:
            x = w.node("Concat", [*around, x, *behind], dtype, axis=d)
    return x


def _axes(request: Request, rank: int) -> list[int] | None:
    """Return the axes that the amounts are for, or None if they are not known, or not distinct."""
    if len(request.inputs) < 4 or request.inputs[3] is None:
        return list(range(rank))
    given = request.numbers(3)
    axes = [] if given is None else [a % rank for a in given]
    return None if given is None or len(set(axes)) < len(axes) else axes


def _fill(request: Request) -> np.ndarray | None:
    """Return the padding value, or None if it is not known."""
    assert request.dtype is not None
    if len(request.inputs) < 3 or request.inputs[2] is None:
        return np.zeros((), request.dtype.numpy())
    tensor = request.constant(request.inputs[2])
    return None if tensor is None or tensor.size != 1 else tensor.numpy().reshape(())

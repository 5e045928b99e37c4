"""Rows at indices by operators that a target takes, and a Pad as a Concat with constants.

    Gather(x, [-1])                 =   Gather(x, [n - 1])
    Gather(x, i)                    =   Gather(x, Max(Where(i < 0, i + n, i), 0))
    Gather(x, [2, 3, 0])            =   Concat(x[2:4], x[0:1])
    GatherND(x, [[2], [3], [0]])    =   Gather(x, [2, 3, 0])

They hold if the sizes are known numbers; the first two also for the other gathers and scatters.

    Pad(x, [0, 1, 0, 2], 0)   =   Concat([[0]..., x, [[0, 0]...], axis=1)

Holds if the sizes of ``x`` and the amounts are known numbers that are not negative.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.emit.forms.request import Request

_INT64 = ir.DataType.INT64
_PARTS = 16  # slices that one Gather may become


def from_start(request: Request) -> ir.Value | None:
    """Count positions from the start, if the target takes no others."""
    shape, known, w = request.shape(0), request.known[1], request.writer
    if not shape or w.target.limits_of(request.op).negative or not w.target.has(request.op):
        return None
    if known is None or known.dtype not in (_INT64, ir.DataType.INT32) or not known.shape:
        return None
    if request.op in ("GatherND", "ScatterND"):
        first, columns = int(request.attributes.get("batch_dims", 0)), known.shape[-1].constant
        if columns is None:
            return None
        sizes = np.array(shape[first : first + columns])
    else:
        sizes = np.array(shape[int(request.attributes.get("axis", 0)) % len(shape)])
    sizes, at, dtype = sizes.astype(known.dtype.numpy()), request.input(1), known.dtype
    if known.constant is not None:
        at = w.constant(np.where(known.constant < 0, known.constant + sizes, known.constant), dtype)
    else:
        zero = w.constant(np.zeros((), sizes.dtype), dtype)
        end = w.node("Add", [at, w.constant(sizes, dtype)], dtype)
        at = w.node("Where", [w.node("Less", [at, zero], ir.DataType.BOOL), end, at], dtype)
        at = w.node("Max", [at, zero], dtype)  # it is not negative: the node checks its indices
    inputs = [request.inputs[0], at, *request.inputs[2:]]
    return w.node(request.op, inputs, request.dtype, **request.attributes)


def gathered_slices(request: Request) -> ir.Value | None:
    """Take a few constant rows, one Slice for each run of them."""
    shape, indices = request.shape(0), request.known[1]
    if not shape or indices is None or indices.constant is None:
        return None
    axis = int(request.attributes.get("axis", 0)) % len(shape)
    return _slices(request, np.asarray(indices.constant).astype(np.int64), axis, shape[axis])


def gathered_rows(request: Request) -> ir.Value | None:
    """Take the rows at constant indices of one column by a Gather, or by Slices."""
    shape, indices, dtype = request.shape(0), request.known[1], request.dtype
    if not shape or indices is None or indices.constant is None or dtype is None:
        return None
    found = np.asarray(indices.constant).astype(np.int64)
    if found.ndim == 0 or found.shape[-1] != 1 or request.attributes.get("batch_dims", 0):
        return None
    rows = np.where(found < 0, found + shape[0], found)[..., 0]
    if not request.takes("Gather"):
        return _slices(request, rows, 0, shape[0])
    w = request.writer
    return w.node("Gather", [request.inputs[0], w.constant(rows, _INT64)], dtype, axis=0)


def _slices(request: Request, found: np.ndarray, axis: int, size: int) -> ir.Value | None:
    """Write one Slice for each run of rows, if they are few; a scalar index removes its axis."""
    runs = _runs([int(i) + (size if i < 0 else 0) for i in found.ravel()])
    result, dtype = request.result.static_shape, request.dtype
    if not runs or len(runs) > _PARTS or found.ndim > 1 or dtype is None:
        return None
    needed = ["Slice", *["Concat"] * (len(runs) > 1), *["Reshape"] * (found.ndim == 0)]
    if result is None or 0 in result or not all(request.takes(op) for op in needed):
        return None
    w, x = request.writer, request.input(0)
    parts = [
        w.node("Slice", [x, *(w.constant([n]) for n in (start, end, axis))], dtype)
        for start, end in runs
    ]
    whole = parts[0] if len(parts) == 1 else w.node("Concat", parts, dtype, axis=axis)
    return whole if found.ndim else w.node("Reshape", [whole, w.constant(list(result))], dtype)


def _runs(rows: list[int]) -> list[tuple[int, int]]:
    """Return the starts and ends of runs of consecutive rows."""
    runs: list[tuple[int, int]] = []
    for row in rows:
        if runs and runs[-1][1] == row:
            runs[-1] = (runs[-1][0], row + 1)
        else:
            runs.append((row, row + 1))
    return runs


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

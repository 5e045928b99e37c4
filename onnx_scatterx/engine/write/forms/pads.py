"""A Pad by a Slice and a Pad, or as a Concat with constants; a zero in front of a Conv.

    Pad(x, [1, 0, -1, 0], c)   =   Pad(x[:-1], [1, 0, 0, 0], c)              it removes rows
    Pad(x, [0, 1, 0, 2], c)    =   Concat([[c]..., x, [[c, c]...], axis=1)
    Conv(x, w, pads=[4, 4])    =   Conv(Pad(x, [0, 0, 1, 0, 0, 0]), w, pads=[3, 4])

They hold if the amounts are known numbers. No axis may have fewer elements than are removed from
it. For a Concat, the sizes of ``x`` are known, but for that of an axis that is padded alone. The
Conv goes along one axis: there ONNX Runtime multiplies its zeros, too. A compiler that computes it
wrongly with as many zeros on both sides may be right then. MEASURED: QNN makes one Conv of it again
if all zeros are added.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import require, required
from onnx_scatterx.engine.terms import Term
from onnx_scatterx.engine.write.forms.request import MOST, Request, is_taken
from onnx_scatterx.graphs import INT64_MAX

_SMALL = 1 << 10  # elements of a constant that is written out, if the target has Expand

_Pairs = dict[int, tuple[int, int]]  # what is added before an axis and behind it


def cropped(request: Request) -> ir.Value:
    """Remove elements by a Slice, and add the others by a Pad."""
    pairs, w = _pairs(request), request.writer
    require(any(n < 0 for pair in pairs.values() for n in pair), request.takes("Slice"))
    added = [max(n, 0) for side in zip(*pairs.values(), strict=True) for n in side]

    def write() -> ir.Value:
        x, _ = _crop(request, pairs)
        if not any(added):
            return x
        inputs = [x, w.constant(added), *request.inputs[2:]]
        return w.node("Pad", inputs, request.dtype, **request.attributes)

    require(is_taken(request, write))
    return write()


def concat(request: Request) -> ir.Value:
    """Write constants before and behind, axis by axis."""
    pairs, w, dtype = _pairs(request), request.writer, request.kind
    require(request.takes("Concat"))
    require(request.takes("Slice") or all(n >= 0 for pair in pairs.values() for n in pair))
    fill = _fill(request)
    x, dims = _crop(request, pairs)
    sizes = [dim.constant for dim in dims]
    blocks: list[tuple[int, list[tuple[int, ...]]]] = []
    for d, numbers in sorted(pairs.items()):
        pair = [max(n, 0) for n in numbers]
        if any(pair):
            before, after = (map(required, part) for part in (sizes[:d], sizes[d + 1 :]))
            around = (*before,), (*after,)
            blocks.append((d, [(*around[0], n, *around[1]) for n in pair]))
            own = sizes[d]
            sizes[d] = None if own is None else own + sum(pair)
    may_expand = request.takes("Expand") or request.takes("Tile")
    largest = max((math.prod(part) for _, parts in blocks for part in parts), default=0)
    require(may_expand or largest <= MOST)

    def block(part: tuple[int, ...]) -> ir.Value:
        if math.prod(part) <= _SMALL or not may_expand:
            return w.constant(np.full(part, fill), dtype)
        one = w.constant(np.full([1] * len(part), fill), dtype)
        return w.node("Expand", [one, w.constant(list(part))], dtype)

    for d, (first, last) in blocks:
        ahead = [block(first)] if first[d] else []
        behind = [block(last)] if last[d] else []
        x = request.join([*ahead, x, *behind], d)
    return x


def apart_from_conv(request: Request) -> ir.Value:
    """Add the first zero along the only axis of a Conv in front of it."""
    given = dict(request.attributes)
    before, *behind = given.get("pads") or [0]
    require(len(required(request.known_of(0).shape)) == 3, len(behind) == 1, before > 0)
    require(given.get("auto_pad", "NOTSET") == "NOTSET")
    w = request.writer
    added = w.constant([0, 0, 1, 0, 0, 0])
    x = w.node("Pad", [request.input(0), added], request.dtype)
    given["pads"] = [before - 1, *behind]
    return w.node("Conv", [x, *request.inputs[1:]], request.dtype, **given)


def _pairs(request: Request) -> _Pairs:
    """Return what a Pad with a number adds before and behind the axes that it names, in order."""
    require(request.attributes.get("mode", "constant") == "constant")
    amounts, rank = request.numbers(1), len(required(request.known_of(0).shape))
    axes = [a % rank for a in request.numbers(3)] if request.has(3) else list(range(rank))
    require(len(set(axes)) == len(axes), len(amounts) == 2 * len(axes))
    count = len(axes)
    return dict(zip(axes, zip(amounts[:count], amounts[count:], strict=True), strict=True))


def _crop(request: Request, pairs: _Pairs) -> tuple[ir.Value, list[Term]]:
    """Write what is left of the data if elements are removed, and return its sizes."""
    x, w = request.input(0), request.writer
    dims = list(required(request.known_of(0).shape))
    starts, ends, axes = [], [], []
    for d, pair in sorted(pairs.items()):
        first, last = (max(-n, 0) for n in pair)
        if first or last:
            size = dims[d].constant
            dims[d] -= first + last
            require(w.facts.is_nonnegative(dims[d]))
            axes.append(d)
            starts.append(first)
            ends.append(size - last if size is not None else -last if last else INT64_MAX)
    if axes:
        x = w.node("Slice", [x, *(w.constant(n) for n in (starts, ends, axes))], request.dtype)
    return x, dims


def _fill(request: Request) -> np.ndarray:
    """Return the padding value."""
    if not request.has(2):
        return np.zeros((), request.kind.numpy())
    tensor = required(request.constant(request.inputs[2]))
    require(tensor.size == 1)
    return tensor.numpy().reshape(())

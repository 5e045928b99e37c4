"""The parts of a tensor along one axis: from which tensor each element comes.

A `Run` is a slice of another tensor. A `Comb` has several columns, and takes one element of each in
turn. If a slice is written, parts are replaced. If a slice is read, its parts are taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from onnx_scatterx.torch.ops import Number, Ops, Tensor

MOST_PARTS = 6
"""If a tensor has more parts, and their positions are known, one gather is written instead."""

MOST_PADDED = 4
"""The most axes of a tensor of fixed size that is padded as it is."""

MOST_POSITIONS = 2**16
"""The longest vector of constant positions that is written."""


@dataclass(frozen=True)
class Run:
    """The elements ``lo <= i < hi``; element i is ``source[i - shift]``."""

    lo: Number
    hi: Number
    source: Tensor
    shift: Number = 0


@dataclass(frozen=True)
class Comb:
    """The elements ``lo <= i < hi``; ``lo + g * len(columns) + r`` is element g of column r.

    A column is ``source, first, stride``, and its element g is ``source[first + g * stride]``.
    """

    lo: Number
    hi: Number
    columns: tuple[tuple[Tensor, Number, int], ...]
    groups: Number


Piece = Run | Comb


def split(ops: Ops, pieces: list[Piece], at: Number) -> tuple[list[Piece], list[Piece]] | None:
    """Return the parts before a position, and from it on; None if its part is not known."""
    for i, piece in enumerate(pieces):
        if ops.holds(piece.lo, at) and ops.holds(at, piece.hi):
            if ops.holds(at, piece.lo):
                return pieces[:i], pieces[i:]
            if ops.holds(piece.hi, at):
                return pieces[: i + 1], pieces[i + 1 :]
            if isinstance(piece, Comb):
                return None
            return [*pieces[:i], replace(piece, hi=at)], [replace(piece, lo=at), *pieces[i + 1 :]]
    return None


def cut(
    ops: Ops, pieces: list[Piece], lo: Number, hi: Number
) -> tuple[list[Piece], list[Piece], list[Piece]] | None:
    """Return the parts before a slice, in the slice, and after it; None if not known."""
    ends = split(ops, pieces, hi)
    starts = ends and split(ops, ends[0], lo)
    return (*starts, ends[1]) if starts and ends else None


def strided(
    ops: Ops, pieces: list[Piece], lo: Number, hi: Number, step: Number
) -> tuple[Tensor, Number, Number, int] | None:
    """Return the slice that ``lo, lo + step, ...`` before ``hi`` are; None if it is not known.

    They are elements of one column of a comb, from ``(lo - comb.lo) // step`` on.
    """
    for comb in pieces:
        if not isinstance(comb, Comb) or len(comb.columns) != step:
            continue
        if not isinstance(lo, int) or not isinstance(comb.lo, int) or lo < comb.lo:
            continue
        group, column = divmod(lo - comb.lo, step)
        source, first, stride = comb.columns[column]
        if ops.holds(hi, comb.hi) and ops.holds(comb.hi, hi):
            count = ops.sub(comb.groups, group)
        elif isinstance(hi, int) and ops.holds(hi, comb.hi):
            count = max(0, -(-(hi - lo) // step))
        else:
            continue
        start = ops.add(first, group * stride)
        if not ops.holds(1, count):
            return None
        last = ops.add(start, ops.mul(ops.sub(count, 1), stride))
        return source, start, ops.add(last, 1), stride
    return None


def written(
    ops: Ops, pieces: list[Piece], src: Tensor, lo: Number, k: Number, step: int, first: Number = 0
) -> list[Piece] | None:
    """Return the parts after ``src[first : first + k]`` is written to ``lo, lo + step, ...``."""
    hi = ops.add(lo, k)
    if step == 1 or ops.holds(k, 1):
        parts = cut(ops, pieces, lo, hi)
        return parts and [*parts[0], Run(lo, hi, src, ops.sub(lo, first)), *parts[2]]
    if not isinstance(lo, int):
        return None
    for r in range(min(lo, step - 1) + 1):  # the comb begins r elements before lo
        hi = ops.add(lo - r, ops.mul(k, step))
        parts = cut(ops, pieces, lo - r, hi) if ops.holds(hi, pieces[-1].hi) else None
        columns = parts and _columns(ops, parts[1], lo - r, step)
        if parts and columns:
            columns[r] = (src, first, 1)
            return [*parts[0], Comb(lo - r, hi, tuple(columns), k), *parts[2]]
    if not isinstance(k, int):
        return None
    last = written(ops, pieces, src, lo + (k - 1) * step, 1, 1, ops.add(first, k - 1))
    return last and written(ops, last, src, lo, k - 1, step, first)


def _columns(
    ops: Ops, parts: list[Piece], lo: int, step: int
) -> list[tuple[Tensor, Number, int]] | None:
    if len(parts) != 1:
        return None
    if isinstance(parts[0], Comb):
        return list(parts[0].columns) if len(parts[0].columns) == step else None
    start = ops.sub(lo, parts[0].shift)
    return [(parts[0].source, ops.add(start, r), step) for r in range(step)]


def emit(ops: Ops, dim: int, pieces: list[Piece]) -> Tensor:
    """Write the tensor that has these parts along an axis."""
    kept = [piece for piece in pieces if not ops.holds(piece.hi, piece.lo)] or pieces[:1]
    cost = sum(2 * len(p.columns) + 2 if isinstance(p, Comb) else 1 for p in kept)
    out = _gathered(ops, dim, kept) if cost > MOST_PARTS else None
    if out is None:
        parts = _padded(ops, dim, kept)
        out = parts[0] if len(parts) == 1 else ops.cat(parts, dim)
    ops.rows.setdefault(out, (dim, pieces))
    return out


def _gathered(ops: Ops, dim: int, pieces: list[Piece]) -> Tensor | None:
    """Write the parts as one gather, at constant positions, from a cat of all their sources."""
    ends = [end for piece in pieces for end in (piece.lo, piece.hi)]
    if not all(isinstance(end, int) and end <= MOST_POSITIONS for end in ends):
        return None
    starts: dict[Tensor, int] = {}
    at: list[int] = []
    for p in pieces:
        columns = p.columns if isinstance(p, Comb) else ((p.source, ops.sub(p.lo, p.shift), 1),)
        for source, first, _ in columns:
            n, before = ops.size(source, dim), sum(ops.size(s, dim) for s in starts)
            if not isinstance(n, int) or not isinstance(first, int):
                return None
            starts.setdefault(source, before)
        for i in range((p.hi - p.lo) // len(columns)):
            at += [starts[source] + first + i * stride for source, first, stride in columns]
    index = ops.constant(at)
    if index is None:
        return None
    sources = list(starts)
    return ops.take(ops.cat(sources, dim) if len(sources) > 1 else sources[0], dim, index)


def _padded(ops: Ops, dim: int, pieces: list[Piece]) -> list[Tensor]:
    """Write the parts. A part filled with one number becomes padding of its neighbour.

    If all sizes are fixed, a part filled with one number is a constant, and needs no padding.
    """
    entries: list[list[Any]] = []  # a part, its padding's number, and the widths before and after
    for p in pieces:
        fill, width = ops.filled(p.source) if isinstance(p, Run) else None, ops.sub(p.hi, p.lo)
        last: list[Any] = entries[-1] if entries else [None, None, 0, 0]
        if fill is not None and isinstance(width, int):
            alike = repr(last[1]) == repr(fill)  # equal bits: NaN is like NaN, -0.0 not like 0.0
            if last[0] is not None and (last[1] is None or alike):
                last[1], last[3] = fill, last[3] + width
            elif alike:
                last[2] += width
            else:
                entries.append([None, fill, width, 0])
        elif entries and last[0] is None:
            last[0] = p
        else:
            entries.append([p, None, 0, 0])
    fixed = all(isinstance(size, int) for p in pieces[:1] for size in ops.sizes(_source(p)))
    if any(entry[0] is None for entry in entries) or (fixed and len(entries) > 1):
        return [_piece(ops, dim, p) for p in pieces]
    made = ((_piece(ops, dim, p), *rest) for p, *rest in entries)
    return [x if f is None else _pad(ops, x, dim, before, after, f) for x, f, before, after in made]


def _pad(ops: Ops, x: Tensor, dim: int, before: int, after: int, fill: float) -> Tensor:
    """Write padding; if x has many axes, all but one are joined, since some converters pad few."""
    sizes = ops.sizes(x)
    if len(sizes) <= MOST_PADDED or not all(isinstance(size, int) for size in sizes):
        return ops.pad(x, dim, before, after, fill)
    outer, inner = math.prod(sizes[:dim]), math.prod(sizes[dim + 1 :])
    rows = ops.pad(ops.view(x, [outer, sizes[dim], inner]), 1, before, after, fill)
    return ops.view(rows, [*sizes[:dim], before + sizes[dim] + after, *sizes[dim + 1 :]])


def _source(piece: Piece) -> Tensor:
    return piece.source if isinstance(piece, Run) else piece.columns[0][0]


def _piece(ops: Ops, dim: int, piece: Piece) -> Tensor:
    return _run(ops, dim, piece) if isinstance(piece, Run) else _comb(ops, dim, piece)


def part(ops: Ops, x: Tensor, dim: int, lo: Number, hi: Number, step: int = 1) -> Tensor:
    """Write a slice, or the tensor itself if the slice is all of it."""
    whole = step == 1 and ops.holds(lo, 0) and ops.holds(ops.size(x, dim), hi)
    return x if whole else ops.slice(x, dim, lo, hi, step)


def _run(ops: Ops, dim: int, run: Run) -> Tensor:
    return part(ops, run.source, dim, ops.sub(run.lo, run.shift), ops.sub(run.hi, run.shift))


def _comb(ops: Ops, dim: int, comb: Comb) -> Tensor:
    width, parts, r = len(comb.columns), [], 0
    before = ops.sizes(comb.columns[0][0])
    before, after = before[:dim], before[dim + 1 :]
    while r < width:
        source, first, stride = comb.columns[r]
        count = 1
        while comb.columns[r + count : r + count + 1] == ((source, ops.add(first, count), stride),):
            count += 1
        n, start = ops.size(source, dim), ops.sub(first, r)
        stop = ops.add(start, ops.mul(comb.groups, width))
        if count > 1 and stride == width and ops.holds(0, start) and ops.holds(stop, n):
            rows = part(ops, source, dim, start, stop)
            rows = ops.view(rows, [*before, comb.groups, width, *after])
            parts.append(ops.slice(rows, dim + 1, r, r + count))
        else:
            count, end = 1, ops.add(first, ops.mul(comb.groups, stride))
            stop = n if ops.holds(n, end) else ops.add(ops.sub(end, stride), 1)
            parts.append(ops.unsqueeze(part(ops, source, dim, first, stop, stride), dim + 1))
        r += count
    return ops.view(ops.cat(parts, dim + 1), [*before, ops.sub(comb.hi, comb.lo), *after])

"""The elements that a scatter writes or a gather reads, as shaded boxes of two tensors.

An index map is plain data to draw. It shows two axes of the data: those along which the data is not
written whole. If sizes are symbolic, the map shows some sizes that fit all known facts, and names
them. If positions depend on the elements of a tensor, there is no map.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from onnx_scatterx.lift.canonical import Canonical
from onnx_scatterx.lift.scatters import Access
from onnx_scatterx.reports.example_numbers import Numbers, example_numbers, shape_at, value_at
from onnx_scatterx.symbolic.terms import Symbol
from onnx_scatterx.text.reasons import Refusal

Spans: TypeAlias = "tuple[range, ...]"

_MOST_BOXES = 32  # that are drawn with a colour each
_MOST_POINTS = 4096  # that are drawn one by one
_CELLS = 48  # of a coarse map along each axis


class Shade(NamedTuple):
    """A box of rows and columns in a colour; ``step`` is that of a strided box on each axis."""

    rows: range
    columns: range
    colour: int


@dataclass(frozen=True)
class Panel:
    """One tensor: its title, the two axes that are drawn, and the boxes in it.

    An axis is its label and its size.
    """

    title: str
    rows: tuple[str, int]
    columns: tuple[str, int]
    shades: tuple[Shade, ...]


@dataclass(frozen=True)
class IndexMap:
    """The data and the updates of a scatter (of a gather, its output), and notes."""

    data: Panel
    other: Panel
    is_read: bool
    notes: tuple[str, ...] = ()


class _Drawn(NamedTuple):
    """Boxes of the other tensor and of the data, pairwise, as spans of each axis.

    ``dims`` says which dim of the other tensor runs along each axis of the data, if one does.
    ``cell`` is the number of elements in one cell; it is 0 if boxes are not divided into cells.
    """

    shape: Numbers
    data_shape: Numbers
    pairs: list[tuple[Spans, Spans]]
    dims: tuple[int | None, ...] = ()
    cell: int = 0


def index_map(canonical: Canonical, order: Sequence[int] | None = None) -> IndexMap | None:
    """Return the map of a scatter or gather, or None if it is known only at run time.

    If a Transpose before the node is undone after it, ``order[c]`` is the number of axis c of the
    data before the Transpose.
    """
    access = canonical.access
    found = None
    sizes: Mapping[Symbol, int] = {}
    for numbers in example_numbers(access):
        at_these = _drawn(canonical, numbers)
        if at_these is not None and (found is None or at_these.pairs):
            found, sizes = at_these, numbers
            if found.pairs:  # else it may be more at larger sizes
                break
    if found is None:
        return None
    axes = order or range(len(found.data_shape))
    notes = []
    if sizes:
        told = {leaf.name: number for leaf, number in sizes.items()}
        notes.append(f"drawn at {', '.join(f'{n} = {k}' for n, k in sorted(told.items())[:6])}")
    rows, columns = _axes(found, axes)
    notes += _elsewhere(found, axes, {rows, columns})
    if found.cell > 1:
        notes.append("several elements are one cell")
    down, across = _dims(found, rows, columns)
    shades, other_shades = [], []
    for place, (inner, outer) in enumerate(found.pairs):
        colour = 0 if found.cell else place
        shades.append(Shade(_span(outer, rows), _span(outer, columns), colour))
        other_shades.append(Shade(_span(inner, down), _span(inner, across), colour))
    data_axes = [_side(found.data_shape, a, "axis", axes) for a in (rows, columns)]
    other_axes = [_side(found.shape, d, "dim", range(len(found.shape))) for d in (down, across)]
    return IndexMap(
        Panel("data", data_axes[0], data_axes[1], tuple(dict.fromkeys(shades))),
        Panel(access.tensor_role, other_axes[0], other_axes[1], tuple(dict.fromkeys(other_shades))),
        access.may_repeat,
        tuple(notes),
    )


def _drawn(canonical: Canonical, numbers: Mapping[Symbol, int]) -> _Drawn | None:
    access = canonical.access
    shape, data_shape = shape_at(access.shape, numbers), shape_at(access.data_shape, numbers)
    if shape is None or data_shape is None or 0 in data_shape:
        return None
    boxes = canonical.boxes
    if not isinstance(boxes, Refusal) and len(boxes) <= _MOST_BOXES:
        pairs: list[tuple[Spans, Spans]] = []
        for piece in boxes:
            first, counts = shape_at(piece.first, numbers), shape_at(piece.counts, numbers)
            starts = [value_at(line.start, numbers) for line in piece.lines]
            if first is None or counts is None or any(s is None for s in starts):
                return None
            inner = tuple(range(f, f + n) for f, n in zip(first, counts, strict=True))
            outer = tuple(
                range(s, s + 1)
                if line.dim is None
                else _upwards(range(s, s + line.step * counts[line.dim], line.step))
                for s, line in zip(starts, piece.lines, strict=True)
            )
            if 0 not in counts:
                pairs.append((inner, outer))
        inside = all(
            s.start >= 0 and (not s or s[-1] < n)
            for _, outer in pairs
            for s, n in zip(outer, data_shape, strict=True)
        )
        lines = boxes[0].lines if boxes else ()
        dims = tuple(line.dim for line in lines) or (None,) * len(data_shape)
        return _Drawn(shape, data_shape, pairs, dims) if inside else None
    return _point_by_point(access, shape, data_shape, numbers)


def _upwards(span: range) -> range:
    return span if span.step > 0 else span[::-1]


def _point_by_point(
    access: Access, shape: Numbers, data_shape: Numbers, numbers: Mapping[Symbol, int]
) -> _Drawn | None:
    """Return every place that is written, as runs of a coarse grid of the whole data."""
    if not 0 < math.prod(shape) <= _MOST_POINTS:
        return None
    grid = np.indices(shape, np.int64, sparse=True)
    columns = []
    for target, size in zip(access.index_exprs, data_shape, strict=True):
        found = value_at(target, numbers, grid.__getitem__)
        if found is None:
            return None
        place = np.broadcast_to(np.asarray(found), shape).ravel()
        place = np.where(place < 0, place + size, place)
        if ((place < 0) | (place >= size)).any():
            return None
        columns.append(place)
    whole = tuple(range(n) for n in shape)
    ends = [range(int(c.min()), int(c.max()) + 1) for c in columns]
    partly = [a for a, n in enumerate(data_shape) if len(np.unique(columns[a])) < n]
    wide = sorted([*(a for a in range(len(data_shape)) if a not in partly), *partly][-2:])
    scales = {a: -(-data_shape[a] // _CELLS) for a in wide}
    cells = {tuple(int(columns[a][i]) // scales[a] for a in wide) for i in range(len(columns[0]))}
    pairs = []
    for cell in _runs(cells):
        spans = list(ends)
        for a, span in zip(wide, cell, strict=True):
            spans[a] = range(span.start * scales[a], min(span.stop * scales[a], data_shape[a]))
        pairs.append((whole, tuple(spans)))
    none = (None,) * len(data_shape)
    return _Drawn(shape, data_shape, pairs, none, max(scales.values(), default=1))


def _runs(cells: set[Numbers]) -> Iterator[Spans]:
    """Yield cells that lie beside each other along their last axis as one."""
    last: list[int] | None = None
    head: Numbers = ()
    for cell in [*sorted(cells), None]:
        if cell is not None and last is not None and cell[:-1] == head and cell[-1] == last[1]:
            last[1] += 1
            continue
        if last is not None:
            yield (*(range(i, i + 1) for i in head), range(*last))
        if cell is not None:
            head, last = cell[:-1], [cell[-1], cell[-1] + 1]


def _axes(found: _Drawn, order: Sequence[int]) -> tuple[int | None, int | None]:
    """Return which axes of the data are drawn downwards and across: the last that matter."""
    rank = len(found.data_shape)
    partly = [a for a in range(rank) if _is_partly(found, a)]
    whole = [a for a in range(rank) if a not in partly and found.data_shape[a] > 1]
    partly.sort(key=lambda a: order[a])
    whole.sort(key=lambda a: order[a])
    chosen = sorted([*whole, *partly][-2:], key=lambda a: order[a])
    if len(chosen) < 2:
        return None, chosen[0] if chosen else (rank - 1 if rank else None)
    return chosen[0], chosen[1]


def _is_partly(found: _Drawn, axis: int) -> bool:
    whole = range(found.data_shape[axis])
    return any(outer[axis] != whole for _, outer in found.pairs)


def _elsewhere(found: _Drawn, order: Sequence[int], drawn: set[int | None]) -> list[str]:
    """Describe the write along the axes that are not drawn."""
    rest = sorted(
        (a for a in range(len(found.data_shape)) if a not in drawn), key=lambda a: order[a]
    )
    notes = []
    for axis in rest:
        size = found.data_shape[axis]
        spans = dict.fromkeys(outer[axis] for _, outer in found.pairs)
        if size == 1 or not spans:
            continue
        if _is_partly(found, axis):
            told = ", ".join(_told(s) for s in list(spans)[:3]) + (
                ", ..." if len(spans) > 3 else ""
            )
            notes.append(f"axis {order[axis]} of {size}, at {told}, is not drawn")
        else:
            notes.append(f"axis {order[axis]} of {size}, taken whole, is not drawn")
    return notes


def _told(span: range) -> str:
    if len(span) == 1:
        return str(span.start)
    return f"{span.start}:{span.stop}" + (f":{span.step}" if span.step > 1 else "")


def _dims(found: _Drawn, rows: int | None, columns: int | None) -> tuple[int | None, int | None]:
    """Return which dims of the other tensor are drawn: those along the axes that are."""
    if not found.cell:
        dims = [None if a is None else found.dims[a] for a in (rows, columns)]
        # Boxes of one place each move along a dim of the updates that no line is along.
        rest = [d for d, n in enumerate(found.shape) if n > 1 and d not in found.dims]
        for side, axis in enumerate((rows, columns)):
            if rest and axis is not None and dims[side] is None:
                dims[side] = rest.pop(0)
        return dims[0], dims[1]
    wide = [d for d, n in enumerate(found.shape) if n > 1][-2:]
    if len(wide) < 2:
        return None, wide[0] if wide else None
    return wide[0], wide[1]


def _side(shape: Numbers, place: int | None, word: str, names: Sequence[int]) -> tuple[str, int]:
    return ("", 1) if place is None else (f"{word} {names[place]}", shape[place])


def _span(spans: Spans, axis: int | None) -> range:
    return range(1) if axis is None else spans[axis]

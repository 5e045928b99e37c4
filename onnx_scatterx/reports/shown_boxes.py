"""The boxes that a scatter writes, or a gather reads, at sizes that are numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from onnx_scatterx.lift.access import Access
from onnx_scatterx.lift.canonical import Canonical
from onnx_scatterx.reports.example_numbers import Numbers, shape_at, value_at
from onnx_scatterx.symbolic.terms import Symbol
from onnx_scatterx.text.reasons import Refusal

Spans: TypeAlias = "tuple[range, ...]"

_MOST_BOXES = 32  # that are shown with a colour each
_MOST_POINTS = 4096  # that are shown one by one
_CELLS = 48  # of a coarse map along each axis


class ShownBoxes(NamedTuple):
    """Boxes of the other tensor and of the data, pairwise, as spans of each axis.

    ``dims`` says which dim of the other tensor runs along each axis of the data, if one does.
    ``cell`` is the number of elements in one cell; it is 0 if boxes are not divided into cells.
    """

    shape: Numbers
    data_shape: Numbers
    pairs: list[tuple[Spans, Spans]]
    dims: tuple[int | None, ...] = ()
    cell: int = 0


def boxes_at(canonical: Canonical, numbers: Mapping[Symbol, int]) -> ShownBoxes | None:
    """Return the boxes at some sizes, or None if they are not known or not within the data."""
    access = canonical.access
    shape, data_shape = shape_at(access.shape, numbers), shape_at(access.data_shape, numbers)
    if shape is None or data_shape is None or 0 in data_shape:
        return None
    boxes = canonical.boxes
    if not isinstance(boxes, Refusal) and len(boxes) <= _MOST_BOXES:
        pairs: list[tuple[Spans, Spans]] = []
        for piece in boxes:
            first, counts = shape_at(piece.first, numbers), shape_at(piece.counts, numbers)
            starts = [value_at(affine.start, numbers) for affine in piece.axes]
            if first is None or counts is None or any(s is None for s in starts):
                return None
            inner = tuple(range(f, f + n) for f, n in zip(first, counts, strict=True))
            outer = tuple(
                range(s, s + 1)
                if affine.dim is None
                else _upwards(range(s, s + affine.step * counts[affine.dim], affine.step))
                for s, affine in zip(starts, piece.axes, strict=True)
            )
            if 0 not in counts:
                pairs.append((inner, outer))
        inside = all(
            s.start >= 0 and (not s or s[-1] < n)
            for _, outer in pairs
            for s, n in zip(outer, data_shape, strict=True)
        )
        axes = boxes[0].axes if boxes else ()
        dims = tuple(affine.dim for affine in axes) or (None,) * len(data_shape)
        return ShownBoxes(shape, data_shape, pairs, dims) if inside else None
    return _point_by_point(access, shape, data_shape, numbers)


def _upwards(span: range) -> range:
    return span if span.step > 0 else span[::-1]


def _point_by_point(
    access: Access, shape: Numbers, data_shape: Numbers, numbers: Mapping[Symbol, int]
) -> ShownBoxes | None:
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
    return ShownBoxes(shape, data_shape, pairs, none, max(scales.values(), default=1))


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

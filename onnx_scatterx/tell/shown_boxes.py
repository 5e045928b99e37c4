"""The boxes that a scatter writes, or a gather reads, at example sizes.

The examples are numbers for what is known only at run time, for a picture: all that is known of
them holds. A term over sizes and coordinates has a value there; a term over the elements of a
tensor has none.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from onnx_scatterx.engine.budget import budget
from onnx_scatterx.engine.lift import Access, InTheory
from onnx_scatterx.engine.terms import Symbol, Term
from onnx_scatterx.text import Refusal

Numbers: TypeAlias = "tuple[int, ...]"
Spans: TypeAlias = "tuple[range, ...]"

_TRIES = 48
_FIRST = ((8, 3, 2), (9, 4, 3), (12, 6, 1), (6, 6, 0), (5, 2, 2), (4, 1, 1))
"""Sizes of the data, of the other tensor, and positions, that make good pictures."""
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


def boxes_at(in_theory: InTheory, numbers: Mapping[Symbol, int]) -> ShownBoxes | None:
    """Return the boxes at some sizes, or None if they are not known or not within the data."""
    access = in_theory.access
    shape, data_shape = shape_at(access.shape, numbers), shape_at(access.data_shape, numbers)
    if shape is None or data_shape is None or 0 in data_shape:
        return None
    boxes = in_theory.boxes
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
        values = value_at(target, numbers, grid.__getitem__)
        if values is None:
            return None
        positions = np.broadcast_to(np.asarray(values), shape).ravel()
        positions = np.where(positions < 0, positions + size, positions)
        if ((positions < 0) | (positions >= size)).any():
            return None
        columns.append(positions)
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
    numbered = enumerate(sorted(cells))
    for _, run in groupby(numbered, lambda pair: (pair[1][:-1], pair[1][-1] - pair[0])):
        (_, first), *rest = run
        heads = (range(i, i + 1) for i in first[:-1])
        yield (*heads, range(first[-1], first[-1] + len(rest) + 1))


def example_numbers(access: Access) -> Iterator[Mapping[Symbol, int]]:
    """Yield numbers for all that is known only at run time, which all known facts allow."""
    terms = (*access.data_shape, *access.shape, *access.index_exprs)
    leaves = sorted(frozenset[Symbol]().union(*(t.leaves() for t in terms)), key=lambda s: s.mark())
    if any(part.coords for leaf in leaves for part in leaf.parts):
        return
    if not leaves:
        yield {}
        return
    data = frozenset[Symbol]().union(*(t.leaves() for t in access.data_shape))
    sizes = frozenset[Symbol]().union(*(t.leaves() for t in access.shape))
    known = [f for f in access.facts.known() if f.leaves() and f.leaves() <= set(leaves)]
    draw = random.Random(0)
    for attempt in range(_TRIES):
        most = 12 if attempt < _TRIES // 2 else 64
        first = _FIRST[attempt] if attempt < len(_FIRST) else [draw.randint(0, most) for _ in "abc"]
        numbers = {}
        for index, leaf in enumerate(leaves):
            kind = 0 if leaf in data else 1 if leaf in sizes else 2
            number = first[kind] + (draw.randint(-1, 2) if index and attempt else 0)
            low, high = leaf.low, min(leaf.high, 1 << 20)
            numbers[leaf] = int(max(low, min(number, high), -64))
        if any(numbers[leaf] < 1 for leaf in data | sizes if leaf in numbers):
            continue
        if all((value := value_at(f, numbers)) is not None and value >= 0 for f in known):
            yield numbers


def value_at(t: Term, numbers: Mapping[Symbol, int], at: Callable[[int], Any] | None = None) -> Any:
    """Return the number of a term, or None if the term has no number."""
    nowhere: dict[int, Any] = {}
    budget().charge_part(1 + t.weight // 8)
    try:
        return t.evaluate(lambda symbol, _: numbers[symbol], at or nowhere.__getitem__)
    except (KeyError, ZeroDivisionError, OverflowError, IndexError):
        return None


def shape_at(shape: Sequence[Term], numbers: Mapping[Symbol, int]) -> Numbers | None:
    sizes = [value_at(t, numbers) for t in shape]
    if any(n is None or n < 0 for n in sizes):
        return None
    return tuple(int(n) for n in sizes)

"""The elements that a scatter writes or a gather reads, as shaded boxes of two tensors.

An index map is plain data for a picture. It shows two axes of the data: those along which the data
is not written whole. If sizes are symbolic, the map shows some sizes that fit all known facts, and
names them. If positions depend on the elements of a tensor, there is no map.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from onnx_scatterx.engine.lift import InTheory
from onnx_scatterx.engine.terms import Symbol
from onnx_scatterx.tell.shown_boxes import (
    Numbers,
    ShownBoxes,
    Spans,
    boxes_at,
    example_numbers,
)


class Shade(NamedTuple):
    """A box of rows and columns in a colour; ``step`` is that of a strided box on each axis."""

    rows: range
    columns: range
    colour: int


@dataclass(frozen=True)
class Panel:
    """One tensor: its title, the two axes that are shown, and the boxes in it.

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


def index_map(in_theory: InTheory, order: Sequence[int] | None = None) -> IndexMap | None:
    """Return the map of a scatter or gather, or None if it is known only at run time.

    If a Transpose before the node is undone after it, ``order[c]`` is the number of axis c of the
    data before the Transpose.
    """
    access = in_theory.access
    boxes = None
    sizes: Mapping[Symbol, int] = {}
    for numbers in example_numbers(access):
        at_these = boxes_at(in_theory, numbers)
        if at_these is not None and (boxes is None or at_these.pairs):
            boxes, sizes = at_these, numbers
            if boxes.pairs:  # else it may be more at larger sizes
                break
    if boxes is None:
        return None
    axes = order or range(len(boxes.data_shape))
    notes = []
    if sizes:
        named = {leaf.name: number for leaf, number in sizes.items()}
        notes.append(f"shown at {', '.join(f'{n} = {k}' for n, k in sorted(named.items())[:6])}")
    rows, columns = _axes(boxes, axes)
    notes += _elsewhere(boxes, axes, {rows, columns})
    if boxes.cell > 1:
        notes.append("several elements are one cell")
    down, across = _dims(boxes, rows, columns)
    shades, other_shades = [], []
    for index, (inner, outer) in enumerate(boxes.pairs):
        colour = 0 if boxes.cell else index
        shades.append(Shade(_span(outer, rows), _span(outer, columns), colour))
        other_shades.append(Shade(_span(inner, down), _span(inner, across), colour))
    data_axes = [_side(boxes.data_shape, a, "axis", axes) for a in (rows, columns)]
    other_axes = [_side(boxes.shape, d, "dim", range(len(boxes.shape))) for d in (down, across)]
    return IndexMap(
        Panel("data", data_axes[0], data_axes[1], tuple(dict.fromkeys(shades))),
        Panel(access.tensor_role, other_axes[0], other_axes[1], tuple(dict.fromkeys(other_shades))),
        access.may_repeat,
        tuple(notes),
    )


def _axes(boxes: ShownBoxes, order: Sequence[int]) -> tuple[int | None, int | None]:
    """Return which axes of the data are shown downwards and across: the last that matter."""
    rank = len(boxes.data_shape)
    axes = sorted(range(rank), key=lambda a: order[a])
    partly = [a for a in axes if _is_partly(boxes, a)]
    whole = [a for a in axes if a not in partly and boxes.data_shape[a] > 1]
    chosen = sorted([*whole, *partly][-2:], key=lambda a: order[a]) or range(rank)[-1:]
    return _last_two(chosen)


def _last_two(axes: Sequence[int]) -> tuple[int | None, int | None]:
    """Return the last two of some axes; if there are fewer, None stands in front of them."""
    first, second = (None, None, *axes)[-2:]
    return first, second


def _is_partly(boxes: ShownBoxes, axis: int) -> bool:
    whole = range(boxes.data_shape[axis])
    return any(outer[axis] != whole for _, outer in boxes.pairs)


def _elsewhere(boxes: ShownBoxes, order: Sequence[int], shown: set[int | None]) -> list[str]:
    """Describe the write along the axes that are not shown."""
    notes = []
    for axis in sorted({*range(len(boxes.data_shape))} - shown, key=lambda a: order[a]):
        size = boxes.data_shape[axis]
        spans = dict.fromkeys(outer[axis] for _, outer in boxes.pairs)
        if size == 1 or not spans:
            continue
        if _is_partly(boxes, axis):
            more = ", ..." if len(spans) > 3 else ""
            where = f"at {', '.join(map(_span_text, list(spans)[:3]))}{more}"
        else:
            where = "taken whole"
        notes.append(f"axis {order[axis]} of {size}, {where}, is not shown")
    return notes


def _span_text(span: range) -> str:
    if len(span) == 1:
        return str(span.start)
    return f"{span.start}:{span.stop}" + (f":{span.step}" if span.step > 1 else "")


def _dims(
    boxes: ShownBoxes, rows: int | None, columns: int | None
) -> tuple[int | None, int | None]:
    """Return which dims of the other tensor are shown: those along the axes that are."""
    if not boxes.cell:
        dims = [None if a is None else boxes.dims[a] for a in (rows, columns)]
        # If each box is one place, a dim of the updates counts the boxes.
        rest = [d for d, n in enumerate(boxes.shape) if n > 1 and d not in boxes.dims]
        for side, axis in enumerate((rows, columns)):
            if rest and axis is not None and dims[side] is None:
                dims[side] = rest.pop(0)
        return dims[0], dims[1]
    return _last_two([d for d, n in enumerate(boxes.shape) if n > 1])


def _side(shape: Numbers, axis: int | None, word: str, names: Sequence[int]) -> tuple[str, int]:
    return ("", 1) if axis is None else (f"{word} {names[axis]}", shape[axis])


def _span(spans: Spans, axis: int | None) -> range:
    return range(1) if axis is None else spans[axis]

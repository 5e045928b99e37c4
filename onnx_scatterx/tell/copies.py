"""The strided copies that do the whole work of a scatter or a gather, with offsets as terms.

If sizes and indices are numbers and few, these are the theory's ``moves``. Else each box of the
footprint is one copy, and boxes of one form at equal steps are joined: one list for all sizes that
the facts allow. If positions are elements of a tensor, there is a box for each of them, if they are
few, and these elements are in its offset.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from onnx_scatterx.engine.analysis import Shape
from onnx_scatterx.engine.budget import LIMITS
from onnx_scatterx.engine.lift import InTheory, Piece, Scatter, affine_along
from onnx_scatterx.engine.terms import Number, Term, term
from onnx_scatterx.text import Refusal, in_lines
from onnx_scatterx.theory.scattering import Gathering
from onnx_scatterx.theory.strided_copies import Grid, Move, as_move, joined, moves

_FEW = 1 << 10  # elements whose copies are found one by one


class Moved(NamedTuple):
    """What a scatter moves and in how many contiguous pieces, its data first; and the least."""

    bytes: int
    pieces: int
    least_bytes: int
    copies: int


def copies_of(in_theory: InTheory, *, unique: bool = False) -> tuple[Move[Any], ...]:
    """Return the copies, which may run in any order, or ``ValueError`` with the reason.

    ``unique`` says that updates are known not to collide.
    """
    access, transformer = in_theory.access, in_theory.transformer
    if access.dtype.is_string() or access.dtype.bitwidth % 8:
        raise ValueError(f"an element of {access.dtype.name.lower()} has no bytes of its own")
    size = access.dtype.bitwidth // 8
    if isinstance(access, Scatter) and access.reduction != "none":
        raise ValueError(f"no copy does the reduction {access.reduction}: it reads its target")
    if transformer is not None and prod(transformer.shape) <= _FEW:
        if not access.may_repeat:
            return moves(transformer, size)
        data = np.broadcast_to(np.zeros((), np.int8), transformer.data_shape)
        return moves(Gathering(data, transformer), size)
    boxes = _boxes(in_theory)
    if isinstance(boxes, Refusal):
        proof = in_theory.verdict.witness
        raise ValueError(
            in_lines((f"no list of copies is known: {boxes}", *(f"- {o}" for o in proof)))
        )
    if not (access.may_repeat or unique or in_theory.unique):
        raise ValueError("no list of copies is known: two boxes may overlap")
    grids = joined([_grid(in_theory, box) for box in boxes])
    return tuple(as_move(first, dims, size) for first, dims in map(_in_numbers, grids))


def _boxes(in_theory: InTheory) -> list[Piece] | Refusal:
    """Return the boxes of the footprint, or those of few positions that are read from a tensor."""
    access, boxes = in_theory.access, in_theory.boxes
    read = (a for t in access.index_exprs if affine_along(t) is None for a in t.atoms)
    dims = sorted({d for a in read if a.dim < 0 for d in a.coords})
    counts = [access.shape[d].constant or 0 for d in dims]
    if not isinstance(boxes, Refusal) or not 0 < prod(counts) <= LIMITS.boxes:
        return boxes
    pieces = []
    for index in itertools.product(*map(range, counts)):
        at = dict(zip(dims, index, strict=True))
        extents = tuple(term(1) if d in at else n for d, n in enumerate(access.shape))
        axes = [axis for t in access.index_exprs if (axis := affine_along(t.at(at))) is not None]
        lows = [
            a.start + min(a.step, 0) * (1 if a.dim is None else extents[a.dim] - 1) for a in axes
        ]
        if len(axes) < len(access.index_exprs) or not all(map(access.facts.is_nonnegative, lows)):
            return boxes
        first = tuple(term(at.get(d, 0)) for d in range(len(extents)))
        pieces.append(Piece(first, extents, tuple(axes)))
    return pieces


def _grid(in_theory: InTheory, box: Piece) -> Grid[Term]:
    """Return a box of the updates as a grid, or one of the output of a gather."""
    access = in_theory.access
    inner, outer = _strides(access.shape), _strides(access.data_shape)
    start = _dot(inner, box.first)
    target = _dot(outer, [axis.start for axis in box.axes])
    dims = []
    for d, count in enumerate(box.counts):
        step = _dot(outer, [axis.step if axis.dim == d else 0 for axis in box.axes])
        if count.constant != 1:
            dims.append((count, (step, inner[d]) if access.may_repeat else (inner[d], step)))
    return (target, start) if access.may_repeat else (start, target), tuple(dims)


def _dot(strides: Sequence[Term], steps: Sequence[Number]) -> Term:
    return sum((s * n for s, n in zip(strides, steps, strict=True)), start=term(0))


def _strides(shape: Shape) -> list[Term]:
    return [prod(shape[d + 1 :], start=term(1)) for d in range(len(shape))]


def _in_numbers(value: Any) -> Any:
    """Return nested tuples with numbers for terms that are numbers."""
    if isinstance(value, tuple):
        return tuple(map(_in_numbers, value))
    return value if isinstance(value, int) or value.constant is None else value.constant


def moved(in_theory: InTheory, *, unique: bool) -> Moved | None:
    """Return what a scatter moves, if it is known in numbers."""
    access = in_theory.access
    try:
        copies = copies_of(in_theory, unique=unique)
    except ValueError:
        return None
    data = prod(access.data_shape, start=term(1)).constant
    if data is None or not all(isinstance(n, int) for m in copies for n in (m.bytes, *m.extents)):
        return None
    least, runs = sum(m.bytes for m in copies), sum(m.runs for m in copies)
    return Moved(data * access.dtype.bitwidth // 8 + least, 1 + runs, least, len(copies))

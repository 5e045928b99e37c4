"""Tables of positions: their runs of equal steps, and the elements that a run reads."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from onnx_scatterx.optimizer.analysis.domain.tensor import Shape
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.optimizer.symbolic.tabulate import tabulated
from onnx_scatterx.optimizer.symbolic.terms import Atom, Lookup, Number, Term, coord, lookup
from onnx_scatterx.text.reasons import Reason, RefusedError

Interval: TypeAlias = "tuple[Term | int, Term | int]"
"""A stretch of a dim: its first coordinate, and the one after its last."""


def runs(target: Term, axis: int, counts: Shape, *, pairs: bool) -> tuple[int, list[Interval]]:
    """Cut a table along the dim on which it consists of the fewest runs of equal steps."""
    extents = {d: counts[d].constant for d in target.coords}
    if any(n is None for n in extents.values()):
        raise RefusedError(Reason.UNKNOWN_INDICES, f"axis {axis}")
    numbers = {d: n for d, n in extents.items() if n is not None}
    if np.prod(list(numbers.values())) > LIMITS.table_positions:
        raise RefusedError(Reason.IRREGULAR, f"axis {axis}")
    dims = sorted(numbers)
    try:
        values = tabulated(target, {d: numbers[d] for d in dims})
    except OverflowError as error:
        raise RefusedError(Reason.IRREGULAR, f"axis {axis}") from error
    best: tuple[int, list[Interval]] | None = None
    for place, dim in enumerate(dims):
        cuts = _breaks(np.moveaxis(values, place, 0), pairs=pairs)
        if len(cuts) > 1 and (best is None or len(cuts) < len(best[1])):
            best = dim, list(cuts)
    if best is None:  # a sum of affine terms in several dims
        raise RefusedError(Reason.IRREGULAR, f"axis {axis}")
    return best


def _breaks(values: np.ndarray, *, pairs: bool) -> list[tuple[int, int]]:
    """Return the maximal runs (first, end) of rows that differ by one constant.

    If ``pairs`` is false, two rows are a run only if they are neighbours.
    """
    rows = values.reshape(len(values), -1).astype(np.int64)
    spans, first = [], 0
    while first < len(rows):
        end = first + 1
        if end < len(rows):
            stride = rows[end] - rows[first]
            while end < len(rows) and (rows[end] - rows[end - 1] == stride).all():
                end += 1
            if (stride != stride[0]).any() or (end - first == 2 and stride[0] != 1 and not pairs):
                end = first + 1  # no run, or two rows that are as well each on its own
        spans.append((first, end))
        first = end
    return spans


def narrowed(target: Term, dim: int, begin: Term, count: Term) -> Term:
    """Return a term with its tables cut to the rows that ``x_dim + begin`` looks up."""
    if begin.constant is None or count.constant is None:
        return target
    index = coord(dim) + begin
    changes: dict[Atom, Number] = {}
    for atom in target.all_atoms():
        if isinstance(atom, Lookup) and index in atom.parts:
            axis = atom.parts.index(index)
            rows = np.arange(begin.constant, begin.constant + count.constant)
            parts = (*atom.parts[:axis], coord(dim), *atom.parts[axis + 1 :])
            changes[atom] = lookup(atom.array.take(rows, axis=axis), parts)
    return target.replace(changes) if changes else target

"""How an axis of a value has chosen rows: what is asked of a value, and passed on to its inputs.

    r = x[m], m of shape [4, 9]         depth 2: a row for each true element of m
    s, with s[:, None] written to r     depth 1: the last dim of m repeats each row
    Reshape(r, [-1, 5])                 a window of 3, if r has the shape [n, 3, 5]

An operator asks its inputs for it: the same, or a part of the rows, or more for each row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from onnx_scatterx.engine.rules import Shape, Term, refuse_unless, term

_BEFORE, _BEHIND = -1, 1 << 10  # the dims of a window, beside those of a mask


class Has(Enum):
    """How many rows a value has, beside those that are chosen."""

    ALL = "as many"
    FEWER = "as many, or one, which is repeated"
    MORE = "as many, or more, of which the first are taken"

    def of_more(self) -> Has:
        """Return what a tensor has of which the first rows are taken, or refuse.

        If there are fewer, they may be repeated. The first of repeated rows are the right ones.
        """
        refuse_unless(self is not Has.FEWER)
        return Has.MORE


@dataclass(frozen=True)
class Following:
    """An axis that has an element for each chosen row, and for each place of a window.

    The rows are those of the first ``depth`` dims of a mask; further dims repeat them. One size of
    the ``window`` counts before the rows, the other behind them. These are dims of a tensor of all
    rows, too.
    """

    depth: int
    window: Shape = (term(1), term(1))
    has: Has = Has.ALL

    @property
    def places(self) -> Term:
        """How many places the window has."""
        return math.prod(self.window, start=term(1))

    @property
    def is_windowed(self) -> bool:
        """Whether the axis has more than an element for each row."""
        return self.window != (term(1), term(1))

    @property
    def dims(self) -> tuple[int, ...]:
        """The dims of the mask and of the window, in the order in which they count."""
        before, behind = (n.constant != 1 for n in self.window)
        return (*[_BEFORE] * before, *range(self.depth), *[_BEHIND] * behind)

    def sizes(self, dims: Sequence[int], extents: Shape) -> Shape:
        """Return the sizes of dims of the mask, which has these extents, and of the window."""
        at = {_BEFORE: self.window[0], _BEHIND: self.window[1]}
        return tuple(at[r] if r in at else extents[r] for r in dims)


def is_of_window(dim: int) -> bool:
    """Return whether a dim of a tensor of all rows is one of a window."""
    return dim in (_BEFORE, _BEHIND)

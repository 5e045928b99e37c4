"""Grids: the layout on paper of the cells of a tensor of any rank.

The last two dims are a block of rows and columns. Blocks lie side by side along the dim before
them, these rows of blocks one below the other along the dim before that, and so on in turn.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

Index = tuple[int, ...]

MARGIN = 22  # beside a block and above it, for its numbers
HEADING = 18  # above that, for the block's own index


@dataclass(frozen=True, slots=True)
class Grid:
    """The places of the cells of a shape, in pixels from the grid's upper left corner.

    >>> grid = Grid((2, 3), 30, 20)
    >>> grid.cell((1, 2)), grid.width, grid.height
    ((82, 42), 112, 62)
    >>> Grid((2, 2, 3), 30, 20).block((1,))
    (124, 0)
    """

    shape: Index
    cell_width: int
    cell_height: int

    @property
    def width(self) -> int:
        return self._extent(0)

    @property
    def height(self) -> int:
        return self._extent(1)

    @property
    def inner(self) -> tuple[int, int]:
        """The rows and columns of a block."""
        rows, columns = (1, 1, *self.shape)[-2:]
        return rows, columns

    def blocks(self) -> Iterator[Index]:
        """Yield the indices of the blocks: all but the last two coordinates."""
        return product(*map(range, self.shape[:-2]))

    def block(self, outer: Sequence[int]) -> tuple[int, int]:
        """Return the upper left corner of a block, with its numbers and heading."""
        place = [0, 0]
        for d, i in enumerate(outer):
            towards = (len(self.shape) - 3 - d) % 2
            place[towards] += i * self._step(d)
        return place[0], place[1]

    def cell(self, index: Sequence[int]) -> tuple[int, int]:
        """Return the upper left corner of a cell."""
        x, y = self.block(index[:-2])
        row, column = (0, 0, *index)[-2:]
        top = self._top
        return x + MARGIN + column * self.cell_width, y + top + row * self.cell_height

    @property
    def _top(self) -> int:
        return MARGIN + (HEADING if len(self.shape) > 2 else 0)

    def _extent(self, towards: int, first: int = 0) -> int:
        """Return the size of dims from ``first`` on, along x (0) or y (1)."""
        rows, columns = self.inner
        across, down = MARGIN + columns * self.cell_width, self._top + rows * self.cell_height
        size = (across, down)[towards]
        for d in reversed(range(first, len(self.shape) - 2)):
            if (len(self.shape) - 3 - d) % 2 == towards:
                size = self.shape[d] * size + (self.shape[d] - 1) * self._gap(d)
        return size

    def _step(self, d: int) -> int:
        towards = (len(self.shape) - 3 - d) % 2
        return self._extent(towards, d + 1) + self._gap(d)

    def _gap(self, d: int) -> int:
        return 12 * ((len(self.shape) - 3 - d) // 2 + 1)

"""A layered layout: boxes in rows, arrows downwards, as few crossings as a few sweeps find.

The way of Sugiyama, Tagawa and Toda (1981): a box stands below all that lead to it; an arrow over
several rows passes a point in each; each row is sorted by where the neighbours of its boxes stand;
then boxes move as near to their neighbours as the order allows. It is made for some tens of boxes,
and the same boxes are always laid out alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import accumulate, combinations, pairwise

from onnx_scatterx.grouping import grouped

_GAP, _ROW_GAP = 14, 26
_SWEEPS = 12

Arrows = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class BoxLayout:
    """The centre of each box, the points that each arrow passes, and the size of all."""

    centres: tuple[tuple[int, int], ...]
    paths: tuple[tuple[tuple[int, int], ...], ...]
    width: int
    height: int


def layout(sizes: Sequence[tuple[int, int]], arrows: Arrows) -> BoxLayout:
    """Lay out boxes of some widths and heights; the arrows, from box to box, have no cycle.

    >>> drawn = layout([(40, 20), (40, 20), (40, 20)], [(0, 2), (1, 2)])
    >>> drawn.centres, drawn.width, drawn.height
    (((20, 10), (74, 10), (47, 56)), 94, 66)
    """
    if not sizes:
        return BoxLayout((), (), 0, 0)
    rows = _rows(len(sizes), arrows)
    chains = _chains(rows, arrows, len(sizes))
    steps = [pair for chain in chains for pair in pairwise(chain)]
    order = _ordered(rows, steps)
    widths = {i: size[0] for i, size in enumerate(sizes)}
    xs = _placed(order, steps, widths)
    left = min(x - widths.get(i, 0) / 2 for i, x in xs.items())
    xs = {i: x - left for i, x in xs.items()}
    ys, tops, bottom = _heights(order, sizes)
    centres = tuple((round(xs[i]), ys[rows[i]]) for i in range(len(sizes)))
    paths = []
    for chain in chains:
        (x, y), (end_x, end_y) = centres[chain[0]], centres[chain[-1]]
        start = (x, y + sizes[chain[0]][1] // 2)
        end = (end_x, end_y - sizes[chain[-1]][1] // 2)
        inner = [(round(xs[i]), y) for i in chain[1:-1] for y in tops[rows[i]]]
        paths.append((start, *inner, end))
    width = max(x + widths.get(i, 0) / 2 for i, x in xs.items())
    return BoxLayout(centres, tuple(paths), round(width), bottom)


def _rows(count: int, arrows: Arrows) -> dict[int, int]:
    """Return the row of each box: below its predecessors, and near to its successors."""
    above, below = grouped((end, start) for start, end in arrows), grouped(arrows)
    rows = dict.fromkeys(range(count), 0)
    for box in TopologicalSorter(above).static_order():
        rows[box] = max((rows[start] + 1 for start in above.get(box, ())), default=0)
    for box, ends in below.items():
        if box not in above:
            rows[box] = min(rows[end] for end in ends) - 1
    return rows


def _chains(rows: dict[int, int], arrows: Arrows, first: int) -> list[list[int]]:
    """Return each arrow as boxes and points, one in each row; points are numbered after boxes."""
    chains, number = [], first
    for start, end in arrows:
        chain = [start]
        for row in range(rows[start] + 1, rows[end]):
            rows[number] = row
            chain.append(number)
            number += 1
        chains.append([*chain, end])
    return chains


def _ordered(rows: dict[int, int], steps: Arrows) -> list[list[int]]:
    """Return the rows, each in an order in which few arrows cross."""
    above, below = grouped((end, start) for start, end in steps), grouped(steps)
    order: list[list[int]] = [[] for _ in range(max(rows.values()) + 1)]
    for i in sorted(rows):
        order[rows[i]].append(i)
    best, least = [list(row) for row in order], _crossings(order, below)
    for sweep in range(_SWEEPS):
        neighbours = below if sweep % 2 else above
        positions = {i: position for row in order for position, i in enumerate(row)}
        for row in reversed(order) if sweep % 2 else order:
            centre = {}
            for i in row:
                near = [positions[n] for n in neighbours.get(i, ())]
                centre[i] = sum(near) / len(near) if near else positions[i]
            row.sort(key=lambda i: (centre[i], positions[i]))
            positions.update({i: position for position, i in enumerate(row)})
        crossings = _crossings(order, below)
        if crossings < least:
            best, least = [list(row) for row in order], crossings
    return best


def _crossings(order: list[list[int]], below: Mapping[int, list[int]]) -> int:
    count = 0
    for upper, lower in pairwise(order):
        positions = {i: position for position, i in enumerate(lower)}
        ends = [(a, positions[n]) for a, i in enumerate(upper) for n in below.get(i, ())]
        count += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(ends, 2))
    return count


def _placed(order: list[list[int]], steps: Arrows, widths: dict[int, int]) -> dict[int, float]:
    """Return the place of each box and point: near its neighbours, in order, without overlap."""
    near = grouped(pair for start, end in steps for pair in ((start, end), (end, start)))
    for i, others in near.items():  # an arrow over several rows is straight in between
        if i not in widths and any(n not in widths for n in others):
            near[i] = [n for n in others if n not in widths]
    xs: dict[int, float] = {}
    for row in order:
        x = 0.0
        for i in row:
            xs[i] = x + widths.get(i, 0) / 2
            x += widths.get(i, 0) + _GAP
    for sweep in range(_SWEEPS):
        for row in reversed(order) if sweep % 2 else order:
            wanted = [_mean(xs, near.get(i, ()), xs[i]) for i in row]
            apart = [(widths.get(a, 0) + widths.get(b, 0)) / 2 + _GAP for a, b in pairwise(row)]
            xs.update(zip(row, _nearest(wanted, apart), strict=True))
    return xs


def _mean(xs: dict[int, float], near: Sequence[int], otherwise: float) -> float:
    return sum(xs[n] for n in near) / len(near) if near else otherwise


def _nearest(wanted: Sequence[float], apart: Sequence[float]) -> list[float]:
    """Return the places nearest to those wanted, by squares, that keep the order and distances."""
    shift = list(accumulate(apart, initial=0.0))
    blocks: list[tuple[float, int]] = []  # the mean of several that lie together, and how many
    for want, by in zip(wanted, shift, strict=True):
        mean, count = want - by, 1
        while blocks and blocks[-1][0] > mean:
            other, others = blocks.pop()
            mean = (mean * count + other * others) / (count + others)
            count += others
        blocks.append((mean, count))
    positions = [mean for mean, count in blocks for _ in range(count)]
    return [position + by for position, by in zip(positions, shift, strict=True)]


def _heights(
    order: list[list[int]], sizes: Sequence[tuple[int, int]]
) -> tuple[list[int], list[tuple[int, int]], int]:
    """Return the middle of each row, its top and bottom, and the bottom of all."""
    middles, ends, y = [], [], 0
    for row in order:
        high = max((sizes[i][1] for i in row if i < len(sizes)), default=0)
        middles.append(y + high // 2)
        ends.append((y, y + high))
        y += high + _ROW_GAP
    return middles, ends, y - _ROW_GAP

"""Draws a transformer as SVG: the element of data to which each update is written, or that is read.

Updates are drawn on the left, data on the right, with a cell for each element. A cell of updates
shows its index. A cell of data shows the index of its last update, and how many more updates it
has. For a read, data are on the left, and a cell of the output shows the index that it reads. Each
slice that moves in one piece has a colour. If no slice does, the witness is outlined. The
background is transparent; the greys have the same contrast on white and dark pages.

The last two dims are a block of rows and columns. Blocks lie side by side along the dim before, and
rows of blocks one below the other along the dim before that, and so on in turn.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from onnx_scatterx.grouping import grouped
from onnx_scatterx.text.visible_text import as_html
from onnx_scatterx.theory.components import Affine, AffineModulo, Component, Constant, affine_text
from onnx_scatterx.theory.picks import Index, Pick, indices
from onnx_scatterx.theory.scattering import Gathering, Reduction, Scattering
from onnx_scatterx.theory.theorem import Impossibility, disjoint_representation, disseminated_slices
from onnx_scatterx.theory.transformer import XTransformer

MARGIN = 22  # pixels beside and above a block, for the numbers of rows and columns
HEADING = 18  # pixels above the margin, for the index of the block


@dataclass(frozen=True, slots=True)
class PixelGrid:
    """The places of the cells of a shape, in pixels from the grid's upper left corner.

    >>> grid = PixelGrid((2, 3), 30, 20)
    >>> grid.cell((1, 2)), grid.width, grid.height
    ((82, 42), 112, 62)
    >>> PixelGrid((2, 2, 3), 30, 20).block((1,))
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
        corner = [0, 0]
        for d, i in enumerate(outer):
            towards = (len(self.shape) - 3 - d) % 2
            corner[towards] += i * self._step(d)
        return corner[0], corner[1]

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
        """Return the pixels of the dims from ``first`` on, along x (0) or y (1)."""
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


MOST_CELLS = 1024
INK = "#797979"  # for captions and lines: contrast 4.3 on white and on #0d1117
TEXT = "#1b1b1b"  # for text on the colours below
WITNESS = "#d1495b"
PLAIN = "#b9c3cc"
COLOURS = ("#86bfea", "#f2b24c", "#7fd1a6", "#eb9cc8", "#efe06a", "#bba8ea", "#f29a80", "#6fd0d3")
_FONT, _LETTER, _LINE, _CELL = 13, 8, 20, 28
_BETWEEN, _EDGE = 64, 12


class Drawing(str):
    """SVG text, which a notebook shows as a drawing."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def picture(subject: XTransformer | Scattering | Gathering) -> Drawing:
    """Draw a transformer, or the scattering or gathering that has it, as SVG text.

    Raises ValueError if an update is out of bounds, or if there are more than 1024 elements.

    >>> rows = XTransformer((2, 2), (4, 2), [[3], [1]], Pick((0,)), Pick((1,)), Pick.identity(2))
    >>> print(picture(rows)[:38])
    <svg xmlns="http://www.w3.org/2000/svg
    """
    transformer = subject if isinstance(subject, XTransformer) else subject.transformer
    shape, data_shape = transformer.shape, transformer.data_shape
    cells = prod(shape) + prod(data_shape)
    if cells > MOST_CELLS:
        raise ValueError(f"{cells} elements are too many for a picture, at most {MOST_CELLS}")
    transformer.check_bounds()
    form = disjoint_representation(transformer)
    fills = dict.fromkeys(indices(shape), PLAIN)
    marked: frozenset[Index] = frozenset()
    if isinstance(form, Impossibility):
        marked = frozenset(i for o in form.witness for i in (*o.at, *(o.apart or ())))
    else:
        for number, piece in enumerate(disseminated_slices(form)):
            fills |= dict.fromkeys(piece.source, COLOURS[number % len(COLOURS)])
    arriving = grouped((transformer(index), index) for index in fills)
    met = {k: fills[come[-1]] for k, come in arriving.items()}
    marked_data = frozenset(k for k, come in arriving.items() if marked.intersection(come))
    captions = list(_captions(transformer, form))
    if isinstance(subject, Gathering):
        read = {i: _name(transformer(i), data_shape) for i in fills}
        data = _Drawn("data", data_shape, {k: _name(k, data_shape) for k in met}, met, marked_data)
        others = (text.replace("update", "element") for text in captions[1:])
        captions = [f"output[I] = data[T(I)], {captions[0]}", *others]
        return Drawing(_picture(data, _Drawn("output", shape, read, fills, marked), captions))
    if isinstance(subject, Scattering) and subject.reduction is not Reduction.NONE:
        captions[1] += f", reduction {subject.reduction}"
    names = {i: _name(i, shape) for i in fills}
    landed = {k: _landed([names[i] for i in come]) for k, come in arriving.items()}
    updates = _Drawn("updates", shape, names, fills, marked)
    return Drawing(
        _picture(updates, _Drawn("data", data_shape, landed, met, marked_data), captions)
    )


class _Drawn:
    """One tensor: its grid, and the texts, the colours and the outlines of its cells."""

    def __init__(
        self,
        name: str,
        shape: Index,
        names: Mapping[Index, str],
        fills: Mapping[Index, str],
        marked: frozenset[Index],
    ) -> None:
        self.title = f"{name} {shape}"
        self.names, self.fills, self.marked = names, fills, marked
        letters = max(map(len, names.values()), default=1)
        self.grid = PixelGrid(shape, max(_CELL, letters * _LETTER + 8), _CELL)
        self.width = max(self.grid.width, len(self.title) * _LETTER)
        self.height = _LINE + self.grid.height

    def lines(self) -> Iterator[str]:
        yield _text(MARGIN, _FONT, self.title, INK)
        yield f'<g transform="translate(0 {_LINE})">'
        if 0 in self.grid.shape:
            yield _text(MARGIN, MARGIN + _FONT, "no elements", INK)
        else:
            for outer in self.grid.blocks():
                yield from self._numbers(outer)
            # Outlined cells are drawn last, so that no other cell covers an outline.
            for index in sorted(indices(self.grid.shape), key=self.marked.__contains__):
                yield from self._cell(index)
        yield "</g>"

    def _numbers(self, outer: Index) -> Iterator[str]:
        x, y = self.grid.block(outer)
        width, height = self.grid.cell_width, self.grid.cell_height
        if outer:
            yield _text(x + MARGIN, y + _FONT, f"[{', '.join(map(str, outer))}]", INK)
            y += HEADING
        rows, columns = self.grid.inner
        if len(self.grid.shape) > 0:
            for j in range(columns):
                yield _text(x + MARGIN + j * width + width // 2, y + 16, str(j), INK, "middle")
        if len(self.grid.shape) > 1:
            for i in range(rows):
                yield _text(x + MARGIN - 6, y + MARGIN + i * height + 19, str(i), INK, "end")

    def _cell(self, index: Index) -> Iterator[str]:
        x, y = self.grid.cell(index)
        width, height = self.grid.cell_width, self.grid.cell_height
        stroke = f'"{WITNESS}" stroke-width="3"' if index in self.marked else f'"{INK}"'
        yield (
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" '
            f'fill="{self.fills.get(index, "none")}" stroke={stroke}/>'
        )
        if index in self.names:
            yield _text(x + width // 2, y + 19, self.names[index], TEXT, "middle")


def _picture(left: _Drawn, right: _Drawn, captions: Sequence[str]) -> str:
    offset = _EDGE + left.width + _BETWEEN
    panels = max(left.height, right.height)
    first = _EDGE + panels + _LINE
    wide = max(offset + right.width, _EDGE + _LETTER * max(map(len, captions))) + _EDGE
    high = first + _LINE * len(captions)
    middle = _EDGE + _LINE + min(left.grid.height, right.grid.height) // 2 + MARGIN // 2
    start, end = _EDGE + left.width + 16, offset - 6
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" '
        f'viewBox="0 0 {wide} {high}" role="img">',
        f"<title>{as_html(captions[0])}</title>",
        f'<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{_FONT}">',
        f'<g transform="translate({_EDGE} {_EDGE})">',
        *left.lines(),
        "</g>",
        f'<g transform="translate({offset} {_EDGE})">',
        *right.lines(),
        "</g>",
        f'<path d="M{start} {middle} H{end} m-7 -5 l7 5 l-7 5" fill="none" stroke="{INK}" '
        'stroke-width="2"/>',
        *(_caption(first + _LINE * i, text) for i, text in enumerate(captions)),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _captions(transformer: XTransformer, form: XTransformer | Impossibility) -> Iterator[str]:
    components = map(formula, transformer.components)
    yield f"T(I) = ({', '.join(components)})"
    yield transformer.verdict().sliceability.value
    if isinstance(form, Impossibility):
        for text in str(form).splitlines():
            yield from textwrap.wrap(text, 76, subsequent_indent="    ")
    else:
        yield f"p1 = {_pick(form.p1)}, p2 = {_pick(form.p2)}, p = {_pick(form.p)}"


def formula(component: Component[int]) -> str:
    """Write a component of a transformer as a formula; f is a table.

    >>> formula(Affine(3, -1, 0)), formula(AffineModulo(8, 1, 2, 10)), formula(Constant(2))
    ('3 - I_0', '(8 + I_2) mod 10', '2')
    """
    match component:
        case Constant(value):
            return str(value)
        case Affine(start, step, dim):
            return affine_text(start, step, dim)
        case AffineModulo(start, step, dim, modulus):
            inner = affine_text(start, step, dim)
            return f"{inner if inner == f'I_{dim}' else f'({inner})'} mod {modulus}"
        case _:
            return f"f({', '.join(f'I_{d}' for d in component.dims)})"


def _pick(pick: Pick) -> str:
    return f"[{' '.join(map(str, pick))}]"


def _name(index: Index, shape: Index) -> str:
    return ("" if max(shape, default=0) <= 10 else ",").join(map(str, index)) or "()"


def _landed(names: Sequence[str]) -> str:
    return names[-1] if len(names) == 1 else f"{names[-1]} +{len(names) - 1}"


def _caption(y: int, whole: str) -> str:
    text = whole.lstrip()  # SVG does not draw spaces at the beginning of a text
    return _text(_EDGE + _LETTER * (len(whole) - len(text)), y, text, INK)


def _text(x: int, y: int, text: str, fill: str, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" fill="{fill}" text-anchor="{anchor}">{as_html(text)}</text>'

"""Tables and lines of plain text: without markup, and with every character visible.

A terminal gets them laid out within its width, in color. A pipe gets them as plain lines, with tabs
between the cells.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from onnx_scatterx.text import as_json, in_lines, middle, visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

_WIDTH = 120  # of a table that is text, without a terminal


class ShownInTables:
    """A base of results that are shown as tables and lines: on a terminal, in a pipe, as text."""

    def shown(self) -> TextTable | Group:
        """Return all that a user reads."""
        raise NotImplementedError

    def plain(self) -> str:
        """Return it as lines, with tabs between the cells of its tables."""
        return self.shown().plain()

    def to_json(self) -> str:
        """Return all of it, and what is not shown, as JSON text."""
        return as_json(self)

    def __rich__(self) -> TextTable | Group:
        return self.shown()

    def __str__(self) -> str:
        return text_of(self.shown())


@dataclass(frozen=True)
class TextTable:
    r"""A table of texts. In ``names`` columns a long text loses its middle; others wrap.

    The columns in ``numbers`` are aligned to the right. ``styles`` are those of the last cell of
    each row, in the words of rich. The ``legend`` stands below, for people only.

    >>> table = TextTable("a [b]title[/b]", ["name", "ms"], [["[red]x", "1"]], numbers=["ms"])
    >>> print(text_of(table))
    a [b]title[/b]
    ┏━━━━━━━━┳━━━━┓
    ┃ name   ┃ ms ┃
    ┡━━━━━━━━╇━━━━┩
    │ [red]x │  1 │
    └────────┴────┘
    >>> print(table.plain().replace("\t", "|"))
    a [b]title[/b]
    name|ms
    [red]x|1
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[str] = ()
    names: Sequence[str] = ()
    styles: Sequence[str] = ()
    legend: Sequence[str] = ()

    def plain(self) -> str:
        """Return the title and the rows as lines, with tabs between cells."""
        rows = (self.columns, *self.rows)
        lines = "\n".join("\t".join(map(visible, row)) for row in rows)
        return f"{visible(self.title)}\n{lines}" if self.title else lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        borders = 3 * len(self.columns) + 1
        sizes = widths(self.columns, self.rows, self.names, options.max_width - borders)
        if self.title:
            yield _wrapped(self.title, options.max_width)
        if sizes is None:  # too narrow for columns
            for row, style in zip(self.rows, self._styles(), strict=True):
                yield from self._record(row, style, options.max_width)
        else:
            yield self._drawn(sizes)
        for line in self.legend:
            yield _wrapped(line, options.max_width, "dim")

    def _drawn(self, sizes: Sequence[int]) -> RenderableType:
        from rich.table import Table as RichTable
        from rich.text import Text

        # As Text, since rich takes brackets in a plain str for markup.
        made = RichTable()
        for column, width in zip(self.columns, sizes, strict=True):
            justify: Literal["left", "right"] = "right" if column in self.numbers else "left"
            heading = Text(visible(column))
            made.add_column(heading, justify=justify, overflow="fold", width=width)
        for row, style in zip(self.rows, self._styles(), strict=True):
            cells = [Text(self._cell(*cell)) for cell in zip(self.columns, row, sizes, strict=True)]
            cells[-1].stylize(style)
            made.add_row(*cells)
        return made

    def _styles(self) -> Sequence[str]:
        return self.styles or [""] * len(self.rows)

    def _cell(self, column: str, cell: str, width: int) -> str:
        return middle(visible(cell), width) if column in self.names else visible(cell)

    def _record(self, row: Sequence[str], style: str, width: int) -> Iterable[RenderableType]:
        """Draw a row of a table that is too wide, with a line for each cell."""
        from rich.text import Text

        (_, first), *rest = zip(self.columns, row, strict=True)
        yield Text(middle(visible(first), width), style="bold")
        for number, (column, cell) in enumerate(rest, 2):
            if cell:
                text = Text(f"  {visible(column)}: {visible(cell)}")
                if number == len(row):
                    text.stylize(style, len(visible(column)) + 4)
                yield text


@dataclass(frozen=True)
class Group:
    """Tables and lines below each other; the lines in ``bold`` stand out."""

    parts: Sequence[TextTable | str]
    bold: Collection[str] = ()

    def plain(self) -> str:
        """Return all of it as lines, without legends."""
        return "\n".join(p.plain() if isinstance(p, TextTable) else visible(p) for p in self.parts)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in self.parts:
            if isinstance(part, str):
                yield _wrapped(part, options.max_width, "bold" if part in self.bold else "")
            else:
                yield part


def _wrapped(line: str, width: int, style: str = "") -> RenderableType:
    """Return a line for a terminal; what does not fit is indented by two letters more."""
    from rich.text import Text

    text = visible(line)
    # A command is pasted, so it must be one line: only the terminal may break it.
    if text.lstrip().startswith("onnx-scatterx "):
        return Text(text, no_wrap=True, overflow="ignore", style=style)
    lead = text[: len(text) - len(text.lstrip())]
    rest = f"{lead}  " if 2 * len(lead) < width else ""
    lines = textwrap.wrap(text, width, subsequent_indent=rest, break_on_hyphens=False)
    return Text("\n".join(lines), style=style)


def text_of(renderable: TextTable | Group) -> str:
    """Return tables and lines as plain text; tables are at most as wide as the terminal."""
    if isinstance(renderable, Group):
        parts = (text_of(p) if isinstance(p, TextTable) else visible(p) for p in renderable.parts)
        return "\n".join(parts)
    if isinstance(renderable, TextTable) and renderable.title:
        return f"{visible(renderable.title)}\n{text_of(replace(renderable, title=''))}"
    from rich.console import Console

    width = shutil.get_terminal_size((_WIDTH, 0)).columns
    text = laid_out(renderable, Console(width=width, color_system=None)).removesuffix("\n")
    return in_lines(line.rstrip() for line in text.split("\n"))


def laid_out(renderable: object, console: Console) -> str:
    """Return the text that a console would print, with its colors."""
    with console.capture() as capture:
        console.print(renderable, crop=False)
    return capture.get()


_NAME = 16  # letters of a name that are always shown
_WORD = 18  # letters of a word that are never broken


def widths(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    names: Collection[str],
    room: int,
) -> list[int] | None:
    """Return a width for each column, at most ``room`` together; None if there is too little room.

    A column of names gets at least 16 letters, and any other one its longest word. The columns that
    need more share the rest. Each gets at most the width that it needs.

    >>> widths(["node", "what is done"], [["n" * 40, "removed by Slice"]], ["node"], 40)
    [25, 15]
    >>> widths(["node", "what is done"], [["n" * 40, "removed by Slice"]], ["node"], 20) is None
    True
    """
    wanted, least = [], []
    for index, column in enumerate(columns):
        cells = [column, *(row[index] for row in rows)]
        longest = max(map(len, cells))
        words = max(len(word) for cell in cells for word in (cell.split() or [""]))
        wanted.append(longest)
        least.append(min(longest, _NAME) if column in names else min(words, _WORD, longest))
    spare = room - sum(least)
    if spare < 0:
        return None
    assigned = list(least)
    waiting = sorted(range(len(assigned)), key=lambda index: wanted[index] - least[index])
    for served, index in enumerate(waiting):
        share = min(wanted[index] - least[index], spare // (len(waiting) - served))
        assigned[index] += share
        spare -= share
    return assigned

"""Tables and lines for rich, from text that is only text: no markup, and every character seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from onnx_scatterx.text.visible import in_lines, visible

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.console import Group as Group
    from rich.table import Table as Table

_WIDTH = 120  # of a table that is text


def table(
    title: str,
    columns: Iterable[str],
    rows: Iterable[Iterable[str]],
    *,
    numbers: Sequence[str] = (),
) -> Table:
    """Return a table of texts; the columns that are ``numbers`` stand to the right.

    >>> print(text_of(table("a [b]title[/b]", ["name", "ms"], [["[red]x", "1"]], numbers=["ms"])))
    a [b]title[/b]
    ┏━━━━━━━━┳━━━━┓
    ┃ name   ┃ ms ┃
    ┡━━━━━━━━╇━━━━┩
    │ [red]x │  1 │
    └────────┴────┘
    """
    from rich.table import Table
    from rich.text import Text

    # As Text, since rich takes brackets in a plain str for markup.
    made = Table(title=Text(visible(title)), title_justify="left")
    for column in columns:
        heading = Text(visible(column))
        made.add_column(heading, justify="right" if column in numbers else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text(visible(cell)) for cell in row))
    return made


def group(*parts: Table | str) -> Group:
    """Return tables and lines below each other."""
    from rich.console import Group
    from rich.text import Text

    return Group(*(Text(visible(part)) if isinstance(part, str) else part for part in parts))


def text_of(renderable: RenderableType) -> str:
    """Return what rich draws as lines of plain text."""
    from rich.console import Console

    text = drawn(renderable, Console(width=_WIDTH, color_system=None)).removesuffix("\n")
    return in_lines(line.rstrip() for line in text.split("\n"))


def drawn(renderable: RenderableType, console: Console) -> str:
    """Return what a console would print, with its colors."""
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()

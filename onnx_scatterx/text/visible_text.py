"""Makes every character of a text visible, for people.

Names come from models, files and arguments, and may have any characters: an escape sequence that
clears a terminal, a line break that forges a line of a report, a mark that reverses the text after
it. All text that is printed, raised or written to a page passes through a function of this module.
Programs get the true names, as JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from html import escape
from typing import Any

_BYTES = range(0xDC80, 0xDD00)  # for bytes of a file name that are not UTF-8, as Python decodes


def visible(text: object) -> str:
    r"""Return a text as one line: each invisible character is written as Python escapes it.

    A character is invisible if `str.isprintable` is false for it: control characters, separators of
    lines, marks of direction, lone surrogates. A text of visible characters does not change.

    >>> import os
    >>> print(visible("a\x1b[2J\nb\u202e"), visible(os.fsdecode(b"\xff.onnx")))
    a\x1b[2J\nb\u202e \xff.onnx
    """
    line = str(text)
    return line if line.isprintable() else "".join(map(_escaped, line))


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    if ord(character) in _BYTES:
        return f"\\x{ord(character) - 0xDC00:x}"
    return repr(character)[1:-1]


def in_lines(lines: Iterable[object]) -> str:
    """Return lines as one text, in which each given line is one line."""
    return "\n".join(map(visible, lines))


def middle(text: str, width: int, mark: str = "…") -> str:
    """Return a text; if it is too long, without its middle, because the ends of a name matter most.

    >>> middle("/model/encoder/layers.0/ScatterND", 20)
    '/model/en…/ScatterND'
    >>> middle("short", 20), middle("abc", 1), middle("abc", 2)
    ('short', '…', '…c')
    """
    if len(text) <= width:
        return text
    kept = max(width - len(mark), 0)
    return f"{text[: kept // 2]}{mark}{text[len(text) - (kept - kept // 2) :] if kept else ''}"


def shortened(text: str) -> str:
    """Return a text of at most 200 characters, because the formula of a size may be very long.

    >>> len(shortened("n + " * 999)), shortened("n + 1")
    (200, 'n + 1')
    """
    return middle(text, 200, " ... ")


def as_html(text: object) -> str:
    r"""Return a line of text for a page of HTML or a drawing.

    >>> print(as_html("<b>\x1b[2J\nsecond"))
    &lt;b&gt;\x1b[2J\nsecond
    """
    return escape(visible(text))


def as_json(content: object) -> str:
    r"""Return plain data as JSON, with all names unchanged, in visible characters.

    JSON has no number for infinity and NaN; they are texts.

    >>> print(as_json(["a\x7f\x1b", float("inf")]))
    [
      "a\u007f\u001b",
      "inf"
    ]
    """
    text = json.dumps(plain(content), indent=2, allow_nan=False)
    return text.replace("\x7f", "\\u007f")


def plain(value: Any) -> Any:
    """Return a value as data that JSON has: numbers, texts, lists, and dicts with texts as keys.

    A dataclass becomes the dict of its fields, or the result of its ``to_dict``. An enum becomes
    its name.

    >>> from pathlib import Path
    >>> plain([(1, float("nan")), {2: Path("a.onnx")}, {"y", "x"}])
    [[1, 'nan'], {'2': 'a.onnx'}, ['x', 'y']]
    """
    if isinstance(value, Enum) and not isinstance(value, int | str):
        return value.name.lower()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return plain_fields(value, " ".join(each.name for each in fields(value)))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = map(plain, value)
        return list(items) if isinstance(value, list | tuple) else sorted(items)
    if value is None or isinstance(value, int | str):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)


def plain_fields(subject: object, names: str) -> dict[str, Any]:
    """Return attributes of an object as plain data. ``names`` has spaces between the names."""
    return {name: plain(getattr(subject, name)) for name in names.split()}

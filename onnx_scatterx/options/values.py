"""Reads the values of options from their texts. If a text is wrong, the error is one line."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable

Sizes = int | tuple[int, ...]
_SEVERAL = re.compile(r"=\s*\d+\s*,")  # a size, and a comma: another size follows


def count(text: str) -> int:
    """Return a whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def above_zero(text: str) -> float:
    """Return a finite number above 0.

    >>> above_zero("2.5")
    2.5
    """
    return _number(text, "a number above 0", lambda number: 0 < number < math.inf)


def from_zero(text: str) -> float:
    """Return a finite number from 0 on.

    >>> from_zero("1e-3")
    0.001
    """
    return _number(text, "a number from 0 on", lambda number: 0 <= number < math.inf)


def _number(text: str, what: str, holds: Callable[[float], bool]) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not holds(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return number


def named_size(text: str) -> tuple[str, int]:
    """Split a size into its name and its value.

    >>> named_size("batch=8")
    ('batch', 8)
    """
    name, _, number = text.partition("=")
    if not name.strip() or not number.strip().isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not like 'batch=8'")
    return name.strip(), int(number)


def fixed_size(text: str) -> tuple[str, Sizes]:
    """Split the text of a fixed size into its name, and a number or a shape.

    >>> fixed_size("batch=8"), fixed_size("x:1,3,224"), fixed_size("in:0:2")
    (('batch', 8), ('x', (1, 3, 224)), ('in:0', (2,)))
    """
    name, _, number = text.rpartition("=")
    if name.strip() and number.strip().isdecimal() and not _SEVERAL.search(name):
        return name.strip(), int(number)
    name, _, shape = text.rpartition(":")
    dims = [dim.strip() for dim in shape.split(",")]
    if not name.strip() or not all(dim.isdecimal() for dim in dims):
        several = "; write --fix before each size" if text.count("=") > 1 else ""
        raise argparse.ArgumentTypeError(
            f"{text!r} is not like 'batch=4' or 'x:1,3,224,224'{several}"
        )
    return name.strip(), tuple(map(int, dims))


def listed_names(text: str) -> list[str]:
    """Split a text into names, without repetitions. Only the path of a file .py may have blanks.

    >>> listed_names("view, concat, view")
    ['view', 'concat']
    """
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} is not like 'A,B'")
    for name in names:
        words = name.split()
        if len(words) > 1 and not name.endswith(".py"):
            raise argparse.ArgumentTypeError(
                f"{name!r} has a blank; names are separated by commas: '{', '.join(words)}'"
            )
    return list(dict.fromkeys(names))

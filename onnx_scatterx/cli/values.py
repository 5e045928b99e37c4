"""The values that options take: each is read from its text, or refused in a line."""

from __future__ import annotations

import argparse
import math
import os

_MOST_THREADS = 1024  # more are a slip, and starting them takes minutes


def count(text: str) -> int:
    """Return a number that starts at 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return number


def effort(text: str) -> float:
    """Return a number above 0.

    >>> effort("4")
    4.0
    """
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def duration(text: str) -> float:
    """Return a number of seconds above 0.

    >>> duration("2.5")
    2.5
    """
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds


def tolerance(text: str) -> float:
    """Return a number from 0 on.

    >>> tolerance("1e-3")
    0.001
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return number


def size(text: str) -> tuple[str, int]:
    """Split a size into its name and its value.

    >>> size("batch=8")
    ('batch', 8)
    """
    name, _, number = text.partition("=")
    if not name.strip() or not number.strip().isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not like 'batch=8'")
    return name.strip(), int(number)


def natural(text: str) -> int:
    """Return a number that starts at 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def thread_count(text: str) -> int:
    """Return a number of threads, if so many can be started."""
    if natural(text) > _MOST_THREADS:
        raise argparse.ArgumentTypeError(f"{text} threads are more than {_MOST_THREADS}")
    return int(text)


def rule_names(text: str) -> list[str]:
    """Split the names of rules.

    >>> rule_names("view, concat")
    ['view', 'concat']
    """
    return [name.strip() for name in text.split(",")]


def named_file(text: str) -> tuple[str | None, str]:
    """Split NAME=FILE.npy; a .npz or a directory needs no name.

    >>> named_file("x=a/x.npy"), named_file("all.npz")
    (('x', 'a/x.npy'), (None, 'all.npz'))
    """
    name, sign, file = text.partition("=")
    if sign and name and file:
        return name, file
    if sign or not (text.endswith(".npz") or os.path.isdir(text)):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not like NAME=FILE.npy or FILE.npz, and no directory"
        )
    return None, text

"""Reads the values of arguments that only commands have; a wrong text is an error of one line."""

from __future__ import annotations

import argparse
import os

_MOST_THREADS = 1024  # a larger number is a mistake: to start so many threads takes minutes


def natural(text: str) -> int:
    """Return a whole number from 0 on."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def thread_count(text: str) -> int:
    """Return a number of threads, at most ``_MOST_THREADS``."""
    if natural(text) > _MOST_THREADS:
        raise argparse.ArgumentTypeError(f"{text} threads are more than {_MOST_THREADS}")
    return int(text)


def named_file(text: str) -> tuple[str | None, str]:
    """Split NAME=FILE.npy into its name and file; a .npz or a directory needs no name.

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

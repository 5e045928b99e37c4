"""Texts of bearable length: a size may be a formula of any length."""

from __future__ import annotations

_SHOWN = 200  # characters


def shortened(text: str) -> str:
    """Return a text, without its middle if it is long.

    >>> len(shortened("n + " * 999)), shortened("n + 1")
    (200, 'n + 1')
    """
    if len(text) <= _SHOWN:
        return text
    half = (_SHOWN - 5) // 2
    return f"{text[: _SHOWN - 5 - half]} ... {text[-half:]}"

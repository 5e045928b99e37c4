"""Which known word was meant by one that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of an error message that names the nearest known word, or nothing.

    >>> did_you_mean("operater", ["operators", "avoid"]), did_you_mean("x", ["avoid"])
    ('; did you mean operators?', '')
    """
    by_lower = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean {by_lower[found[0]]}?" if found else ""

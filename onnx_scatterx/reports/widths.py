"""How wide the columns of a table are on a terminal, and how long names are shortened."""

from __future__ import annotations

from collections.abc import Collection, Sequence

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
    for place, column in enumerate(columns):
        cells = [column, *(row[place] for row in rows)]
        longest = max(map(len, cells))
        words = max(len(word) for cell in cells for word in (cell.split() or [""]))
        wanted.append(longest)
        least.append(min(longest, _NAME) if column in names else min(words, _WORD, longest))
    spare = room - sum(least)
    if spare < 0:
        return None
    found = list(least)
    waiting = sorted(range(len(found)), key=lambda place: wanted[place] - least[place])
    for served, place in enumerate(waiting):
        share = min(wanted[place] - least[place], spare // (len(waiting) - served))
        found[place] += share
        spare -= share
    return found

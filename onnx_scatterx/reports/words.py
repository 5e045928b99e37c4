"""The words of the table of a report: their meanings, and their colors on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from onnx_scatterx.reports.entries import Action, Entry

STYLES = {
    Action.REMOVED: "green",
    Action.DEAD: "green",
    Action.NATIVE: "bold yellow",
    Action.KEPT: "bold red",
}
"""The color of each action, in the words of rich."""

_VERDICTS = {
    "sliceable": "the updates move as whole slices",
    "weakly sliceable": "some dims of the updates move as whole slices",
    "not sliceable": "each element has its own place, and another form than slices is needed",
}
_TOUCHES = {
    "by the indices": "the elements are known only at run time",
    "?": "the node is not understood",
}


def legend(entries: Iterable[Entry]) -> list[str]:
    r"""Return the meanings of the words of a table, in one line; empty if no word needs one.

    >>> from onnx_scatterx.reports.entries import GatherReport
    >>> entry = GatherReport(node="n", op="Gather", graph="g", footprint="unknown",
    ...     verdict="not sliceable", action=Action.KEPT)
    >>> print(*legend([entry])[0].split("; "), sep="\n")
    by the indices: the elements are known only at run time
    not sliceable: each element has its own place, and another form than slices is needed
    """
    shown = list(entries)
    used = {entry.touches for entry in shown} | {entry.verdict for entry in shown}
    words = [f"{word}: {text}" for word, text in (_TOUCHES | _VERDICTS).items() if word in used]
    if any(entry.axes is not None and "[" in entry.footprint for entry in shown):
        words.append("[ ]: axes as before the Transpose in front of the node")
    return ["; ".join(words)] if words else []

"""One change for all nodes that some change removes, if it does what all of them do.

Every node has the change that asks the least of the user. All of these in one are tried, and then
without each argument. A change that was tried alone and removes all of the nodes may be enough.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import NamedTuple

from onnx_scatterx.tell.advice.change import Change, Found
from onnx_scatterx.tell.advice.price import largest
from onnx_scatterx.tell.advice.search import Search
from onnx_scatterx.tell.advice.trials import Key


class Together(NamedTuple):
    """A change that removes several nodes, each of which another change removes, too."""

    found: Found
    keys: frozenset[Key]


def together(search: Search) -> Together | None:
    """Return the change that removes the most of the nodes that some change removes.

    None if the nodes have one change in common that asks the least for each of them, or if none
    removes more of them than another one does for all its nodes.
    """
    nodes = search.ways.keys() - search.taken()
    least = {key: search.least(search.ways[key])[0].change for key in nodes}
    if len({change.statements for change in least.values()}) < 2:
        return None
    union = reduce(or_, (least[key] for key in sorted(nodes)))
    if union.statements not in search.tried:
        result = search.afforded(union)
        if result is not None:
            search.reduced(union, result, nodes)
    tried = [
        {key: gone[key] for key in sorted(nodes & gone.keys())} for gone in search.removed.values()
    ]
    return _of(min(filter(None, tried), key=lambda gone: (-len(gone), *_asks(_first(gone)))))


def _first(gone: dict[Key, Found]) -> Change:
    return next(iter(gone.values())).change


def _asks(change: Change) -> tuple[int, int]:
    return change.asks, len(change.statements)


def _of(gone: dict[Key, Found]) -> Together:
    prices = [found.price for found in gone.values() if found.price is not None]
    return Together(Found(_first(gone), (), largest(prices)), frozenset(gone))

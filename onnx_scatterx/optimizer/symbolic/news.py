"""Which facts are new to a question that was asked before, and when it is worth asking again.

While a graph is interpreted, nearly every node may teach a fact, and a large model has the same
sizes in each of its layers. So a question about them would be asked again after every node, nearly
always in vain. A fact about nothing but what the question is about is a reason to ask at once.
Other facts may answer it only together with more facts. After a few times, such a question waits
until twice as many facts are known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from onnx_scatterx.optimizer.symbolic.terms import Symbol, Term

_AT_ONCE = 3  # how often a question is asked in vain before it waits


@dataclass(slots=True)
class Asked:
    """That a question was asked: after how many facts, the price, and how often in vain before."""

    when: int
    price: int
    vain: int = 0
    seen: int = 0
    """How many facts were compared with the question while it waits."""


class News:
    """The facts about leaves, in the order in which they were learnt.

    >>> from onnx_scatterx.optimizer.symbolic.terms import size
    >>> n, m = size("n"), size("m")
    >>> news, asked = News(), Asked(0, 1, vain=9)
    >>> news.note(m.leaves(), m.leaves())
    >>> news.may_answer(n, asked), news.may_answer(n + m, asked)
    (False, True)
    """

    def __init__(self) -> None:
        self._leaves: list[frozenset[Symbol]] = []
        self._last: dict[Symbol, int] = {}

    @property
    def count(self) -> int:
        """How many facts there are."""
        return len(self._leaves)

    def note(self, leaves: frozenset[Symbol], related: Iterable[Symbol]) -> None:
        """Note a fact about leaves. It restricts related leaves through other facts."""
        self._leaves.append(leaves)
        self._last.update(dict.fromkeys(related, self.count))

    def may_answer(self, t: Term, asked: Asked) -> bool:
        """Return whether facts that were learnt since then are worth asking about a term again."""
        leaves = t.leaves()
        if not any(self._last.get(leaf, 0) > asked.when for leaf in leaves):
            return False
        if asked.vain < _AT_ONCE or self.count >= 2 * asked.when:
            return True
        new = self._leaves[max(asked.when, asked.seen) :]
        asked.seen = self.count
        return any(about <= leaves for about in new)

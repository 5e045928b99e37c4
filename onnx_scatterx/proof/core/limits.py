"""How much work one proof may take: steps in terms, and Z3's work in steps. Time is never measured.

A step is some 2.5 microseconds, in which Z3 does ``UNITS`` of its own units of work. So the steps
for all sizes are at most half a minute, or 1.2 ms for each node if this is more. Of a large model
without a proof it is about half of this, as its questions are ``UNANSWERED``: some three times what
an optimization takes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

FIRST, REST = 12_000_000, 24_000_000
"""The steps of a proof for all sizes, and of what follows if there is none: the search for reasons
and for a run that differs, and proofs for some sizes.
"""
LARGE = 25_000
"""The nodes of both models above which the limits grow with them."""
UNITS = 6
"""The units of Z3's work that cost a step."""
UNANSWERED = 6
"""By what the price of a question is multiplied in a proof for all sizes, if its limit ends it.

The layers of a model ask alike questions: if some have no answer, the others have none, either. A
proof that succeeds has answers to nearly all of its questions.
"""
QUESTION = 800
"""The steps that a question costs besides: Z3 is made anew for it."""


class ProofSpentError(Exception):
    """The steps of a proof are spent.

    It is no UnsupportedError, because nothing may go on after it with another question.
    """


def growth(nodes: int) -> float:
    """Return by what the limits of two models are multiplied because of the nodes of both.

    >>> growth(100), growth(2 * LARGE)
    (1.0, 2.0)
    """
    return max(1.0, nodes / LARGE)


def limit_reached(limit: str) -> str:
    """Return a sentence: a limit was reached, and how to raise it."""
    return f"the limit of {limit} was reached: --effort 4 allows four times as much"


@dataclass
class Account:
    """The steps that one proof may still take, in all its judgements together.

    They are unlimited until the models are read. ``rest`` are the steps of what follows the proof
    for all sizes, and ``in_vain`` what unanswered questions cost more before: if the proof ends
    without them, what follows has them.
    """

    left: float = math.inf
    rest: float = 0
    in_vain: int = 0

    def open(self, effort: float) -> None:
        """Give the steps of a proof, once."""
        if self.left == math.inf:
            self.left, self.rest = int(effort * FIRST), int(effort * REST)

    def go_on(self) -> None:
        """Give the steps of what follows the proof for all sizes."""
        self.left, self.rest = self.left + self.rest + self.in_vain, 0

    def charge_question(self, work: int, *, answered: bool) -> None:
        """Take the steps of a question to Z3."""
        more = 0 if answered or not self.rest else (UNANSWERED - 1) * work // UNITS
        self.in_vain += more
        self.charge(QUESTION + work // UNITS + more)

    def charge(self, count: int) -> None:
        """Take some steps; ProofSpentError if fewer are left."""
        self.left -= count
        if self.left < 0:
            raise ProofSpentError(limit_reached("work for a proof"))

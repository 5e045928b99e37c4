"""Budgets: how many steps may be spent on one question to the prover, and on one model.

The cost of a question depends only on the question and on the known facts: intermediate results are
forgotten when it ends, and a remembered result costs as much as the first time. The cost of a model
is counted from its own beginning. So neither depends on the machine, on the order of hashes, or on
what the process did before.

If the steps of a question are spent, the answer is "unknown", and must not be remembered. If the
steps of a model are spent, ``SpentError`` ends all planning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from onnx_scatterx.symbolic.limits import LIMITS


class LimitError(Exception):
    """A limit is reached: the result is unknown."""


class TooLargeError(LimitError):
    """A term would be too large."""


class QuestionSpentError(LimitError):
    """The steps of a question are spent."""


class SpentError(LimitError):
    """The steps of a model are spent: its analysis ends."""


class Budget:
    """The steps that remain for a model, and for the open question.

    ``memo`` holds the results during this question. ``unanswered`` counts the questions that were
    given up.
    """

    __slots__ = ("given", "memo", "question", "steps", "unanswered")

    def __init__(self, steps: float) -> None:
        self.given = self.steps = steps
        self.question = math.inf  # no question is open
        self.memo: dict[Any, Any] = {}
        self.unanswered = 0

    def charge(self, steps: int) -> None:
        """Take steps from the model, and from the open question."""
        self.work(steps)
        self.question -= steps
        if self.question < 0:
            raise QuestionSpentError

    def work(self, steps: int) -> None:
        """Take steps from the model alone: for results that outlive the question."""
        self.steps -= steps
        if self.steps < 0:
            raise SpentError(f"{self.given:.0f} steps")

    def ask(self, question: Callable[[], bool]) -> bool | None:
        """Return the answer to a question, or None if its steps are spent.

        A question within another one is part of it.
        """
        if self.question < math.inf:
            return question()
        self.question = LIMITS.question_steps
        try:
            return question()
        except (QuestionSpentError, TooLargeError):
            self.unanswered += 1
            return None
        finally:
            self.question = math.inf
            self.memo.clear()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Do work whose result outlives the open question, and so is not charged to it."""
        question, self.question = self.question, math.inf
        try:
            yield
        finally:
            self.question = question

    @contextmanager
    def share(self, part: float) -> Iterator[Budget]:
        """Use a part of the remaining steps: if it is spent, the rest still remains."""
        with own_budget(self.steps * part) as own:
            own.given = self.given
            given = own.steps
            try:
                yield own
            finally:
                self.unanswered += own.unanswered
                if given < math.inf:
                    self.steps -= given - max(own.steps, 0)


_budget: ContextVar[Budget] = ContextVar("budget")


def budget() -> Budget:
    """Return the present budget; outside a model only questions have a limit."""
    found = _budget.get(None)
    if found is None:
        found = Budget(math.inf)
        _budget.set(found)
    return found


@contextmanager
def own_budget(steps: float = math.inf) -> Iterator[Budget]:
    """Use a new budget; afterwards the former one is used again.

    Writing a plan has no limit, since half of a plan would be wrong.

    >>> with own_budget(10) as own:
    ...     budget() is own, own.steps
    (True, 10)
    """
    made = Budget(steps)
    token = _budget.set(made)
    try:
        yield made
    finally:
        _budget.reset(token)

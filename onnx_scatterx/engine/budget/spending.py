"""Budgets: the steps of a question, of a part of the work and of a command.

A step is a price (``limits``), not a time, and the cost of a question depends only on the question
and on the known facts. So what is found does not depend on the machine, on the order of hashes, or
on what the process did before. If the answer of a question is remembered, it costs the part that
asks again as much as the first time, and the command nothing.

If the steps of a question are spent, the answer is "unknown". If those of a part are spent, such as
a scatter, that scatter is kept. If those of the command are spent, the rest of the model is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from onnx_scatterx.engine.budget.limits import LIMITS
from onnx_scatterx.text import Reason, Refusal

T = TypeVar("T")


class LimitError(Exception):
    """A limit is reached: the result is unknown."""


class TooLargeError(LimitError):
    """A term would be too large."""


class QuestionSpentError(LimitError):
    """The steps of a question are spent."""


class PartSpentError(LimitError):
    """The steps of a part of the work are spent, such as those of a scatter."""


class SpentError(LimitError):
    """The steps of the command are spent."""


class Budget:
    """The steps that remain for a command, for the open part and for the open question.

    ``memo`` holds the results during this question. ``unanswered`` counts the questions that were
    given up. ``price`` counts what all parts had to pay: it does not depend on what is remembered.
    """

    __slots__ = (
        "limit",
        "memo",
        "part",
        "part_limit",
        "price",
        "question",
        "steps",
        "unanswered",
    )

    def __init__(self, steps: float) -> None:
        self.limit = self.steps = steps
        self.part = self.part_limit = math.inf  # no part is open
        self.question = math.inf  # no question is open
        self.memo: dict[Any, Any] = {}
        self.unanswered = 0
        self.price = 0

    @property
    def is_spent(self) -> bool:
        """Whether the steps of the command are spent."""
        return self.steps < 0

    def charge_question(self, steps: int) -> None:
        """Take steps from the open question, the open part and the command."""
        self.charge_part(steps)
        self._ask_for(steps)

    def charge_part(self, steps: int) -> None:
        """Take steps from the open part and the command, but not from the question."""
        self.steps -= steps  # as below, without calls: this is asked most of all
        if self.steps < 0:
            raise SpentError
        self.price += steps
        self.part -= steps
        if self.part < 0:
            raise PartSpentError(f"{self.part_limit:.0f} steps")

    def charge_command(self, steps: int) -> None:
        """Take steps from the command alone, for results that are used after the part has ended."""
        self.steps -= steps
        if self.steps < 0:
            raise SpentError

    def recall(self, price: int) -> None:
        """Take the price of a remembered result; the command paid for it before."""
        self._pay(price)
        self._ask_for(price)

    def _pay(self, steps: int) -> None:
        self.price += steps
        self.part -= steps
        if self.part < 0:
            raise PartSpentError(f"{self.part_limit:.0f} steps")

    def _ask_for(self, steps: int) -> None:
        self.question -= steps
        if self.question < 0:
            raise QuestionSpentError

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
        """Do work that the open question and part do not pay for: its result is used after them."""
        before = self.question, self.part, self.price
        self.question = self.part = math.inf
        try:
            yield
        finally:
            self.question, self.part, self.price = before

    def of_part(self, steps: float) -> _Part:
        """Do a part of the work that may take so many steps. A part within it pays for itself."""
        return _Part(self, steps)

    @contextmanager
    def share(self, fraction: float) -> Iterator[None]:
        """Use a fraction of the remaining steps: if it is spent, the rest still remains."""
        before = self.steps
        self.steps = shared = max(before, 0) * fraction
        try:
            yield
        finally:
            if before < math.inf:
                self.steps += before - shared

    def refusal(self, error: Exception) -> Refusal:
        """Return why a scatter is kept whose part ended with a LimitError or RecursionError."""
        if isinstance(error, SpentError):
            return Refusal(Reason.MODEL_LIMIT, f"{self.limit:.0f} steps; --effort 4 allows more")
        return Refusal(Reason.SCATTER_LIMIT, str(error))


class _Part:
    """A part of the work. It is a class since each node of a model is one: a generator is slow."""

    __slots__ = ("before", "spending", "steps")

    def __init__(self, spending: Budget, steps: float) -> None:
        self.spending, self.steps = spending, steps

    def __enter__(self) -> None:
        spending = self.spending
        self.before = spending.part, spending.part_limit, spending.price
        spending.part = spending.part_limit = self.steps

    def __exit__(self, *_: object) -> None:
        self.spending.part, self.spending.part_limit, self.spending.price = self.before


_budget: ContextVar[Budget] = ContextVar("budget")


def budget() -> Budget:
    """Return the present budget; outside a command only questions have a limit."""
    present = _budget.get(None)
    if present is None:
        present = Budget(math.inf)
        _budget.set(present)
    return present


@contextmanager
def of_command(steps: Callable[[], float]) -> Iterator[Budget]:
    """Use the budget of the command, which is made here of so many ``steps`` if there is none.

    >>> with of_command(lambda: 10) as first:
    ...     first.charge_question(4)
    ...     with of_command(lambda: 10) as second:
    ...         second.steps
    6
    """
    present = _budget.get(None)
    if present is not None and present.limit < math.inf:
        yield present
    else:
        with own_budget(steps()) as made:
            yield made


def of_scatter(compute: Callable[[], T], price: int = 0) -> T | Refusal:
    """Return the result of some work, or a refusal if it takes more steps than a scatter may.

    ``price`` are steps that it takes at least.
    """
    spending = budget()
    try:
        with spending.of_part(LIMITS.scatter_steps):
            if price:
                spending.charge_part(price)
            return compute()
    except (LimitError, RecursionError) as error:
        return spending.refusal(error)


def within_limits(compute: Callable[[], T | None], otherwise: T | None = None) -> T | None:
    """Return the result of some work, or another if it takes more steps than a scatter may."""
    result = of_scatter(compute)
    return otherwise if isinstance(result, Refusal) else result


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

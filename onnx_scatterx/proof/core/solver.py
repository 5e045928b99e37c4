"""Asks Z3 questions, each with a limit on the work that it may take.

Each question has a context and a solver of its own, with a fixed seed, and all limits count Z3's
units of work. So an answer does not depend on the machine, on its load, or on other questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import z3

from onnx_scatterx.proof.core.encoder import Encoder
from onnx_scatterx.proof.core.logic import FALSE, TRUE, negation
from onnx_scatterx.proof.core.terms import Term, present_table, walk
from onnx_scatterx.proof.core.witnesses import Witnesses, coordinates

Status = Literal["proven", "refuted", "limit", "possible", "impossible"]
_OF_FACTS: dict[Status, Status] = {
    "proven": "impossible",  # that not all facts hold
    "refuted": "possible",
    "limit": "limit",
}

QUICK, FULL, PAIR, ALL = 400_000, 4_000_000, 8_000_000, 40_000_000
"""The most units of Z3's work: for a question along the way, for a question that decides, for a
pair of values that are guessed to be the same, and for a pair of models.
"""
ALL_WORK = "Z3's work for all questions"
_LARGEST = 2**32 - 1  # the largest limit that Z3 takes
_MEMORY = 4096  # MB that Z3 may use for a question


@dataclass
class Model:
    """Values of all unknowns, as Z3 found them."""

    model: Any
    encode: Encoder

    def value(self, term: Term) -> Any:
        """Return the value of a term."""
        value = self.model.eval(self.encode(term), model_completion=True)
        if term.sort == "condition":
            return z3.is_true(value)
        return value.as_long() if term.sort == "integer" else value


@dataclass
class Decision:
    """Z3's answer to a question.

    ``status`` is "proven" or "refuted" for a statement, "possible" or "impossible" for facts, or
    "limit", with the name of the ``limit``. "refuted" and "possible" may have a ``model``.
    """

    status: Status
    model: Model | None = None
    limit: str = ""


@dataclass
class Solver:
    """The facts, and questions whether statements follow from them."""

    witnesses: Witnesses = field(default_factory=Witnesses)
    facts: dict[Term, None] = field(default_factory=dict)
    effort: float = 1
    budget: int = ALL
    spent: int = 0
    asked: int = 0
    collecting: bool = False
    _anchors: dict[Term, frozenset[Term]] = field(default_factory=dict)

    @property
    def is_spent(self) -> bool:
        """Whether no question can be asked any more."""
        return self.spent >= self.budget

    def assume(self, fact: Term) -> None:
        """Add a statement to the facts."""
        for part in fact.args if fact.op == "and" else (fact,):
            if part is not TRUE:
                assert not coordinates(part), "a coordinate is not a single point"
                self.facts[part] = None

    def follows(self, goal: Term, hypotheses: Sequence[Term] = (), quick: bool = False) -> bool:
        """Return whether a statement is known to follow."""
        return self.ask(goal, hypotheses, quick).status == "proven"

    def ask(
        self,
        goal: Term,
        hypotheses: Sequence[Term] = (),
        quick: bool = False,
    ) -> Decision:
        """Ask whether a statement follows from the facts and the hypotheses."""
        if goal is TRUE:
            return Decision("proven")
        if goal in self.facts or goal in hypotheses:
            return Decision("proven")
        return self._check([*hypotheses, negation(goal)], quick)

    def against(self, goal: Term, wanted: Sequence[Term]) -> Decision:
        """Ask for a counterexample to a statement under all facts; "refuted" has it as a model."""
        return self._check([negation(goal), *wanted], False, everything=True)

    def satisfiable(self, wanted: Iterable[Term] = ()) -> Decision:
        """Ask whether all facts, and the wanted statements, can hold at once."""
        answer = self._check(list(wanted), False, everything=True)
        return replace(answer, status=_OF_FACTS[answer.status])

    def _check(self, roots: list[Term], quick: bool, everything: bool = False) -> Decision:
        if any(r is FALSE for r in roots):
            return Decision("proven")
        left = self.budget - self.spent
        if left <= 0:
            return Decision("limit", limit=ALL_WORK)
        facts = list(self.facts) if everything else self._relevant(roots)
        self.collecting = True
        try:
            added = self.witnesses.facts_for([*roots, *facts])
        finally:
            self.collecting = False
        if FALSE in added or FALSE in facts:
            return Decision("proven")
        encode = Encoder()
        solver = z3.SimpleSolver(ctx=encode.context)
        solver.set("random_seed", 0)
        own = int(self.effort * (QUICK if quick else FULL))
        solver.set("rlimit", min(own, left, _LARGEST))
        solver.set("max_memory", _MEMORY)
        encode.tell(solver, [*roots, *facts, *added])
        before = _work(solver)
        result = solver.check()
        work = max(_work(solver) - before, 1000)
        self.spent += work
        present_table().account.charge_question(work, answered=result != z3.unknown)
        self.asked += 1
        if result == z3.unsat:
            return Decision("proven")
        if result == z3.sat:
            # A model keeps all of Z3's memory for the question, so most answers have no model.
            return Decision("refuted", Model(solver.model(), encode) if everything else None)
        return Decision("limit", limit="Z3's work for one question")

    def _relevant(self, roots: Sequence[Term]) -> list[Term]:
        """Return the facts that share unknowns with a question, directly or through other facts."""
        known: set[Term] = set()
        for root in roots:
            known |= self._unknowns(root)
        left = list(self.facts)
        taken: list[Term] = []
        while True:
            near: list[Term] = []
            others: list[Term] = []
            for fact in left:
                unknowns = self._unknowns(fact)
                (others if unknowns and unknowns.isdisjoint(known) else near).append(fact)
            if not near:
                return taken
            taken, left = taken + near, others
            for fact in near:
                known |= self._unknowns(fact)

    def _unknowns(self, term: Term) -> frozenset[Term]:
        if term not in self._anchors:
            unknowns = {t for t in walk([term]) if t.op in ("variable", "apply")}
            unknowns.update(*map(self.witnesses.beside, unknowns))
            self._anchors[term] = frozenset(unknowns)
        return self._anchors[term]


def _work(solver: Any) -> int:
    statistics = dict(iter(solver.statistics()))
    return int(statistics.get("rlimit count", 0))

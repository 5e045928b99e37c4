"""Questions to Z3, each with a limit on the work that it may take.

Each question has a context and a solver of its own, with a fixed seed, and all limits count Z3's
units of work: the answer to a question does not depend on the machine, on its load, or on other
questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import z3

from onnx_scatterx.judges.equivalence.core.encode import Encoder
from onnx_scatterx.judges.equivalence.core.logic import FALSE, TRUE, negation
from onnx_scatterx.judges.equivalence.core.terms import Term, walk
from onnx_scatterx.judges.equivalence.core.witnesses import Witnesses, coordinates

Status = Literal["proven", "refuted", "limit"]

QUICK, FULL, PAIR, ALL = 400_000, 4_000_000, 8_000_000, 40_000_000
"""Z3's units of work: for a question along the way, for one that counts, for a pair of values that
are only guessed to be the same, for a pair of models.
"""

_LARGEST = 2**32 - 1  # limit that Z3 takes
_MEMORY = 4096  # MB of Z3, for a question


@dataclass
class Model:
    """Values of all unknowns, as Z3 found them."""

    found: Any
    encode: Encoder

    def value(self, term: Term) -> Any:
        """Return the value of a term."""
        value = self.found.eval(self.encode(term), model_completion=True)
        if term.sort == "condition":
            return z3.is_true(value)
        return value.as_long() if term.sort == "integer" else value


@dataclass
class Answer:
    """Z3's answer about a statement: perhaps a model if it may be wrong, or the limit reached."""

    status: Status
    model: Model | None = None
    limit: str = ""


@dataclass
class Solver:
    """Facts, and statements that may follow from them."""

    witnesses: Witnesses = field(default_factory=Witnesses)
    facts: dict[Term, None] = field(default_factory=dict)
    effort: float = 1
    budget: int = ALL
    spent: int = 0
    asked: int = 0
    collecting: bool = False
    _anchors: dict[Term, frozenset[Term]] = field(default_factory=dict)

    def assume(self, fact: Term) -> None:
        """Take a statement as a fact."""
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
    ) -> Answer:
        """Ask whether a statement follows from the facts and the hypotheses."""
        if goal is TRUE:
            return Answer("proven")
        if goal in self.facts or goal in hypotheses:
            return Answer("proven")
        return self._check([*hypotheses, negation(goal)], quick)

    def against(self, goal: Term, wanted: Sequence[Term]) -> Answer:
        """Ask for a counterexample to a statement under all facts: "refuted", with a model."""
        return self._check([negation(goal), *wanted], False, everything=True)

    def satisfiable(self, wanted: Iterable[Term] = ()) -> Answer:
        """Ask whether all facts can hold at once: "refuted", with a model, if so."""
        return self._check(list(wanted), False, everything=True)

    def _check(self, roots: list[Term], quick: bool, everything: bool = False) -> Answer:
        if any(r is FALSE for r in roots):
            return Answer("proven")
        left = self.budget - self.spent
        if left <= 0:
            return Answer("limit", limit="Z3's work for all questions")
        facts = list(self.facts) if everything else self._relevant(roots)
        self.collecting = True
        try:
            added = self.witnesses.facts_for([*roots, *facts])
        finally:
            self.collecting = False
        if FALSE in added or FALSE in facts:
            return Answer("proven")
        encode = Encoder()
        solver = z3.SimpleSolver(ctx=encode.context)
        solver.set("random_seed", 0)
        own = int(self.effort * (QUICK if quick else FULL))
        solver.set("rlimit", min(own, left, _LARGEST))
        solver.set("max_memory", _MEMORY)
        statements = [*roots, *facts, *added]
        for statement in statements:
            solver.add(encode(statement))
        for part in walk(statements):
            solver.add(*encode.typing(part))
        before = _work(solver)
        result = solver.check()
        self.spent += max(_work(solver) - before, 1000)
        self.asked += 1
        if result == z3.unsat:
            return Answer("proven")
        if result == z3.sat:
            # A model keeps all of Z3's memory for the question, so most answers have none.
            return Answer("refuted", Model(solver.model(), encode) if everything else None)
        return Answer("limit", limit="Z3's work for one question")

    def _relevant(self, roots: Sequence[Term]) -> list[Term]:
        """Return the facts that share unknowns with a question, directly or through other facts."""
        known: set[Term] = set()
        for root in roots:
            known |= self._unknowns(root)
        left = list(self.facts)
        taken: list[Term] = []
        while True:
            near = [f for f in left if self._unknowns(f) & known or not self._unknowns(f)]
            if not near:
                return taken
            taken += near
            left = [f for f in left if f not in set(near)]
            for fact in near:
                known |= self._unknowns(fact)

    def _unknowns(self, term: Term) -> frozenset[Term]:
        if term not in self._anchors:
            found = (t for t in walk([term]) if t.op in ("variable", "apply"))
            self._anchors[term] = frozenset(found)
        return self._anchors[term]


def _work(solver: Any) -> int:
    found = dict(iter(solver.statistics()))
    return int(found.get("rlimit count", 0))

"""The facts that hold because the first model runs, and the requirements of the second model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from onnx_scatterx.proof.core.arithmetic import ZERO
from onnx_scatterx.proof.core.folds import Folds
from onnx_scatterx.proof.core.known_masks import Masks
from onnx_scatterx.proof.core.logic import (
    FALSE,
    TRUE,
    equal,
    implies,
    inside,
    negation,
)
from onnx_scatterx.proof.core.rows import Rows
from onnx_scatterx.proof.core.solver import Solver
from onnx_scatterx.proof.core.tensor import Coordinates, Tensor
from onnx_scatterx.proof.core.terms import Term, limit_of, walk
from onnx_scatterx.proof.core.witnesses import Witnesses


@dataclass
class Debt:
    """A requirement of the second model: a condition without which a node does not run."""

    condition: Term
    what: str


@dataclass
class World:
    """The facts so far, the questions that they answer, and the debts of the second model.

    A requirement of the first model is a fact, because only inputs on which it runs count. A
    requirement of the second model (``owing``) is a debt.
    """

    solver: Solver = field(default_factory=Solver)
    owing: bool = False
    debts: list[Debt] = field(default_factory=list)
    assumed: dict[str, None] = field(default_factory=dict)
    promised: dict[str, None] = field(default_factory=dict)
    masks: Masks = field(init=False)
    folds: Folds = field(init=False)
    witnesses: Witnesses = field(default_factory=Witnesses)
    rows: Rows = field(default_factory=Rows)
    _decided: dict[Term, bool | None] = field(default_factory=dict)
    _names: dict[tuple[object, ...], str] = field(default_factory=dict)
    _alive: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.masks, self.folds = Masks(self), Folds(self)
        self.solver.witnesses = self.witnesses

    def need(self, condition: Term, what: str) -> None:
        """Add a requirement of a node: a fact or a debt."""
        if condition is TRUE:
            return
        if self.owing:
            self.debts.append(Debt(condition, what))
        else:
            self.solver.assume(condition)

    def learn(self, condition: Term) -> None:
        """Add a fact, and forget which conditions were undecided without it."""
        self.solver.assume(condition)
        self._decided.clear()

    def need_all(self, points: tuple[Term, ...], condition: Term, what: str) -> None:
        """Add a requirement for all points that some coordinates stand for.

        If it would be a fact, it is not added, because a fact must not name coordinates. The caller
        adds facts for single points.
        """
        if self.owing or not any(limit_of(p) is not None for p in points):
            self.need(condition, what)

    def hold(self, tensor: Tensor, fact: Callable[[Coordinates, Term], Term]) -> None:
        """Add a fact about each element of a tensor.

        The fact is added to questions that name an unknown in the element. If the element was not
        read, the arguments of the unknown give its coordinates.
        """

        def there(at: Coordinates, element: Term) -> Term:
            return implies(inside(at, tensor.shape), fact(at, element))

        def attach(at: Coordinates, element: Term) -> None:
            self.witnesses.attach(element, at, there(at, element))

        tensor.watch(attach)
        points = tensor.points("held ")
        for part in walk([tensor.at(points)]):
            if part.op == "apply" and any(p in part.args for p in points if p is not ZERO):
                self.witnesses.match(part, points, lambda at: there(at, tensor.at(at)))

    def decide(self, condition: Term) -> bool | None:
        """Return whether a condition is true by the facts, or false; None if it is not known."""
        if condition in (TRUE, FALSE):
            return condition is TRUE
        if self.solver.collecting:  # a question must not lead to another
            return self._decided.get(condition)
        if condition not in self._decided:
            answer: bool | None = None
            if self.solver.follows(condition, quick=True):
                answer = True
            elif self.solver.follows(negation(condition), quick=True):
                answer = False
            self._decided[condition] = answer
        return self._decided[condition]

    def known(self, condition: Term) -> bool:
        """Return whether a condition follows from the facts."""
        return self.decide(condition) is True

    def same(self, a: Term, b: Term) -> bool:
        """Return whether two terms are known to be equal."""
        return a is b or self.known(equal(a, b))

    def name(self, tensor: Tensor, besides: tuple[Term, ...]) -> str:
        """Return a name for unknown functions of a tensor: the same name for the same tensor."""
        self._alive.append(tensor)
        return self._names.setdefault((id(tensor), besides), str(len(self._names)))

    def assume(self, text: str) -> None:
        """Note an assumption of the answer."""
        if text:
            self.assumed[text] = None

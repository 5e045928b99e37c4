"""What a set of facts has learnt: terms that are never negative, found by what a proof looks for.

Facts are in layers, each on top of others, which it reads and does not change. Here is one layer,
and what several of them say of a leaf. Besides, what is known of all elements of a tensor.

While a graph is interpreted, nearly every node may teach a fact, and a large model has the same
sizes in each of its layers. So a question about them would be asked again after every node, nearly
always in vain. A fact about nothing but what the question is about is a reason to ask at once.
Other facts may answer it only together with more facts. After a few times, such a question waits
until twice as many facts are known (``News``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from onnx_scatterx.engine.terms.algebra import Number, Term, term
from onnx_scatterx.engine.terms.atom import Atom, Interval
from onnx_scatterx.engine.terms.cases import PositivePart
from onnx_scatterx.engine.terms.monomial import Monomial
from onnx_scatterx.engine.terms.symbols import Symbol, element

_AT_ONCE = 3  # how often a question is asked in vain before it waits


@dataclass(frozen=True)
class Elements:
    """What is known of every element ``e`` of a tensor.

    ``bounds`` are >= 0, with ``Elements.ANY`` in place of the element. ``distinct``: no two
    elements are equal.
    """

    ANY: ClassVar[Term] = element("any", (), name="e")

    bounds: tuple[Term, ...] = ()
    distinct: bool = False

    def of(self, e: Number) -> list[Term]:
        """Return terms that are >= 0 for an element."""
        (any_,) = self.ANY.atoms
        return [bound.replace({any_: e}) for bound in self.bounds]


@dataclass(eq=False, slots=True)
class Layer:
    """What one set of facts has learnt; those of the layers below are not in it."""

    facts: dict[Term, None] = field(default_factory=dict)
    """Terms that are never negative, in the order in which they were learnt."""
    assumed: set[Term] = field(default_factory=set)
    """Those that the user assumes."""
    bounds: dict[Atom, Interval] = field(default_factory=dict)
    """What facts of one atom say of it."""
    bounded: set[Symbol] = field(default_factory=set)
    """The leaves of these atoms."""
    relations: dict[Monomial, list[tuple[Term, int]]] = field(default_factory=dict)
    """The other facts by their monomials, with the coefficients of these."""
    by_leaf: dict[Symbol, list[Term]] = field(default_factory=dict)
    """Those of them that restrict a leaf."""
    by_piece: dict[Atom, list[Term]] = field(default_factory=dict)
    """The facts by their atoms that have cases."""
    residues: dict[Atom, tuple[int, int]] = field(default_factory=dict)
    """Of a size: the modulus, and the residue."""
    elements: dict[object, Elements] = field(default_factory=dict)
    """What is known of elements, by the tensor."""

    def relate(self, fact: Term) -> None:
        """Let a fact be found by its monomials."""
        for monomial, c in fact.items:
            if monomial:
                self.relations.setdefault(monomial, []).append((fact, c))


Layers: TypeAlias = tuple[Layer, ...]
"""The layers of a set of facts: its own is the first."""


def number_of_facts(layers: Layers) -> int:
    """Return how many facts the layers have."""
    return sum([len(layer.facts) for layer in layers])


def about(leaf: Symbol, layers: Layers) -> list[Term]:
    """Return the facts that restrict a leaf, and are no bounds of it alone."""
    return [fact for layer in layers for fact in layer.by_leaf.get(leaf, ())]


def residue_of(leaf: Atom, layers: Layers) -> tuple[int, int] | None:
    """Return the modulus and the residue of a size, or None if they are not known."""
    return next((x.residues[leaf] for x in layers if leaf in x.residues), None)


def related(fact: Term, layers: Layers) -> set[Symbol]:
    """Return the leaves that a fact restricts, directly or through others."""
    leaves = set(fact.leaves())
    stack = list(leaves)
    while stack:
        for other in about(stack.pop(), layers):
            stack.extend(other.leaves() - leaves)
            leaves |= other.leaves()
    return leaves


def weaker(fact: Term) -> Iterator[Term]:
    """Yield what follows from a fact ``t - c max(u, 0) >= 0``: both ``t - c u`` and t are, too."""
    for monomial, c in fact.items:
        if c < 0 and len(monomial) == 1 and isinstance(monomial[0], PositivePart):
            rest = fact - c * term(monomial[0])
            yield rest + c * monomial[0].parts[0]
            yield rest


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

    >>> from onnx_scatterx.engine.terms import size
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

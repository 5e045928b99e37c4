"""Terms: the elements of tensors, as expressions of sizes, coordinates and elements of the inputs.

There are three sorts: integers (unbounded), conditions, and data. Data are floats and strings,
which are only compared for equality. Equal terms are one object. Each integer has an interval that
always contains it, so most questions about sizes are answered when the term is created.

A coordinate (`variable` with a `limit`) stands for any number in ``0 <= c < limit``. Terms are
simplified by these bounds, so a coordinate must never stand for another number.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

from onnx_scatterx.proof.core.limits import Account, limit_reached

Sort = Literal["integer", "condition", "data"]
Monomial = tuple["Term", ...]

LARGEST_SIZE = 2**31 - 1

STEPS = 12_000_000


class UnsupportedError(Exception):
    """An operation that the judge does not model; the message names it."""


class WorkSpentError(UnsupportedError):
    """The steps for a pair of models, or for one question, are spent."""


class Term:
    """One term; create it with the functions of the modules `arithmetic` and `logic`.

    ``op`` is the operation, ``args`` are the parts, and ``data`` is the rest of the key. For an
    integer t, ``low <= t <= high``.
    """

    __slots__ = ("args", "data", "high", "low", "number", "op", "sort")

    op: str
    args: tuple[Term, ...]
    data: Any
    sort: Sort
    low: int
    high: int
    number: int

    def __repr__(self) -> str:
        if self.op == "polynomial":
            return "(" + " + ".join(f"{c}*{list(m)}" if m else str(c) for m, c in self.data) + ")"
        if not self.args:
            return str(self.data) if self.data is not None else self.op
        name = self.data[0] if self.op == "apply" else self.op
        return f"{name}({', '.join(map(repr, self.args))})"

    def __add__(self, other: Term | int) -> Term:
        return SUMS["+"](self, other)

    def __sub__(self, other: Term | int) -> Term:
        return SUMS["-"](self, other)

    def __mul__(self, other: Term | int) -> Term:
        return SUMS["*"](self, other)

    def __neg__(self) -> Term:
        return SUMS["*"](self, -1)


SUMS: dict[str, Callable[[Term, Term | int], Term]] = {}
"""The functions of `arithmetic` for the operators +, - and * of integers."""


@dataclass
class Table:
    """All terms of one pair of models, numbered in the order of their creation.

    Each pair has a table of its own, so that no answer depends on earlier pairs. ``left`` are the
    remaining steps, of ``steps`` in all. To look a term up is a step. ``account`` has the steps of
    the proof, which may need several tables.
    """

    steps: int = STEPS
    left: int = STEPS
    known: dict[tuple[Any, ...], Term] = field(default_factory=dict)
    account: Account = field(default_factory=Account)

    def allow(self, steps: int) -> None:
        """Allow so many steps in all."""
        self.left += steps - self.steps
        self.steps = steps


_permanent = Table()  # the constants of the modules, which are in every table
_now: ContextVar[Table] = ContextVar("_now", default=_permanent)


@contextmanager
def new_table(effort: float = 1) -> Iterator[Table]:
    """Let a block create terms in a new table; ``effort`` multiplies the steps of the table.

    A table within the block of another one belongs to the same proof.
    """
    steps, outer = int(effort * STEPS), _now.get()
    account = Account() if outer is _permanent else outer.account
    table = Table(steps, steps, dict(_permanent.known), account)
    token = _now.set(table)
    try:
        yield table
    finally:
        _now.reset(token)


@contextmanager
def share(part: int) -> Iterator[None]:
    """Let a block take at most ``steps / part`` of the steps."""
    table = _now.get()
    own = min(table.steps // part, table.left)
    kept = table.left - own
    table.left = own
    try:
        yield
    finally:
        table.left = kept + max(table.left, 0)


def present_table() -> Table:
    """Return the table in which terms are created."""
    return _now.get()


def step(count: int = 1) -> None:
    """Take some steps; WorkSpentError or ProofSpentError if fewer are left."""
    table = _now.get()
    table.left -= count
    table.account.charge(count)
    if table.left < 0 and table is not _permanent:
        raise WorkSpentError(limit_reached("steps in terms"))


def make(
    op: str,
    args: tuple[Term, ...] = (),
    data: Any = None,
    sort: Sort = "integer",
    low: int = 0,
    high: int = 0,
) -> Term:
    """Return the term, always the same object for the same parts."""
    step()
    known = _now.get().known
    key = (op, args, data, sort, low, high)
    term = known.get(key)
    if term is None:
        term = Term()
        term.op, term.args, term.data, term.sort = op, args, data, sort
        term.low, term.high, term.number = low, high, len(known)
        known[key] = term
    return term


def variable(
    name: Hashable, low: int = 0, high: int = LARGEST_SIZE, limit: Term | None = None
) -> Term:
    """Return an integer unknown: any value in its interval, and below ``limit`` if given."""
    if limit is not None:
        high = min(high, max(limit.high - 1, low))
        return make("variable", (limit,), name, "integer", low, high)
    return make("variable", (), name, "integer", low, high)


def apply(
    name: Hashable, args: Iterable[Term], sort: Sort = "data", low: int = 0, high: int = 0
) -> Term:
    """Return the value of an unknown function.

    If a part of the function's name comes from a file, the name must be a tuple. So two functions
    never have the same name.
    """
    return make("apply", tuple(args), (name,), sort, low, high)


def literal(dtype: str, bits: bytes) -> Term:
    """Return a float or string by its bits."""
    return make("literal", (), (dtype, bits), "data")


def limit_of(term: Term) -> Term | None:
    """Return the limit of a coordinate; None for other terms."""
    return term.args[0] if term.op == "variable" and term.args else None


def walk(roots: Iterable[Term]) -> Iterable[Term]:
    """Yield the roots and all terms within them, each once, also the limits of coordinates."""
    seen: set[Term] = set()
    stack = list(roots)
    while stack:
        term = stack.pop()
        if term in seen:
            continue
        seen.add(term)
        step()
        yield term
        stack.extend(term.args)


RULES: dict[str, Callable[[Term, tuple[Term, ...]], Term]] = {}
"""For each operation that is simplified: the function from a term and new parts to the new term."""


def substitute(term: Term, replaced: Mapping[Term, Term]) -> Term:
    """Return a term with some of its parts replaced, simplified again."""
    done = dict(replaced)

    def rebuilt(old: Term) -> Term:
        new = done.get(old)
        if new is None:
            args = tuple([rebuilt(a) for a in old.args])
            if args == old.args:
                new = old
            elif old.op in RULES:
                new = RULES[old.op](old, args)
            else:
                new = make(old.op, args, old.data, old.sort, old.low, old.high)
            done[old] = new
        return new

    return rebuilt(term)

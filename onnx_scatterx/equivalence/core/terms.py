"""Terms: the integers, conditions and data that the models' elements consist of.

A term is the value of a tensor's element, in sizes, coordinates and elements of the inputs. There
are three sorts: integers (unbounded), conditions, and data. Data are floats and strings: of these
only equality is known. Equal terms are one object. Each integer has an interval that always
contains it, so most questions on sizes are answered when the term is created.

A coordinate (`variable` with a `limit`) stands for any number in ``0 <= c < limit``. A term may be
simplified with that, so a question must never use a coordinate for anything else.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable, Mapping
from typing import Any, Literal

Sort = Literal["integer", "condition", "data"]
Monomial = tuple["Term", ...]

LARGEST_SIZE = 2**31 - 1

_count = itertools.count()
_known: weakref.WeakValueDictionary[tuple[Any, ...], Term] = weakref.WeakValueDictionary()


class Term:
    """One term; create it with the functions of the modules `arithmetic` and `logic`.

    ``op`` is its operation, ``args`` its parts, ``data`` the rest of its key; an integer is in
    ``low <= t <= high``.
    """

    __slots__ = ("__weakref__", "args", "data", "high", "low", "number", "op", "sort")

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
        name = self.data[0] if self.op in ("read", "apply") else self.op
        return f"{name}({', '.join(map(repr, self.args))})"


def make(
    op: str,
    args: tuple[Term, ...] = (),
    data: Any = None,
    sort: Sort = "integer",
    low: int = 0,
    high: int = 0,
) -> Term:
    """Return the term, always the same object for the same parts."""
    key = (op, args, data, sort, low, high)
    found = _known.get(key)
    if found is None:
        found = Term()
        found.op, found.args, found.data, found.sort = op, args, data, sort
        found.low, found.high, found.number = low, high, next(_count)
        _known[key] = found
    return found


def variable(name: str, low: int = 0, high: int = LARGEST_SIZE, limit: Term | None = None) -> Term:
    """Return an integer with any value in its interval, below the limit if there is one."""
    if limit is not None:
        high = min(high, max(limit.high - 1, low))
        return make("variable", (limit,), name, "integer", low, high)
    return make("variable", (), name, "integer", low, high)


def apply(
    name: str, args: Iterable[Term], sort: Sort = "data", low: int = 0, high: int = 0
) -> Term:
    """Return the value of an otherwise unknown function."""
    return make("apply", tuple(args), (name,), sort, low, high)


def literal(dtype: str, bits: bytes) -> Term:
    """Return a float or string by its bits."""
    return make("literal", (), (dtype, bits), "data")


def limit_of(term: Term) -> Term | None:
    """Return the upper limit of a coordinate."""
    return term.args[0] if term.op == "variable" and term.args else None


def walk(roots: Iterable[Term]) -> Iterable[Term]:
    """Yield all terms within, each once, the limits of coordinates included."""
    seen: set[Term] = set()
    stack = list(roots)
    while stack:
        term = stack.pop()
        if term in seen:
            continue
        seen.add(term)
        yield term
        stack.extend(term.args)


def substitute(term: Term, replaced: Mapping[Term, Term]) -> Term:
    """Return a term with some of its parts replaced, simplified again."""
    from onnx_scatterx.equivalence.core.rebuild import rebuild

    return rebuild(term, dict(replaced))

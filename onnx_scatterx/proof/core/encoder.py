"""Translates the terms of one question to Z3, through its C interface.

Z3's classes for expressions check and convert each operand again, and take longer than Z3 itself
for most questions. An expression is a handle here, and a vector of Z3 keeps all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import z3

from onnx_scatterx.proof.core.lookups import ConstantArray
from onnx_scatterx.proof.core.terms import Term, limit_of, step, walk
from onnx_scatterx.proof.core.types import constant

_ENCODED = 20  # steps for a term
_TYPED = ("variable", "apply", "lookup", "divide", "modulo", "wrap")

_SMALL = 1 << 63  # smaller numbers are passed as numbers, and others as text


class Encoder:
    """Translates the terms of one question to Z3, each once.

    The names in Z3 are numbers, in the order of the terms. So a question does not depend on earlier
    questions, and no name of a file is a name in Z3.
    """

    def __init__(self) -> None:
        self.context = z3.Context()
        self._sorts = {
            "integer": z3.IntSort(self.context),
            "condition": z3.BoolSort(self.context),
            "data": z3.DeclareSort("Data", self.context),
        }
        self._z3 = self.context.ref()
        self._vector = z3.AstVector(ctx=self.context)
        self._all = self._vector.vector
        self._made: dict[Term, Any] = {}
        self._numbers: dict[int, Any] = {}
        self._names: dict[Hashable, str] = {}
        self._declared: dict[tuple[str, tuple[str, ...], str], Any] = {}

    def __call__(self, term: Term) -> Any:
        """Return a term as an expression of Z3's Python interface."""
        handle = self._encoded(term)
        if term.sort == "integer":
            return z3.ArithRef(handle, self.context)
        kind = z3.BoolRef if term.sort == "condition" else z3.ExprRef
        return kind(handle, self.context)

    def definition(self, term: Term) -> list[Any]:
        """Return the facts that define a term: its interval, its limit, the rule of division."""
        return [z3.BoolRef(handle, self.context) for handle in self._definition(term)]

    def tell(self, solver: Any, statements: Sequence[Term]) -> None:
        """Assert statements, and what defines the terms in them."""
        for statement in statements:
            z3.Z3_solver_assert(self._z3, solver.solver, self._encoded(statement))
        for part in walk(statements):
            for fact in self._definition(part):
                z3.Z3_solver_assert(self._z3, solver.solver, fact)

    def _encoded(self, root: Term) -> Any:
        stack = [root]
        while stack:
            term = stack[-1]
            if term in self._made:
                stack.pop()
                continue
            missing = [a for a in term.args if a not in self._made]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            step(_ENCODED)
            self._made[term] = self._of(term, [self._made[a] for a in term.args])
        return self._made[root]

    def _definition(self, term: Term) -> list[Any]:
        if term.sort != "integer" or term.op not in _TYPED:
            return []
        if term.op == "lookup" and term.data.runs is not None:
            return []
        made = self._encoded(term)
        holds = [self._at_least(made, self._number(term.low))]
        holds.append(self._at_most(made, self._number(term.high)))
        limit = limit_of(term)
        if limit is not None:
            holds.append(self._less(made, self._encoded(limit)))
        if term.op in ("divide", "modulo") and not _positive(term.args[1]):
            a, b = map(self._encoded, term.args)
            whole, rest = (self._quotient(name, a, b) for name in ("divide", "modulo"))
            zero, one = self._number(0), self._number(1)
            sum_ = self._of_two(z3.Z3_mk_add, self._of_two(z3.Z3_mk_mul, b, whole), rest)
            divided = self._and(
                [self._equal(a, sum_), self._at_least(rest, zero), self._less(rest, b)]
            )
            undefined = self._equal(made, zero)
            holds.append(self._if(self._at_least(b, one), divided, undefined))
        return holds

    def _of(self, term: Term, args: list[Any]) -> Any:
        match term.op:
            case "integer":
                return self._number(term.data)
            case "true":
                return self._kept(z3.Z3_mk_true(self._z3))
            case "false":
                return self._kept(z3.Z3_mk_false(self._z3))
            case "literal":
                return self._unknown(self._name("literal", term.data), "data")
            case "variable":
                return self._unknown(self._name("variable", term), "integer")
            case "apply":
                name = self._name("apply", term.data, term.sort, len(args))
                if not args:
                    return self._unknown(name, term.sort)
                return self._call(name, args, [a.sort for a in term.args], term.sort)
            case "polynomial":
                return self._sum(term)
            case "divide" | "modulo":
                if _positive(term.args[1]):
                    make = z3.Z3_mk_div if term.op == "divide" else z3.Z3_mk_mod
                    return self._kept(make(self._z3, *args))
                return self._quotient(term.op, *args)
            case "wrap":
                low = self._at_least(args[0], self._number(term.low))
                inside = self._and([low, self._at_most(args[0], self._number(term.high))])
                wrapped = self._call(f"wrap {term.data}", args, ["integer"], "integer")
                return self._if(inside, args[0], wrapped)
            case "lookup":
                return self._lookup(term, args[0])
            case "minimum":
                return self._if(self._at_most(*args), *args)
            case "maximum":
                return self._if(self._at_least(*args), *args)
            case "at most 0":
                return self._at_most(args[0], self._number(0))
            case "equals 0":
                return self._equal(args[0], self._number(0))
            case "same":
                return self._equal(*args)
            case "not":
                return self._kept(z3.Z3_mk_not(self._z3, args[0]))
            case "and":
                return self._and(args)
            case "choose":
                return self._if(*args)
        raise KeyError(term.op)

    def _sum(self, term: Term) -> Any:
        parts = []
        for monomial, coefficient in term.data:
            factors = [self._made[atom] for atom in monomial]
            number = self._number(coefficient)
            made = factors.pop(0) if coefficient == 1 and factors else number
            for factor in factors:
                made = self._of_two(z3.Z3_mk_mul, made, factor)
            parts.append(made)
        if len(parts) == 1:
            return parts[0]
        return self._kept(z3.Z3_mk_add(self._z3, len(parts), _array(parts)))

    def _lookup(self, term: Term, index: Any) -> Any:
        lookup: ConstantArray = term.data
        runs = lookup.runs
        if runs is None:
            return self._call(self._name("lookup", lookup), [index], ["integer"], term.sort)
        made = self._encoded(constant(lookup.array[runs[-1]], lookup.dtype))
        for start, end in reversed(list(itertools.pairwise(runs))):
            value = self._encoded(constant(lookup.array[start], lookup.dtype))
            made = self._if(self._less(index, self._number(end)), value, made)
        return made

    def _quotient(self, name: str, a: Any, b: Any) -> Any:
        return self._call(name, [a, b], ["integer", "integer"], "integer")

    def _name(self, *key: Hashable) -> str:
        return self._names.setdefault(key, f"n{len(self._names)}")

    def _kept(self, handle: Any) -> Any:
        """Return a new handle, after Z3 was told to keep the expression."""
        z3.Z3_ast_vector_push(self._z3, self._all, handle)
        return handle

    def _number(self, number: int) -> Any:
        if number not in self._numbers:
            sort = self._sorts["integer"].ast
            is_small = -_SMALL <= number < _SMALL
            made = (
                z3.Z3_mk_int64(self._z3, number, sort)
                if is_small
                else z3.Z3_mk_numeral(self._z3, str(number), sort)
            )
            self._numbers[number] = self._kept(made)
        return self._numbers[number]

    def _unknown(self, name: str, sort: str) -> Any:
        symbol = z3.Z3_mk_string_symbol(self._z3, name)
        return self._kept(z3.Z3_mk_const(self._z3, symbol, self._sorts[sort].ast))

    def _call(self, name: str, args: Sequence[Any], sorts: Iterable[str], result: str) -> Any:
        key = name, tuple(sorts), result
        if key not in self._declared:
            symbol = z3.Z3_mk_string_symbol(self._z3, name)
            domain = (z3.Sort * len(args))(*(self._sorts[sort].ast for sort in key[1]))
            range_ = self._sorts[result].ast
            made = z3.Z3_mk_func_decl(self._z3, symbol, len(args), domain, range_)
            self._declared[key] = self._kept(made)
        return self._kept(z3.Z3_mk_app(self._z3, self._declared[key], len(args), _array(args)))

    def _of_two(self, make: Any, a: Any, b: Any) -> Any:
        return self._kept(make(self._z3, 2, _array((a, b))))

    def _and(self, parts: Sequence[Any]) -> Any:
        return self._kept(z3.Z3_mk_and(self._z3, len(parts), _array(parts)))

    def _equal(self, a: Any, b: Any) -> Any:
        return self._kept(z3.Z3_mk_eq(self._z3, a, b))

    def _less(self, a: Any, b: Any) -> Any:
        return self._kept(z3.Z3_mk_lt(self._z3, a, b))

    def _at_most(self, a: Any, b: Any) -> Any:
        return self._kept(z3.Z3_mk_le(self._z3, a, b))

    def _at_least(self, a: Any, b: Any) -> Any:
        return self._kept(z3.Z3_mk_ge(self._z3, a, b))

    def _if(self, condition: Any, then: Any, otherwise: Any) -> Any:
        return self._kept(z3.Z3_mk_ite(self._z3, condition, then, otherwise))


def _array(handles: Sequence[Any]) -> Any:
    return (z3.Ast * len(handles))(*handles)


def _positive(term: Term) -> bool:
    return term.op == "integer" and bool(term.data > 0)

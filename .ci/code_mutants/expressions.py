"""What can be changed in an expression: each change is a node, and the text that replaces it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitAnd: (ast.BitOr,),
}
FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any", "reversed": "list"}
COMMUTATIVE = ("min", "max", "gcd", "lcm")
NOT_COMMUTATIVE = (ast.Sub, ast.FloorDiv, ast.Mod, ast.Div, ast.Pow, ast.LShift, ast.RShift)
# Names of calls whose arguments are text for people, or types.
MESSAGES = ("warn", "print", "Error", "Warning", "Refusal", "refuse", "isinstance", "cast")
LOGS = ("log", "logger", "logging", "warnings")
TYPES = {"dict", "list", "set", "tuple", "frozenset", "type", "defaultdict", "deque", "Counter"}


class Change(NamedTuple):
    """A node that a text replaces, or before which it is inserted."""

    node: ast.expr | ast.stmt
    kind: str
    text: str
    is_inserted: bool = False


def changes_of(node: ast.AST) -> Iterator[Change]:
    """Yield the changes in an expression: of its parts, too, but not of messages and types."""
    if isinstance(node, ast.JoinedStr) or _is_type(node):
        return
    yield from CHANGES.get(type(node), lambda _: ())(node)
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.Call) and is_message(node)) and not _is_strict(child):
            yield from changes_of(child)


def condition(test: ast.expr) -> Iterator[Change]:
    """Yield what a condition may be instead: always, never, and the contrary."""
    binds = any(isinstance(part, ast.NamedExpr) for part in ast.walk(test))
    text = ast.unparse(test)
    yield Change(test, "condition always", f"(({text}) or True)" if binds else "True")
    yield Change(test, "condition never", f"(({text}) and False)" if binds else "False")
    if not isinstance(test, ast.Compare | ast.UnaryOp):  # these are negated as such
        yield Change(test, "negated condition", f"(not ({text}))")


def name_of(function: ast.expr) -> str:
    """Return the last part of the name of what is called."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def is_message(call: ast.Call) -> bool:
    """Return whether a call is given text for people, or types."""
    if isinstance(call.func, ast.Attribute) and name_of(call.func.value) in LOGS:
        return True
    name = name_of(call.func)
    return any(name == part or name.endswith(part) for part in MESSAGES)


def _is_strict(node: ast.AST) -> bool:
    """Return whether a keyword lets zip check lengths: that is an assert."""
    return isinstance(node, ast.keyword) and node.arg == "strict"


def _is_type(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and name_of(node.value) in TYPES


def _with(node: ast.expr, **fields: object) -> str:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return f"({ast.unparse(ast.fix_missing_locations(changed))})"


def _constant(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield Change(node, "constant", str(not value))
    elif isinstance(value, int):
        is_limit = value >= 100 and value % 10 == 0  # 1 more or less changes nothing there
        for other in (0,) if is_limit else (value + 1, value - 1):
            yield Change(node, "constant", str(other) if other >= 0 else f"({other})")
    elif isinstance(value, float):
        yield Change(node, "constant", repr(value * 2 if value else 1.0))
    elif isinstance(value, str) and value and " " not in value:
        yield Change(node, "constant", '""')


def _compare(node: ast.Compare) -> Iterator[Change]:
    for place, operator in enumerate(node.ops):
        for other in COMPARISONS[type(operator)]:
            ops = [*node.ops[:place], other(), *node.ops[place + 1 :]]
            yield Change(node, "comparison", _with(node, ops=ops))


def _boolop(node: ast.BoolOp) -> Iterator[Change]:
    for place in range(len(node.values)):
        left = [*node.values[:place], *node.values[place + 1 :]]
        text = _with(node, values=left) if len(left) > 1 else f"({ast.unparse(left[0])})"
        yield Change(node, "operand dropped", text)
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield Change(node, "and or", _with(node, op=other))


def _unaryop(node: ast.UnaryOp) -> Iterator[Change]:
    if isinstance(node.op, ast.Not):
        yield Change(node, "negated condition", f"bool({ast.unparse(node.operand)})")
    elif isinstance(node.op, ast.USub):
        yield Change(node, "operator", f"({ast.unparse(node.operand)})")


def _binop(node: ast.BinOp) -> Iterator[Change]:
    text = (ast.JoinedStr, ast.List, ast.Tuple)
    joins = any(isinstance(part, text) for part in (node.left, node.right))
    if not joins:
        for other in OPERATORS.get(type(node.op), ()):
            yield Change(node, "operator", _with(node, op=other()))
    if isinstance(node.op, NOT_COMMUTATIVE):
        swapped = _with(node, left=node.right, right=node.left)
        yield Change(node, "swapped operands", swapped)
    is_one = isinstance(node.right, ast.Constant) and node.right.value == 1
    if is_one and isinstance(node.op, ast.Add | ast.Sub):
        yield Change(node, "off by one", f"({ast.unparse(node.left)})")


def _call(node: ast.Call) -> Iterator[Change]:
    name = name_of(node.func)
    if is_message(node):
        return
    plain = not any(isinstance(argument, ast.Starred) for argument in node.args)
    for place in range(len(node.args) - 1) if plain and name not in COMMUTATIVE else ():
        first, second = node.args[place : place + 2]
        if ast.unparse(first) != ast.unparse(second):
            args = [*node.args[:place], second, first, *node.args[place + 2 :]]
            yield Change(node, "swapped arguments", _with(node, args=args))
    for place, keyword in enumerate(node.keywords):
        if keyword.arg and not _is_strict(keyword):
            keywords = [*node.keywords[:place], *node.keywords[place + 1 :]]
            yield Change(node, "argument dropped", _with(node, keywords=keywords))
    if not isinstance(node.func, ast.Name):
        return
    if name in FUNCTIONS:
        yield Change(node.func, "operator", FUNCTIONS[name])
    if name == "len":
        yield Change(node, "off by one", f"({ast.unparse(node)} - 1)")
    if name == "range" and plain:
        for argument in node.args:
            for sign in ("+", "-") if not isinstance(argument, ast.Constant) else ():
                yield Change(argument, "off by one", f"({ast.unparse(argument)} {sign} 1)")


def _slice(node: ast.Slice) -> Iterator[Change]:
    for bound in (node.lower, node.upper):
        if bound is not None and not isinstance(bound, ast.Constant):
            yield Change(bound, "off by one", f"({ast.unparse(bound)} + 1)")


def _ifexp(node: ast.IfExp) -> Iterator[Change]:
    yield from condition(node.test)


def _comprehension(node: ast.comprehension) -> Iterator[Change]:
    for test in node.ifs:
        yield from condition(test)


CHANGES: dict[type[ast.AST], Callable[[Any], Iterable[Change]]] = {
    ast.Constant: _constant,
    ast.Compare: _compare,
    ast.BoolOp: _boolop,
    ast.UnaryOp: _unaryop,
    ast.BinOp: _binop,
    ast.Call: _call,
    ast.Slice: _slice,
    ast.IfExp: _ifexp,
    ast.comprehension: _comprehension,
}

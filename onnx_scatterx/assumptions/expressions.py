"""Declared dims as expressions: a name, or a sum or product of names that an exporter wrote."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_DIVISIONS = (ast.Div, ast.FloorDiv, ast.Mod)

N = TypeVar("N")


def names(dim: str) -> frozenset[str]:
    """Return the names in a declared dim; the dim itself where it is no expression.

    >>> sorted(names("2*past + s1")), sorted(names("batch size"))
    (['past', 's1'], ['batch size'])
    """
    tree = _parse(dim)
    if tree is None:
        return frozenset([dim])
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def divides(dim: str) -> bool:
    """Return whether an expression has a division in it.

    >>> divides("2*past"), divides("s1 // 2")
    (False, True)
    """
    tree = _parse(dim)
    return tree is not None and any(isinstance(node, _DIVISIONS) for node in ast.walk(tree))


def evaluate(dim: int | str | None, sizes: Mapping[str, N]) -> int | N | None:
    """Return what a dim is at given sizes, numbers or terms; None where it is not known.

    >>> evaluate("2*past + 1", {"past": 3}), evaluate(7, {}), evaluate("other", {"past": 3})
    (7, 7, None)
    """
    if dim is None or isinstance(dim, int):
        return dim
    if dim in sizes:
        return sizes[dim]
    tree = _parse(dim)
    return None if tree is None else _value(tree, sizes)


def _parse(dim: str) -> ast.expr | None:
    try:
        tree = ast.parse(dim.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    known = (ast.BinOp, ast.Name, ast.Constant, ast.expr_context, *_OPERATORS)
    if not all(isinstance(node, known) for node in ast.walk(tree)):
        return None
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return tree if all(isinstance(value, int) for value in constants) else None


def _value(tree: ast.expr, sizes: Mapping[str, N]) -> int | N | None:
    if isinstance(tree, ast.Name):
        return sizes.get(tree.id)
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
        return tree.value
    if isinstance(tree, ast.BinOp) and type(tree.op) in _OPERATORS:
        left, right = _value(tree.left, sizes), _value(tree.right, sizes)
        if left is None or right is None:
            return None
        if isinstance(right, int) and right == 0 and isinstance(tree.op, _DIVISIONS):
            return None
        found: int | N = _OPERATORS[type(tree.op)](left, right)
        return found
    return None

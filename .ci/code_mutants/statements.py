"""What can be changed in a file: the statements of its functions, classes and tables.

Docstrings, messages, annotations, imports, asserts, decorators, and the texts that objects print
are not changed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from code_mutants.expressions import Change, changes_of, condition, is_message, name_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
UNCHANGED = {"__repr__", "__str__", "__hash__", "__all__", "__dir__", "__slots__"}
EMPTY = {"list": "[]", "tuple": "()", "set": "set()", "dict": "{}", "frozenset": "frozenset()"}
STREAMS = ("Iterator", "Iterable", "Generator")


class Statement(NamedTuple):
    """A statement, and what it is changed within: a function, or itself if no function has it."""

    node: ast.stmt
    owner: ast.stmt
    qualname: str
    function: Function | None


def statements_of(tree: ast.Module) -> Iterator[Statement]:
    """Yield the statements of a file that may be changed."""
    yield from _within(tree.body, "", None, None)


def _within(
    body: list[ast.stmt], name: str, owner: ast.stmt | None, function: Function | None
) -> Iterator[Statement]:
    for node in body:
        if isinstance(node, Function | ast.ClassDef):
            if node.name in UNCHANGED or _is_declared(node):
                continue
            inner = f"{name}.{node.name}".lstrip(".")
            yield Statement(node, owner or node, inner, function)
            if isinstance(node, Function):
                yield from _within(node.body, inner, owner or node, node)
            else:
                yield from _within(node.body, inner, owner, function)
            continue
        if _is_text(node) or _is_for_types(node) or _is_unchanged(node):
            continue
        yield Statement(node, owner or node, name, function)
        for inner_body in _bodies(node):
            yield from _within(inner_body, name, owner, function)


def _bodies(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        yield getattr(node, field, [])
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def _is_declared(node: Function | ast.ClassDef) -> bool:
    names = {name_of(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list}
    return bool(names & {"overload", "abstractmethod"})


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_for_types(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        return name_of(node.value.func) in ("TypeVar", "NewType", "ParamSpec")
    return isinstance(node, ast.If) and name_of(node.test) == "TYPE_CHECKING"


def _is_unchanged(node: ast.stmt) -> bool:
    kinds = ast.Import | ast.ImportFrom | ast.Assert | ast.Pass | ast.Global | ast.Nonlocal
    if isinstance(node, kinds) or ast.unparse(node) == "raise NotImplementedError":
        return True
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(name_of(target) in UNCHANGED for target in targets)


def changes_in(statement: Statement) -> Iterator[Change]:
    """Yield the changes of a statement, without those of the statements in it."""
    node = statement.node
    for expression in _expressions(node):
        if not (statement.function is None and _is_union(expression)):
            yield from changes_of(expression)
    if isinstance(node, ast.If | ast.While):
        yield from (c for c in condition(node.test) if _may_end(node, c))
    if isinstance(node, ast.Match):
        for guard in (case.guard for case in node.cases if case.guard is not None):
            yield from condition(guard)
    if isinstance(node, ast.For):
        yield Change(node.iter, "loop", "()")
        yield Change(node.iter, "loop", f"list({ast.unparse(node.iter)})[1:]")
    if isinstance(node, ast.Continue | ast.Break):
        yield Change(node, "loop", "break" if isinstance(node, ast.Continue) else "continue")
    if _has_effect(node):
        yield Change(node, "removed statement", "pass")
    if statement.function is not None:
        yield from _returns(node, statement.function)


def _expressions(node: ast.stmt) -> Iterator[ast.AST]:
    """Yield the expressions that a statement computes itself."""
    if isinstance(node, Function):
        yield from (d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None)
    elif isinstance(node, ast.AnnAssign):
        yield from [node.value] if node.value is not None else []
    elif not isinstance(node, ast.Raise | ast.ClassDef):  # an exception is a message
        for _, value in ast.iter_fields(node):
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.expr):
                    yield part
                elif isinstance(part, ast.withitem):
                    yield part.context_expr
                elif isinstance(part, ast.match_case) and part.guard is not None:
                    yield part.guard


def _is_union(node: ast.AST) -> bool:
    """Return whether an expression outside of functions may be an alias of types."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)


def _may_end(node: ast.If | ast.While, change: Change) -> bool:
    return isinstance(node, ast.If) or change.kind == "condition never"


def _has_effect(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call) and not is_message(node.value)
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets)
    return isinstance(node, ast.AugAssign | ast.Delete | ast.Raise)


def _returns(node: ast.stmt, function: Function) -> Iterator[Change]:
    """Yield returns of another value, or before a statement that is not the first."""
    for text in _other_results(function):
        if isinstance(node, ast.Return):
            if node.value is not None and ast.unparse(node.value) != text:
                yield Change(node, "early return", f"return {text}".rstrip())
        elif node not in (function, _first(function)) and not isinstance(node, Function):
            yield Change(node, "early return", f"return {text}".rstrip(), is_inserted=True)


def _first(function: Function) -> ast.stmt | None:
    return next((node for node in function.body if not _is_text(node)), None)


def _other_results(function: Function) -> list[str]:
    """Return texts of results that the annotation of a function allows."""
    annotation = ast.unparse(function.returns) if function.returns is not None else ""
    yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))
    if annotation == "None" or (yields and annotation.startswith(STREAMS)):
        return [""]
    if annotation == "bool":
        return ["True", "False"]
    if annotation.endswith("| None"):
        return ["None"]
    return [text for name, text in EMPTY.items() if annotation.startswith(name)]

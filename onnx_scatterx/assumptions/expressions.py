"""How assumptions are written, and declared dims: names, sums and products that are read.

Expressions have limits, so that every one takes little time. If a declared dim exceeds them, or
cannot be read, its whole text is one symbol.

    seq <= 4096        n % 8 == 0        pos < seq        0 <= idx < n        x[0] >= 2
    cache_position: contiguous, nonnegative               positions = unique
    mask: exactly 576                                     ids == 5: one run of 2*n

A name may hold anything but a comma, a sign, or a blank before a property; a bound is a number, a
name, or an expression of names.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from onnx_scatterx.errors import ScatterXError, one_line

MOST_CHARACTERS = 1000
MOST_DIGITS = 20  # of one number: 64 bits hold none that has more
_MOST_OPERATORS = 64
_MOST_PRODUCTS = 64  # monomials of an expression that is multiplied out
_MOST_FACTORS = 8  # names in one of them

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_DIVISIONS = (ast.Div, ast.FloorDiv, ast.Mod)
_KNOWN = (ast.BinOp, ast.UnaryOp, ast.USub, ast.Name, ast.Constant, ast.expr_context, *_OPERATORS)
_TOKEN = re.compile(r"\d\w*|[^\W\d]\w*|\S")
_SIGNS = frozenset("+-*/%()")

N = TypeVar("N")


class ExpressionLimitError(ValueError):
    """An expression is larger than the limits: the text says which it exceeds."""


def names_in(dim: str) -> frozenset[str]:
    """Return the names in a declared dim; the dim itself if it is not an expression.

    >>> sorted(names_in("2*past + s1")), sorted(names_in("batch size"))
    (['past', 's1'], ['batch size'])
    """
    tree = _within_limits(dim)
    if tree is None:
        return frozenset([dim])
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def divides(dim: str) -> bool:
    """Return whether an expression has a division in it.

    >>> divides("2*past"), divides("s1 // 2")
    (False, True)
    """
    tree = _within_limits(dim)
    return tree is not None and any(isinstance(node, _DIVISIONS) for node in ast.walk(tree))


def evaluate(dim: int | str | None, sizes: Mapping[str, N]) -> int | N | None:
    """Return the value of a dim at given sizes, numbers or terms; None if it is not known.

    >>> evaluate("2*past + 1", {"past": 3}), evaluate(7, {}), evaluate("other", {"past": 3})
    (7, 7, None)
    """
    if dim is None or isinstance(dim, int):
        return dim
    if dim in sizes:
        return sizes[dim]
    tree = _within_limits(dim)
    return None if tree is None else _value(tree, sizes)


def check_limits(dim: str) -> None:
    """Raise ExpressionLimitError if an expression is too large to be read.

    >>> check_limits("*".join("N" * 9))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    onnx_scatterx.assumptions.expressions.ExpressionLimitError: has a product ...
    """
    _parse(dim)


def _within_limits(dim: str) -> ast.expr | None:
    try:
        return _parse(dim)
    except ExpressionLimitError:
        return None


@lru_cache(maxsize=1024)
def _parse(dim: str) -> ast.expr | None:
    """Return a dim as an expression, or None if it is not an expression."""
    _check(len(dim), MOST_CHARACTERS, "has {} characters")
    tokens = _TOKEN.findall(dim)
    for token in tokens:
        is_number = token.isascii() and token.isdecimal()
        if not (is_number or token.isidentifier() or token in _SIGNS):
            return None
        if is_number:
            _check(len(token), MOST_DIGITS, "has a number of {} digits")
    operators = sum(token in _SIGNS - {"(", ")"} for token in tokens)
    _check(operators, _MOST_OPERATORS, "has {} operators")
    try:
        tree = ast.parse(dim.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two by parentheses
        return None
    for node in ast.walk(tree):
        is_flag = isinstance(node, ast.Constant) and type(node.value) is not int
        if is_flag or not isinstance(node, _KNOWN):
            return None
    products, factors = _extent(tree)
    _check(products, _MOST_PRODUCTS, "is a sum of {} products")
    _check(factors, _MOST_FACTORS, "has a product of {} names")
    return tree


def _check(count: int, most: int, what: str) -> None:
    if count > most:
        raise ExpressionLimitError(f"{what.format(count)}; at most {most} are allowed")


def _extent(tree: ast.expr) -> tuple[int, int]:
    """Return how many monomials an expression has at most, and how many names one has."""
    if isinstance(tree, ast.UnaryOp):
        return _extent(tree.operand)
    if not isinstance(tree, ast.BinOp):
        return 1, int(isinstance(tree, ast.Name))
    (one, few), (other, more) = _extent(tree.left), _extent(tree.right)
    if isinstance(tree.op, ast.Add | ast.Sub):
        return one + other, max(few, more)
    # A quotient is not multiplied out, but its operands count.
    return one * other, few + more


def _value(tree: ast.expr, sizes: Mapping[str, N]) -> int | N | None:
    if isinstance(tree, ast.Name):
        return sizes.get(tree.id)
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
        return tree.value
    result: int | N
    if isinstance(tree, ast.UnaryOp):
        operand: Any = _value(tree.operand, sizes)
        return None if operand is None else -operand
    if isinstance(tree, ast.BinOp) and type(tree.op) in _OPERATORS:
        left, right = _value(tree.left, sizes), _value(tree.right, sizes)
        if left is None or right is None:
            return None
        if isinstance(right, int) and right == 0 and isinstance(tree.op, _DIVISIONS):
            return None
        result = _OPERATORS[type(tree.op)](left, right)
        return result
    return None


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
SIGNS = tuple(COMPARISONS)
PROPERTIES = ("nonnegative", "contiguous", "unique", "nondecreasing", "increasing")
SIGN = re.compile(f"({'|'.join(SIGNS)}|=)")
TURNED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "==": "==", "!=": "!="}
COUNTS = re.compile(r"(?P<words>exactly|at\s+most|one\s+run\s+of)\s+(?P<number>.+)|one\s+run")
"""What is said of how many elements are chosen, and how they lie."""
_COUNTED = re.compile(r"(?:(?:exactly|at most|one run of) [^:<>=!]+|one run)$")
_CHAINS = ({"<", "<="}, {">", ">="})
_SHOWN = 100  # characters of a text that cannot be read


def statement(text: str) -> tuple[str, str]:
    """Split a statement into a name and its clauses; raise ScatterXError if this is impossible.

    >>> statement("seq <= 512"), statement("positions = nonnegative"), statement("n%8==0")
    (('seq', '<= 512'), ('positions', 'nonnegative'), ('n', '% 8 == 0'))
    >>> statement("cache_position: contiguous"), statement("0 <= idx < n")
    (('cache_position', 'contiguous'), ('idx', '>= 0, < n'))
    >>> statement("mask: at most 8"), statement("ids == 5: one run of 3")
    (('mask', 'at most 8'), ('ids == 5', 'one run of 3'))
    """
    head, comma, more = text.partition(",")
    check_length(head)
    plain = " ".join(head.split())
    counted = _COUNTED.search(plain)
    if counted is not None and plain[: counted.start()].endswith((" ", ":")):
        name = plain[: counted.start()].strip().removesuffix(":")
        name = re.sub(r"(?<![<>=!])=$", "", name).strip()
        if name:
            return name, counted[0] + comma + more
    sides = [side.strip() for side in SIGN.split(head)]
    name, condition = "", ""
    match sides:
        case [words]:
            name, _, condition = words.rpartition(" " if " " in words else ":")
        case [name, "=", condition]:
            pass
        case [bound, sign, subject] if _is_number(bound) and sign in TURNED:
            name, condition = _compared(subject, (TURNED[sign], bound))
        case [subject, sign, bound] if bound:
            name, condition = _compared(subject, (sign, bound))
        case [low, sign, subject, other, high] if any({sign, other} <= c for c in _CHAINS):
            name, condition = _compared(subject, (TURNED[sign], low), (other, high))
    name = name.strip().removesuffix(":").rstrip()
    if not name or not condition:
        shown = one_line(text, _SHOWN)
        raise ScatterXError(f"'{shown}' is not like 'seq <= 512' or 'positions: contiguous'")
    return name, condition + comma + more


def parts_of(text: str) -> list[str]:
    """Return the parts between commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def read_comparison(text: str, name: str) -> tuple[int, str, int | str]:
    """Read ``% modulus sign bound``; without ``%`` the modulus is 0.

    Raises ScatterXError if the text cannot be read; the error names ``name``.

    >>> read_comparison("% 8 == 0", "n"), read_comparison("<= 2*m - 1", "n")
    ((8, '==', 0), (0, '<=', '2*m - 1'))
    """
    check_length(text)
    sides = [side.strip() for side in SIGN.split(text)]
    try:
        if len(sides) == 3 and sides[1] in SIGNS:
            modulus, bound = _modulus(sides[0]), read_bound(sides[2])
            if modulus is not None and bound is not None:
                return modulus, sides[1], bound
    except ExpressionLimitError as error:
        raise beyond_limits(text, name, error) from error
    shown = one_line(text, _SHOWN)
    first = f"== {shown}" if text.strip().isdecimal() else "<= 4096"
    raise ScatterXError(
        f"cannot read the assumption '{shown}' about {name}; write for example '{first}', "
        f"'% 8 == 0', {', '.join(PROPERTIES)}, 'exactly 8', 'at most 8', 'one run of 8'"
    )


def beyond_limits(text: str, name: str, error: ExpressionLimitError) -> ScatterXError:
    """Return what a user is told of an assumption about ``name`` that is too large to be read."""
    return ScatterXError(f"'{one_line(text, _SHOWN)}', about {name}, {error}")


def with_numbers(condition: str, numbers: Mapping[str, int]) -> str:
    """Return a condition with numbers in the place of the names in its bound.

    >>> with_numbers("< 2*n", {"n": 4}), with_numbers("< x.n", {"n": 4}), with_numbers("unique", {})
    ('< 2*4', '< x.n', 'unique')
    >>> with_numbers("exactly n", {"n": 4}), with_numbers("at most 2*n", {"n": 4})
    ('exactly 4', 'at most 2*4')
    """
    *before, bound = SIGN.split(condition)
    counted = COUNTS.fullmatch(condition)
    if counted is not None and counted["number"]:
        before, bound = [counted["words"]], f" {counted['number']}"
    if not before or (bound.strip() not in numbers and _within_limits(bound) is None):
        return condition  # a property, or a name that is no expression
    known = {name: str(number) for name, number in numbers.items()}
    whole = known.get(bound.strip())
    replaced = _TOKEN.sub(lambda token: known.get(token[0], token[0]), bound)
    return "".join([*before, replaced if whole is None else f" {whole}"])


def check_length(text: str) -> None:
    """Raise ScatterXError if a part of an assumption is too long to be read."""
    if len(text) > MOST_CHARACTERS:
        raise ScatterXError(
            f"the assumption '{one_line(text, _SHOWN)}' has {len(text)} characters; "
            f"at most {MOST_CHARACTERS} are allowed"
        )


def _compared(subject: str, *comparisons: tuple[str, str]) -> tuple[str, str]:
    """Return the name in ``name % modulus``, and the text of these comparisons for it."""
    name, modulus = subject, ""
    before, sign, number = subject.rpartition("%")
    if sign and _is_number(number):
        name, modulus = before, f"% {number.strip()} "
    return name, ", ".join(f"{modulus}{sign} {bound}" for sign, bound in comparisons)


def _is_number(text: str) -> bool:
    return text.strip().removeprefix("-").isdecimal()


def _modulus(text: str) -> int | None:
    """Return the number after ``%``: 0 without a ``%``, None if it is not a modulus."""
    if not text:
        return 0
    number = text.removeprefix("%").strip()
    check_limits(number)
    modulus = evaluate(number, {})
    return modulus if text.startswith("%") and modulus and modulus > 0 else None


def read_bound(text: str) -> int | str | None:
    """Return a bound as a number or an expression; None if it cannot be read."""
    check_limits(text)
    if not text or not {"!", "%"}.isdisjoint(text) or divides(text):
        return None
    number = evaluate(text, {})
    return text if number is None else number

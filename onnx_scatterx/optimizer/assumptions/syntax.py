"""How assumptions are written: parts between commas, of sides between signs.

    seq <= 4096        n % 8 == 0        pos < seq        0 <= idx < n        x[0] >= 2
    cache_position: contiguous, nonnegative               positions = unique

A name may hold anything but a comma, a sign, or a blank before a property; a bound is a number, a
name, or an expression of names.
"""

from __future__ import annotations

import re

from onnx_scatterx.errors import ScatterXError, one_line
from onnx_scatterx.optimizer.assumptions.expressions import (
    MOST_CHARACTERS,
    ExpressionLimitError,
    check_limits,
    divides,
    evaluate,
)

SIGNS = ("<=", ">=", "==", "!=", "<", ">")
PROPERTIES = ("nonnegative", "contiguous", "unique", "nondecreasing", "increasing")
_SIGN = re.compile(f"({'|'.join(SIGNS)}|=)")
_TURNED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "==": "==", "!=": "!="}
_CHAINS = ({"<", "<="}, {">", ">="})
_SHOWN = 100  # characters of a text that cannot be read


def statement(text: str) -> tuple[str, str]:
    """Split a statement into a name and its clauses; raise ScatterXError if this is impossible.

    >>> statement("seq <= 512"), statement("positions = nonnegative"), statement("n%8==0")
    (('seq', '<= 512'), ('positions', 'nonnegative'), ('n', '% 8 == 0'))
    >>> statement("cache_position: contiguous"), statement("0 <= idx < n")
    (('cache_position', 'contiguous'), ('idx', '>= 0, < n'))
    """
    head, comma, more = text.partition(",")
    check_length(head)
    sides = [side.strip() for side in _SIGN.split(head)]
    name, condition = "", ""
    match sides:
        case [words]:
            name, _, condition = words.rpartition(" " if " " in words else ":")
        case [name, "=", condition]:
            pass
        case [bound, sign, subject] if _is_number(bound) and sign in _TURNED:
            name, condition = _compared(subject, (_TURNED[sign], bound))
        case [subject, sign, bound] if bound:
            name, condition = _compared(subject, (sign, bound))
        case [low, sign, subject, other, high] if any({sign, other} <= c for c in _CHAINS):
            name, condition = _compared(subject, (_TURNED[sign], low), (other, high))
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
    sides = [side.strip() for side in _SIGN.split(text)]
    try:
        if len(sides) == 3 and sides[1] in SIGNS:
            modulus, bound = _modulus(sides[0]), _bound(sides[2])
            if modulus is not None and bound is not None:
                return modulus, sides[1], bound
    except ExpressionLimitError as error:
        raise ScatterXError(f"'{one_line(text, _SHOWN)}', about {name}, {error}") from error
    raise ScatterXError(
        f"cannot read the assumption '{one_line(text, _SHOWN)}' about {name}; write for example "
        f"'<= 4096', '% 8 == 0', {', '.join(PROPERTIES)}"
    )


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


def _bound(text: str) -> int | str | None:
    """Return a bound as a number or an expression; None if it cannot be read."""
    check_limits(text)
    if not text or not {"!", "%"}.isdisjoint(text) or divides(text):
        return None
    number = evaluate(text, {})
    return text if number is None else number

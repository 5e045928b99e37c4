"""The text of an Einsum's equation, with a letter for every dim and with its result."""

from __future__ import annotations

from collections.abc import Sequence

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def named_equation(equation: str, ranks: Sequence[int]) -> str | None:
    """Return an equation with letters for dots, aligned at the last one, and with its result.

    A result that is not written has the dims of the dots, and then the letters that stand once, in
    the order of the alphabet. Returns None if the ranks do not fit, or if no letter is left, and of
    capital letters in such a result, whose order is a convention.

    >>> named_equation("...ij, jk -> ...ik", [4, 2]), named_equation("jk,ij", [2, 2])
    ('abij,jk->abik', 'jk,ij->ik')
    """
    left, arrow, right = "".join(equation.split()).partition("->")
    operands = left.split(",")
    if len(operands) != len(ranks) or any(o.count("...") > 1 for o in (*operands, right)):
        return None
    if not arrow:
        plain = left.replace("...", "")
        once = sorted(c for c in {*plain} - {","} if plain.count(c) == 1)
        if not all(c.islower() for c in once):
            return None
        right = "..." * ("..." in left) + "".join(once)
    counts = [
        rank - len(operand.replace("...", "")) if "..." in operand else 0
        for operand, rank in zip(operands, ranks, strict=True)
    ]
    most = max(counts)
    free = [c for c in _LETTERS if c not in left + right][:most]
    if min(counts) < 0 or len(free) < most or (most > 0 and "..." not in right):
        return None
    named = [
        operand.replace("...", "".join(free[most - count :]))
        for operand, count in zip(operands, counts, strict=True)
    ]
    if any(len(operand) != rank for operand, rank in zip(named, ranks, strict=True)):
        return None
    return f"{','.join(named)}->{right.replace('...', ''.join(free))}"

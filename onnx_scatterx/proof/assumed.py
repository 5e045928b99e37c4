"""The assumptions of an answer that stand in several places, and their order."""

from __future__ import annotations

from collections.abc import Iterable

SIGN_OF_ZERO = "the sign of a zero does not count where Where, Min or Max chooses floats"
ZEROS_ADDED = "the sign of a zero does not count where ReduceSum adds zeros to it"
SAME_BITS = "arithmetic on floats gives the same bits at any place in a tensor"
SAME_ROWS = "a row multiplied by a stored matrix gives the same bits alone and among other rows"
SAME_NAMES = "dims of inputs with the same name have the same size"
SHORT_AXES = "every axis is shorter than 2^31"
FEW_ARE_TRUE = "fewer than 2^31 elements of a mask are true"
SMALL_RESIZE = "axes that Resize makes longer have at most 2^24 elements then"
INFERRED = "dims are inferred as by"

ALWAYS_ASSUMED = (
    "the graph optimizations of a runtime keep what a model computes",
    "inputs count on which the first model runs without graph optimizations, too",
    SHORT_AXES,
)
_FIRST = (SIGN_OF_ZERO, ZEROS_ADDED, SAME_BITS, SAME_ROWS, SAME_NAMES)
_LAST = (*ALWAYS_ASSUMED[:2], INFERRED, SMALL_RESIZE, FEW_ARE_TRUE, SHORT_AXES)


def in_order(texts: Iterable[str]) -> tuple[str, ...]:
    """Return assumptions without repetitions: first what decides, last what is harmless.

    >>> in_order([SHORT_AXES, "another one", SAME_BITS, SHORT_AXES])[1:]
    ('another one', 'every axis is shorter than 2^31')
    """
    return tuple(sorted(dict.fromkeys(texts), key=_rank))


def _rank(text: str) -> int:
    if text in _FIRST:
        return _FIRST.index(text) - len(_FIRST)
    return next((1 + k for k, last in enumerate(_LAST) if text.startswith(last)), 0)

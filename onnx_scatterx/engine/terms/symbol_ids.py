"""The origins of run-time numbers, numbered in the order in which one model shows them.

The order of atoms begins with these numbers, so they must not depend on other models. While a model
is analysed, its origins have their own numbers, and its leaves differ from those of other models.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from onnx_scatterx.engine.budget import LIMITS
from onnx_scatterx.engine.terms.memo import Memo


class SymbolId:
    """The identity of an origin, and its number."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


_OTHERS = 1 << 32  # a model has fewer origins
_SMALL = 1 << 10  # bytes of an array that is always kept


class _SymbolIds(dict[Hashable, SymbolId]):
    def __init__(self, first: int) -> None:
        self.first = first
        self.results = Memo[Any, Any]()
        self.arrays: dict[int, np.ndarray] = {}
        self.bytes = 0

    def __missing__(self, origin: Hashable) -> SymbolId:
        new = self[origin] = SymbolId(self.first + len(self))
        return new


_outside = _SymbolIds(_OTHERS)
_symbol_ids: ContextVar[_SymbolIds] = ContextVar("symbol_ids", default=_outside)


def results() -> dict[Any, Any]:
    """Return what was computed with the symbols of this model, to be remembered as long as it."""
    return _symbol_ids.get().results


def keeps(array: np.ndarray) -> bool:
    """Return whether a computed array may be kept: those of one model have a limit of bytes.

    A view counts as the array that it is a view of, once. Arrays beyond ``LIMITS.elements`` are
    those of the model itself, and count nothing. Small arrays, such as shapes, count nothing, too:
    if the sizes of a model were forgotten, little could be proven of the rest.
    """
    now = _symbol_ids.get()
    owner = array if array.base is None else array.base
    if now is _outside or not isinstance(owner, np.ndarray):
        return True
    if owner.size > LIMITS.elements or owner.nbytes <= _SMALL:
        return True
    if id(owner) not in now.arrays:
        if now.bytes + owner.nbytes > LIMITS.kept_bytes:
            return False
        now.bytes += owner.nbytes
        now.arrays[id(owner)] = owner  # so that no other one gets its id
    return True


def symbol_id(origin: Hashable) -> SymbolId:
    """Return the identity of an origin; a new origin gets a new one."""
    return _symbol_ids.get()[origin]


@contextmanager
def fresh_symbols(*, foreign: bool = False) -> Iterator[None]:
    """Number origins from 0 on; afterwards the former numbers continue.

    If they are ``foreign``, they are used together with those of a model, and come after them.

    >>> from onnx_scatterx.engine.terms.symbols import size
    >>> n = size("n")
    >>> with fresh_symbols():
    ...     size("n") is n
    False
    >>> size("n") is n
    True
    """
    token = _symbol_ids.set(_SymbolIds(_OTHERS if foreign else 0))
    try:
        yield
    finally:
        _symbol_ids.reset(token)

"""Limits of a target on one operator that it has, as its profile says."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import onnx_ir as ir

from onnx_scatterx.targets.refused_use import RefusedUse


@dataclass(frozen=True)
class SlowUse:
    """Uses that a target runs slowly: of these element types, and with these reductions (or all).

    >>> slow = SlowUse(reductions=frozenset({"add"}))
    >>> slow.has(ir.DataType.FLOAT, "add"), slow.has(ir.DataType.FLOAT, "none")
    (True, False)
    """

    types: frozenset[str] | None = None
    reductions: frozenset[str] | None = None

    def has(self, dtype: ir.DataType | None, reduction: str) -> bool:
        """Return whether a use is slow; one of an element type that is not known is."""
        kind = None if dtype is None else dtype.name.lower()
        of_type = self.types is None or kind is None or kind in self.types
        return of_type and (self.reductions is None or reduction in self.reductions)


@dataclass(frozen=True)
class OperatorLimits:
    """What a target does not take of an operator that it has.

    ``types`` are the only element types of the data that it takes, ``no_types`` those that it does
    not take, by their ONNX names in lower case. ``native`` is False if the operator runs on the
    host, or has the element types with which it does not: what runs on the host counts as lacking,
    until nothing else helps (`Target.with_host`). ``slow`` says the same of what the device runs,
    but slowly.

    >>> limits = OperatorLimits(no_types=frozenset({"int64"}), max_rank=4)
    >>> limits.takes_type(ir.DataType.INT64), limits.takes_type(ir.DataType.FLOAT)
    (False, True)
    """

    types: frozenset[str] | None = None
    no_types: frozenset[str] = frozenset()
    native: bool | frozenset[str] = True
    max_rank: int | None = None
    reductions: frozenset[str] | None = None  # of a scatter: only these, such as "none" and "add"
    exclusive: bool = True  # CumSum with exclusive=1
    broadcast: bool = True  # operands of unlike shapes
    steps: bool | frozenset[int] = True  # Slice with a step other than 1, or than these
    computed: bool | Literal["sizes"] = True  # bounds and shapes that no constants give, or sizes
    constant: bool = True  # indices that are constants
    axes_input: bool | Literal["all", "several"] = True  # axes as an input; of all, of several
    within: frozenset[str] = frozenset()  # only as a node of one of these patterns, such as Gelu
    equations: frozenset[str] | None = None  # of an Einsum: only these, by whichever letters
    most: int | None = None  # of a TopK: how many elements it finds
    inner: bool = True  # a TensorScatter that is not from an input of the model to an output of it
    slow: bool | SlowUse = False
    refused: tuple[RefusedUse, ...] = ()
    written: frozenset[str] = frozenset()  # attributes that must be written, whatever their default
    unwritten: frozenset[str] = frozenset()  # attributes that must not be written, by any value
    zeros: frozenset[str] = frozenset()  # element types of which constants among the data must be 0
    data_rank: int | None = None  # the dims of the first input: neither fewer nor more
    negative: bool = True  # indices, steps, pads, or dividends of a Mod, that may be below 0
    computed_data: bool = True  # a first input that is not a constant

    @cached_property
    def given(self) -> tuple[str, ...]:
        """The names of the limits that there are.

        >>> OperatorLimits(max_rank=4, types=frozenset({"float"})).given
        ('types', 'max_rank')
        """
        return tuple(name for name, field in KEYS.items() if getattr(self, name) != field.default)

    def narrowed(self, types: frozenset[str] | None, no_types: frozenset[str]) -> OperatorLimits:
        """Return these limits for a target that has these types only, and none of those.

        >>> limits = OperatorLimits(types=frozenset({"float", "int64"}))
        >>> limits.narrowed(frozenset({"float", "bool"}), frozenset()).types
        frozenset({'float'})
        """
        if types is not None and self.types is not None:
            types &= self.types
        both = self.types if types is None else types
        return dataclasses.replace(self, types=both, no_types=self.no_types | no_types)

    def takes_type(self, dtype: ir.DataType) -> bool:
        """Return whether data of an element type is taken."""
        name = dtype.name.lower()
        allowed = name not in self.no_types and (self.types is None or name in self.types)
        return allowed and self.is_native(dtype)

    def most_dims(self, rank: int, holds: Callable[[RefusedUse], bool]) -> int | None:
        """Return how many dims are taken of data that has so many; None if any number is.

        ``holds`` says of a refused use whether it is this one.

        >>> limits = OperatorLimits(refused=(RefusedUse(ranks=frozenset({5, 6})),))
        >>> limits.most_dims(5, lambda use: True), limits.most_dims(4, lambda use: False)
        (4, None)
        """
        found = [] if self.max_rank is None else [self.max_rank]
        for use in self.refused:
            ranks = use.ranks or frozenset()
            if rank in ranks and holds(use):
                found.append(next((n for n in range(rank - 1, 0, -1) if n not in ranks), 0))
        return min(found, default=None)

    def takes_equation(self, equation: str) -> bool:
        """Return whether an equation of an Einsum is taken: other letters mean the same.

        >>> limits = OperatorLimits(equations=frozenset({"bij,bjk->bik"}))
        >>> limits.takes_equation("xab, xbc -> xac"), limits.takes_equation("bij,bkj->bik")
        (True, False)
        """
        return self.equations is None or _renamed(equation) in map(_renamed, self.equations)

    def is_native(self, dtype: ir.DataType | None) -> bool:
        """Return whether the operator runs on the device itself, as far as types say."""
        if isinstance(self.native, bool) or dtype is None:
            return bool(self.native)
        return dtype.name.lower() in self.native

    def is_slow(self, dtype: ir.DataType | None, reduction: str = "none") -> bool:
        """Return whether the device runs a use slowly.

        >>> OperatorLimits(slow=True).is_slow(ir.DataType.FLOAT)
        True
        """
        return self.slow if isinstance(self.slow, bool) else self.slow.has(dtype, reduction)


def _renamed(equation: str) -> str:
    """Return an equation with the letters a, b, ... in the order in which they come."""
    text = "".join(equation.split())
    letters = dict.fromkeys(letter for letter in text if letter.isalpha())
    return text.translate({ord(old): ord("a") + i for i, old in enumerate(letters)})


NO_LIMITS = OperatorLimits()
KEYS = {f.name: f for f in dataclasses.fields(OperatorLimits)}

"""What is known of all elements of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from onnx_scatterx.optimizer.symbolic.terms import Number, Term, element


@dataclass(frozen=True)
class Elements:
    """What is known of every element ``e`` of a tensor.

    ``bounds`` are >= 0, with ``Elements.ANY`` in place of the element. ``distinct``: no two
    elements are equal. ``ordered``: along the last axis none is less than the one before; if there
    is a ``row``, only in the row of this number.
    """

    ANY: ClassVar[Term] = element("any", (), name="e")

    bounds: tuple[Term, ...] = ()
    distinct: bool = False
    ordered: bool = False
    row: int | None = None

    def is_ordered(self, row: Sequence[Term]) -> bool:
        """Return whether none is less than the one before, along the last axis of a row."""
        known = self.row is None or [t.constant for t in row] == [self.row]
        return self.ordered and known

    def of(self, e: Number) -> list[Term]:
        """Return terms that are >= 0 for an element."""
        (any_,) = self.ANY.atoms
        return [bound.replace({any_: e}) for bound in self.bounds]

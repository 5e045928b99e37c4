"""Updates of a scatter that collide: ONNX leaves open which one wins."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import onnx_ir as ir

from onnx_scatterx.engine.lift import InTheory, Scatter
from onnx_scatterx.engine.mosaic import Provenance, is_unique
from onnx_scatterx.engine.passes import LAST_WINS

_TOLD = 64  # groups in plain data
_SHOWN = 4  # updates of one group that are listed


@dataclass(frozen=True)
class Duplicates:
    """Updates of a scatter may collide; ``groups`` are those that collide, by their indices.

    ``certain`` says that some collide. ``last_wins`` says that the last one was made to win.
    ``last`` says where the last one wins in any case. ``hint`` says which promise is missing, or
    what the module may have meant.
    """

    certain: bool
    groups: tuple[tuple[tuple[int, ...], ...], ...] = ()
    last_wins: bool = False
    last: str = ""
    hint: str = field(default="", compare=False)

    def __str__(self) -> str:
        if self.last_wins:
            return "if several updates go to the same element, the last one wins"
        open_ = "and ONNX does not say which one wins" + (
            f"; {self.last} the last" if self.last else ""
        )
        open_ += f"; {self.hint}" if self.hint else ""
        if not self.certain:
            return f"updates may go to the same element, {open_}"
        if not self.groups:
            return f"updates go to the same element, {open_}"
        updates = [str(index) for index in self.groups[0]]
        listed = f"{', '.join(updates[:-1])} and {updates[-1]}"
        if len(updates) > _SHOWN:
            listed = f"{', '.join(updates[:_SHOWN])} and {len(updates) - _SHOWN} more"
        elsewhere = len(self.groups) - 1
        others = f" (others to {elsewhere} more)" if elsewhere else ""
        return f"updates {listed} go to the same element{others}, {open_}"

    def to_dict(self) -> dict[str, Any]:
        """Return this as plain data; of many groups only the first ones."""
        groups = [[list(index) for index in group] for group in self.groups[:_TOLD]]
        return {"certain": self.certain, "updates": groups, "settled": self.last_wins}


def duplicates_of(
    node: ir.Node, in_theory: InTheory, unique: str, last: str, hint: str = ""
) -> Duplicates | None:
    """Return the collisions, for which ONNX defines no order; None if no two updates collide.

    ``unique`` is the word of the report for uniqueness. ``last`` says where the last update wins,
    and ``hint`` which promise is missing, or what the module may have meant.
    """
    if node.meta.get(LAST_WINS) and unique == "proven":
        return Duplicates(True, last_wins=True)
    scatter = in_theory.access
    if not isinstance(scatter, Scatter) or scatter.reduction != "none" or unique == "proven":
        return None
    groups: tuple[tuple[tuple[int, ...], ...], ...] = ()
    # If a node never runs, its targets may be out of bounds. Then they are not grouped.
    if in_theory.transformer is not None and in_theory.unique is False:
        groups = in_theory.transformer.collisions()
    return Duplicates(unique == "collides", groups, last=last, hint=hint)


def missing_sign(scatter: Scatter, provenance: Provenance, promised: Collection[str]) -> str:
    """Return that a promise of different values lacks one of their sign; empty if it does not.

    ``promised`` are the inputs whose elements are promised to be different. If no position counts
    from the end, different values are different places: then the updates must be proven unique.
    """
    for expr, size, is_counted in zip(
        scatter.index_exprs, scatter.data_shape, scatter.nonnegative, strict=True
    ):
        origins = (leaf.origin for leaf in expr.leaves() if isinstance(leaf.origin, tuple))
        read = (v for v in chain.from_iterable(origins) if isinstance(v, ir.Value))
        names = [value.name for value in read if value.name in promised]
        if is_counted or not names:
            continue
        if is_unique(replace(scatter, nonnegative=(True,) * len(scatter.nonnegative)), provenance):
            last = "the last position" if size.constant is None else size.constant - 1
            return (
                f"different values of {names[0]!r} may be one place, such as -1 and {last}: "
                f"promise '{names[0]}: nonnegative', too"
            )
    return ""

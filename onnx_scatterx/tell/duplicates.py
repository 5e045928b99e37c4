"""Updates of a scatter that collide: ONNX leaves open which one wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import onnx_ir as ir

from onnx_scatterx.engine.lift.in_theory import InTheory
from onnx_scatterx.engine.lift.lifting import Scatter
from onnx_scatterx.engine.passes.marks import LAST_WINS

_TOLD = 64  # groups in plain data
_SHOWN = 4  # updates of one group that are listed


@dataclass(frozen=True)
class Duplicates:
    """Updates of a scatter may collide; ``groups`` are those that collide, by their indices.

    ``certain`` says that some collide. ``last_wins`` says that the last one was made to win.
    ``last`` says where the last one wins in any case.
    """

    certain: bool
    groups: tuple[tuple[tuple[int, ...], ...], ...] = ()
    last_wins: bool = False
    last: str = ""

    def __str__(self) -> str:
        if self.last_wins:
            return "if several updates go to the same element, the last one wins"
        open_ = "and ONNX does not say which one wins" + (
            f"; {self.last} the last" if self.last else ""
        )
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


def duplicates_of(node: ir.Node, in_theory: InTheory, unique: str, last: str) -> Duplicates | None:
    """Return the collisions, for which ONNX defines no order; None if no two updates collide.

    ``unique`` is the word of the report for uniqueness. ``last`` says where the last update wins.
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
    return Duplicates(unique == "collides", groups, last=last)

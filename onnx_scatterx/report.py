"""What became of every scatter of a model, for people and for programs."""

from __future__ import annotations

import enum
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_scatterx.reasons import Reason, Refusal

if TYPE_CHECKING:
    from rich.table import Table


class Action(enum.Enum):
    """What is done with a scatter."""

    REMOVED = "removed"
    KEPT = "kept"
    DEAD = "removed, as nothing reads it"


@dataclass(frozen=True)
class ScatterReport:
    """One scatter node: what it is, what is done with it, and why not more.

    ``graph`` names the graph or function that it stands in; ``forms`` are the rules that write its
    region; ``facts`` is what the proof rests on, apart from the graph itself.
    """

    node: str
    op: str
    graph: str
    reduction: str
    footprint: str
    verdict: str
    unique: str
    action: Action
    forms: tuple[str, ...] = ()
    refusal: Refusal | None = None
    facts: tuple[str, ...] = ()

    @property
    def reason(self) -> Reason | None:
        """Why it stays, or None where it goes."""
        return None if self.refusal is None else self.refusal.reason

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "node": self.node,
            "op": self.op,
            "graph": self.graph,
            "reduction": self.reduction,
            "footprint": self.footprint,
            "verdict": self.verdict,
            "unique": self.unique,
            "action": self.action.name.lower(),
            "forms": list(self.forms),
            "reason": None if self.refusal is None else self.refusal.reason.name.lower(),
            "why": None if self.refusal is None else str(self.refusal),
            "facts": list(self.facts),
        }


@dataclass(frozen=True)
class Report:
    """All scatters of a model, and the node counts before and after."""

    target: str
    scatters: tuple[ScatterReport, ...]
    nodes_before: int
    nodes_after: int
    assumptions: tuple[str, ...] = ()
    ops_before: Counter[str] = field(default_factory=Counter)
    ops_after: Counter[str] = field(default_factory=Counter)

    @property
    def removed(self) -> int:
        """How many scatters are gone."""
        return sum(s.action is not Action.KEPT for s in self.scatters)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "target": self.target,
            "scatters": [s.to_dict() for s in self.scatters],
            "removed": self.removed,
            "nodes": {"before": self.nodes_before, "after": self.nodes_after},
            "ops": {"before": dict(self.ops_before), "after": dict(self.ops_after)},
            "assumptions": list(self.assumptions),
        }

    def to_json(self) -> str:
        """Return the report as JSON text."""
        return json.dumps(self.to_dict(), indent=2)

    def summary(self) -> str:
        """Return the report in one sentence."""
        total = len(self.scatters)
        if not total:
            return "no scatter in this model"
        nodes = f"{self.nodes_before} -> {self.nodes_after} nodes"
        return f"{self.removed} of {total} scatters removed, {nodes}"

    def __rich__(self) -> Table:
        from rich.table import Table

        table = Table(title=self.summary(), title_justify="left", show_lines=False)
        for column in ("node", "operator", "writes", "verdict", "what is done"):
            table.add_column(column, overflow="fold")
        for s in self.scatters:
            done = s.action.value
            if s.forms:
                done += f": {', '.join(s.forms)}"
            if s.refusal is not None:
                done += f": {s.refusal}"
            op = s.op if s.reduction == "none" else f"{s.op} ({s.reduction})"
            table.add_row(s.node, op, s.footprint, s.verdict, done)
        if self.assumptions:
            table.caption = "Assumed: " + "; ".join(self.assumptions)
            table.caption_justify = "left"
        return table

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(width=120, record=False, color_system=None)
        with console.capture() as capture:
            console.print(self)
        return capture.get().rstrip()

"""What became of one scatter, or of one gather."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from onnx_scatterx.duplicates import Duplicates
from onnx_scatterx.reasons import Reason, Refusal


class Action(enum.Enum):
    """What is done with a scatter or a gather."""

    REMOVED = "removed"
    NATIVE = "becomes ScatterX"
    KEPT = "kept"
    DEAD = "removed, as nothing reads it"


class _Entry:
    """What the reports on scatters and on gathers can tell alike."""

    action: Action
    forms: tuple[str, ...]
    refusal: Refusal | None

    @property
    def reason(self) -> Reason | None:
        """Why it stays, or None where it goes."""
        return None if self.refusal is None else self.refusal.reason

    @property
    def done(self) -> str:
        """What is done with it, and by which rules or why not."""
        if self.refusal is not None:
            return f"{self.action.value}: {self.refusal}"
        return f"{self.action.value}: {', '.join(self.forms)}" if self.forms else self.action.value

    def _told(self) -> dict[str, Any]:
        return {
            "action": self.action.name.lower(),
            "forms": list(self.forms),
            "reason": None if self.refusal is None else self.refusal.reason.name.lower(),
            "why": None if self.refusal is None else str(self.refusal),
        }


@dataclass(frozen=True)
class ScatterReport(_Entry):
    """One scatter node: what it is, what is done with it, and why not more.

    ``graph`` names the graph or function that it stands in; ``forms`` are the rules that write its
    region; ``facts`` is what the proof rests on, apart from the graph itself. ``duplicates`` says
    what ONNX leaves open, where updates collide. ``work`` is how many elements the largest tensor
    of a dense form has. A node without a name goes by that of its output.
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
    duplicates: Duplicates | None = None
    work: str = ""

    @property
    def done(self) -> str:
        """What is done with it, by which rules and how much work, or why not."""
        work = f" (dense, {self.work} elements)" if self.work and self.refusal is None else ""
        return super().done + work

    def row(self) -> tuple[str, ...]:
        """Return its row in the table, under ``Report.columns``."""
        op = self.op if self.reduction == "none" else f"{self.op} ({self.reduction})"
        return self.node, op, self.footprint, self.verdict, self.done

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
            **self._told(),
            "facts": list(self.facts),
            "duplicates": None if self.duplicates is None else self.duplicates.to_dict(),
            "work": self.work or None,
        }


@dataclass(frozen=True)
class GatherReport(_Entry):
    """One node that reads by indices: Gather, GatherElements or GatherND.

    ``footprint`` is what it reads of its data; all else is as with a scatter.
    """

    node: str
    op: str
    graph: str
    footprint: str
    verdict: str
    action: Action
    forms: tuple[str, ...] = ()
    refusal: Refusal | None = None
    facts: tuple[str, ...] = ()

    def row(self) -> tuple[str, ...]:
        """Return its row in the table, under ``Report.columns``."""
        return self.node, self.op, self.footprint, self.verdict, self.done

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "node": self.node,
            "op": self.op,
            "graph": self.graph,
            "footprint": self.footprint,
            "verdict": self.verdict,
            **self._told(),
            "facts": list(self.facts),
        }

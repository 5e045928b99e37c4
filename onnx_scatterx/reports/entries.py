"""The outcome of one scatter, or of one gather."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

from onnx_scatterx.lift.uniqueness import Duplicates
from onnx_scatterx.reports.index_map import IndexMap
from onnx_scatterx.reports.sketch import Excerpt
from onnx_scatterx.text.reasons import Reason, Refusal


class Action(enum.Enum):
    """What is done with a scatter or a gather."""

    REMOVED = "removed"
    NATIVE = "becomes ScatterX"
    KEPT = "kept"
    DEAD = "removed: nothing reads it"


@dataclass(frozen=True)
class Detail:
    """The details that a page shows of a scatter or gather, in addition to its row.

    ``sections`` are the text of ``explain``: labels, each with its sentences. ``index_map`` has the
    elements that it writes or reads, if they are known. ``before`` and ``after`` are the piece of
    graph around it; if it is kept, ``after`` is None. ``together`` is how many other
    scatters were removed with it.
    """

    sections: tuple[tuple[str, tuple[str, ...]], ...] = ()
    index_map: IndexMap | None = None
    before: Excerpt | None = None
    after: Excerpt | None = None
    together: int = 0


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One scatter or gather: what it writes or reads, what is done with it, and why it is kept.

    ``graph`` names the graph or function that contains it. ``footprint`` is the region of its data
    that it writes or reads; if transposes around the node are undone, it is in the ``axes`` of the
    original statement. ``rules`` are the rules that write its region, and ``written`` the operators
    that replace it. ``facts`` are the assumptions of the proof. If a node has no name, it is named
    by its output. ``selects_floats`` says that a Where of floats was written, which may change a
    zero's sign. ``in_onnxruntime`` are the reasons why ONNX Runtime may compute other values of the
    nodes that replace it. ``detail`` is for a page; equality of entries ignores it.
    """

    node: str
    op: str
    graph: str
    footprint: str
    verdict: str
    action: Action
    rules: tuple[str, ...] = ()
    refusal: Refusal | None = None
    facts: tuple[str, ...] = ()
    selects_floats: bool = False
    in_onnxruntime: tuple[str, ...] = ()
    detail: Detail | None = field(default=None, compare=False, repr=False)
    written: tuple[str, ...] = ()
    axes: tuple[int, ...] | None = None

    @property
    def reason(self) -> Reason | None:
        """Why it is kept, or None if it is removed."""
        return None if self.refusal is None else self.refusal.reason

    @property
    def done(self) -> str:
        """What is done with it: the operators that replace it, or why it is kept."""
        if self.refusal is not None:
            return f"{self.action.value}: {self.refusal}"
        if self.action is Action.REMOVED and not self.rules:
            return f"{self.action.value}, with all its readers"
        if self.action is not Action.REMOVED:
            return str(self.action.value)
        by = f"by {', '.join(self.written)}" if self.written else "without a node"
        return f"{self.action.value} {by}"

    @property
    def touches(self) -> str:
        """What it writes or reads, for people; ``Report.legend`` explains it."""
        if self.footprint != "unknown":
            return self.footprint
        return "?" if self.verdict == "unknown" else "by the indices"

    def row(self) -> tuple[str, ...]:
        """Return its row in the table, under ``Report.columns``."""
        return self.node, self.op, self.touches, self.verdict, self.done

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "node": self.node,
            "op": self.op,
            "graph": self.graph,
            "footprint": self.footprint,
            "verdict": self.verdict,
            "action": self.action.name.lower(),
            "rules": list(self.rules),
            "written": list(self.written),
            "axes": None if self.axes is None else list(self.axes),
            "reason": None if self.refusal is None else self.refusal.reason.name.lower(),
            "why": None if self.refusal is None else str(self.refusal),
            "facts": list(self.facts),
            "selects_floats": self.selects_floats,
            "in_onnxruntime": list(self.in_onnxruntime),
        }


@dataclass(frozen=True, kw_only=True)
class ScatterReport(Entry):
    """One scatter node.

    If updates collide, ``duplicates`` names them; ONNX does not define which one wins. ``work`` is
    how many elements the largest tensor of a dense form has. ``quantized`` says, of a write between
    DequantizeLinear and QuantizeLinear, whether it is done on the integers, or why not.
    """

    reduction: str
    unique: str
    duplicates: Duplicates | None = None
    work: str = ""
    quantized: str = ""

    @property
    def done(self) -> str:
        """What is done with it, by which operators and how much work, or why not."""
        work = f" (dense, {self.work} elements)" if self.work and self.refusal is None else ""
        return super().done + work + (f", {self.quantized}" if self.quantized else "")

    def row(self) -> tuple[str, ...]:
        """Return its row in the table, under ``Report.columns``."""
        node, op, *rest = super().row()
        return node, op if self.reduction == "none" else f"{op} ({self.reduction})", *rest

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            **super().to_dict(),
            "reduction": self.reduction,
            "unique": self.unique,
            "duplicates": None if self.duplicates is None else self.duplicates.to_dict(),
            "work": self.work or None,
            "quantized": self.quantized or None,
        }


@dataclass(frozen=True, kw_only=True)
class GatherReport(Entry):
    """One node that reads by indices: Gather, GatherElements or GatherND."""

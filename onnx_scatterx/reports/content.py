"""What became of every scatter of a model, and of its gathers, as plain data."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_scatterx.reports.about import About
from onnx_scatterx.reports.advice import Advice
from onnx_scatterx.reports.entries import Action, Entry, GatherReport, ScatterReport
from onnx_scatterx.text.visible import as_json

if TYPE_CHECKING:
    from onnx_scatterx.targets.violations import Violation
    from onnx_scatterx.verification import Verification

SCHEMA = 1
"""The version of the JSON of reports and summaries; docs/stability.md says when it changes."""


@dataclass(frozen=True)
class ReportContent:
    """All scatters of a model, and the node counts before and after.

    ``gathers`` are the nodes that read by indices, if ``with_gathers``. ``planned`` says that the
    model was not changed (``inspect``). The result is right under ``assumptions``; the other given
    ones, ``not_needed``, change nothing. ``violations`` are the nodes and inputs of the result that
    the target does not take. If the target reads no newer operator set, ``opset_lowered`` is the
    one to which a newer model was lowered, and ``opset_kept`` that of a model that could not be
    lowered.
    ``about`` has the model and the options, for its page.
    """

    target: str
    scatters: tuple[ScatterReport, ...]
    nodes_before: int
    nodes_after: int
    assumptions: tuple[str, ...] = ()
    ops_before: Counter[str] = field(default_factory=Counter)
    ops_after: Counter[str] = field(default_factory=Counter)
    planned: bool = False
    gathers: tuple[GatherReport, ...] = ()
    with_gathers: bool = False
    not_needed: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()
    opset_lowered: int | None = None
    opset_kept: int | None = None
    fixed: tuple[tuple[str, int], ...] = ()
    """Sizes that were fixed, by name."""
    to_fix: str = ""
    """The options that give numbers to the symbolic sizes, if the target wants numbers."""
    advice: tuple[Advice, ...] = ()
    """What to do about the kept ones, if ``advise`` was called."""
    about: About | None = field(default=None, compare=False)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The rows of the table: scatters, then gathers."""
        return (*self.scatters, *self.gathers)

    @property
    def removed(self) -> int:
        """How many scatters are gone."""
        return sum(s.action in (Action.REMOVED, Action.DEAD) for s in self.scatters)

    @property
    def gathers_removed(self) -> int:
        """How many gathers are gone."""
        return sum(g.action in (Action.REMOVED, Action.DEAD) for g in self.gathers)

    @property
    def native(self) -> int:
        """How many scatters are ScatterX nodes now."""
        return sum(s.action is Action.NATIVE for s in self.scatters)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "schema": SCHEMA,
            "target": self.target,
            "planned": self.planned,
            "scatters": [s.to_dict() for s in self.scatters],
            "removed": self.removed,
            "native": self.native,
            **self._of_gathers(),
            "nodes": {"before": self.nodes_before, "after": self.nodes_after},
            "ops": {"before": dict(self.ops_before), "after": dict(self.ops_after)},
            "assumptions": list(self.assumptions),
            "not_needed": list(self.not_needed),
            "violations": [asdict(v) for v in self.violations],
            "opset_kept": self.opset_kept,
            "opset_lowered": self.opset_lowered,
            "fixed": dict(self.fixed),
            "to_fix": self.to_fix,
            "advice": [advice.to_dict() for advice in self.advice],
        }

    def _of_gathers(self) -> dict[str, Any]:
        if not self.with_gathers:
            return {}
        entries = [g.to_dict() for g in self.gathers]
        return {"gathers": entries, "gathers_removed": self.gathers_removed}

    def to_json(self, verification: Verification | None = None) -> str:
        """Return the report as JSON text, with the answer of ``verify`` if given."""
        content = self.to_dict()
        if verification is not None:
            content["verification"] = verification.to_dict()
        return as_json(content)

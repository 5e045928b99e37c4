"""A report as people read it: a sentence, tables, lines below them, and a page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from onnx_scatterx.options import Strict
from onnx_scatterx.tell.entries import (
    About,
    Action,
    Entry,
    GatherReport,
    ScatterReport,
)
from onnx_scatterx.tell.kept_advice import Advice, counted
from onnx_scatterx.tell.outcome import outcome
from onnx_scatterx.tell.refused import is_error, refused_lines
from onnx_scatterx.tell.rendering import ShownInTables
from onnx_scatterx.text import LastBit, as_json, plain_fields, visible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from onnx_scatterx.compare import Verification
    from onnx_scatterx.engine.device import Violation
    from onnx_scatterx.tell.rendering import Group

SCHEMA = 1
"""The version of the JSON of reports and summaries; docs/stability.md says when it changes."""

_NODES = 10  # by which a result may be longer before it is said
NEEDS = "ScatterX is for ONNX Runtime"
OTHERWISE = "`--target standard` for other runtimes"
"""What a ScatterX node means for those who run the model elsewhere, and what they can do."""

OTHER_BITS = (
    ("defined", "written as ONNX defines them", LastBit.DEFINED),
    ("other_kernels", "ONNX Runtime has another kernel in that operator set", LastBit.KERNEL),
    ("zeros", "written without a Where", None),
    ("packed", "ONNX Runtime packs an operand that is a constant now", LastBit.PACKED),
)
"""The fields of nodes that may give other bits, and why: other last bits, or another sign of 0."""


@dataclass(frozen=True)
class Report(ShownInTables):
    """All scatters of a model, and the node counts before and after.

    ``gathers`` are the nodes that read by indices, if ``with_gathers``. ``planned`` says that the
    model was not changed (``inspect``). The result is right under ``assumptions``. ``violations``
    are the nodes and inputs of the result that the target does not take; if scatters were removed
    by operators that it lacks, there would be ``violations_if_kept`` otherwise. If it reads no
    newer operator set, ``opset_lowered`` is the one to which a newer model was lowered, and
    ``opset_kept`` that of a model that could not be lowered.
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
    as_is: bool = field(default=False, compare=False)
    """Whether the model was only compared with the target, as it is."""
    gathers: tuple[GatherReport, ...] = ()
    with_gathers: bool = False
    only_refused_gathers: bool = False
    """Whether only those gathers were to be removed that the target does not take."""
    violations: tuple[Violation, ...] = ()
    violations_if_kept: int | None = None
    at_load: Counter[str] = field(default_factory=Counter)
    """The operators of nodes that the target refuses, and that ONNX Runtime computes when it loads
    the file, since they depend on constants alone."""
    has_profile: bool = False
    """Whether the target says what it takes: then ``violations`` are all that it does not take."""
    opset_lowered: int | None = None
    opset_kept: int | None = None
    defined: tuple[str, ...] = ()
    """Nodes of functions that an older operator set lacks: they are written by their definitions,
    so the last bits of floats may differ."""
    other_kernels: tuple[str, ...] = ()
    """Nodes that ONNX Runtime computes by another kernel in the operator set to which the model was
    raised or lowered, so the last bits of floats may differ."""
    zeros: tuple[str, ...] = ()
    """Wheres that are written without a Where for the target, so the sign of a zero may differ."""
    packed: tuple[str, ...] = ()
    """Nodes with an operand that was computed for the target. ONNX Runtime packs such a constant,
    so the last bits of floats may differ without optimizations."""
    needs_runtime: str | None = None
    """The ONNX Runtime that the new nodes need, such as "1.31", if the oldest lacks a kernel."""
    fixed: tuple[tuple[str, int], ...] = ()
    """Sizes that were fixed, by name."""
    to_fix: str = ""
    """The options that give numbers to the symbolic sizes, if the target wants numbers."""
    places: str = ""
    """Which axis of which input has each of these sizes, in words."""
    advice: tuple[Advice, ...] = ()
    """What to do about the kept ones, if ``advise`` was called."""
    left: tuple[Violation, ...] | None = field(default=None, compare=False)
    """The violations that no command of ``advice`` removes; None if this is not known."""
    about: About | None = field(default=None, compare=False)
    by_standard: int | None = None
    """How many scatters ``standard`` removes, if some became ScatterX and it was tried."""
    cache_pairs: tuple[tuple[str, str], ...] = ()
    """The inputs of the result that scatters update, with the outputs that they become."""
    target_text: str = field(default="", compare=False)
    target_keys: str = field(default="", compare=False)
    """What names the target on the command line, such as the path of its profile."""
    modified: bool = field(default=False, compare=False)
    """Whether a pass changed the model."""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The rows of the table: scatters, then gathers."""
        return (*self.scatters, *self.gathers)

    @property
    def removed(self) -> int:
        """How many scatters are gone."""
        return sum(s.is_gone for s in self.scatters)

    @property
    def gathers_removed(self) -> int:
        """How many gathers are gone."""
        return sum(g.is_gone for g in self.gathers)

    @property
    def native(self) -> int:
        """How many scatters are ScatterX nodes now."""
        return sum(s.action is Action.NATIVE for s in self.scatters)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        nodes = " ".join(name for name, _, _ in OTHER_BITS)
        return {
            "schema": SCHEMA,
            "target": ", ".join(filter(None, (self.target, self.target_keys))),
            **plain_fields(self, "planned"),
            "strict_met": not self.unmet(True) if self.has_profile else None,
            **plain_fields(self, "scatters removed native by_standard"),
            **(plain_fields(self, "gathers gathers_removed") if self.with_gathers else {}),
            "nodes": {"before": self.nodes_before, "after": self.nodes_after},
            "ops": {"before": dict(self.ops_before), "after": dict(self.ops_after)},
            **plain_fields(self, "assumptions violations violations_if_kept at_load"),
            **plain_fields(self, f"opset_kept opset_lowered {nodes} needs_runtime"),
            "fixed": dict(self.fixed),
            "cache_pairs": dict(self.cache_pairs),
            **plain_fields(self, "to_fix advice"),
        }

    def to_json(self, verification: Verification | None = None) -> str:
        """Return the report as JSON text, with the answer of ``verify`` if given."""
        content = self.to_dict()
        if verification is not None:
            content["verification"] = verification.to_dict()
        return as_json(content)

    @property
    def columns(self) -> tuple[str, ...]:
        """The head of the table."""
        touched = "writes"
        if self.with_gathers:
            touched = "writes or reads" if self.scatters else "reads"
        done = "what would be done" if self.planned else "what is done"
        return "node", "operator", touched, done

    def to_html(
        self,
        verification: Verification | None = None,
        *,
        advice: Sequence[Advice] = (),
        date: datetime | None = None,
    ) -> str:
        """Return the report as a page of HTML that needs no other file, and no network.

        ``verification`` is the answer of ``verify``, and ``advice`` that of ``advise``, if the
        report does not hold it. ``date`` stands on the page: now by default, or the time of the
        environment's SOURCE_DATE_EPOCH.
        """
        from onnx_scatterx.tell.page import ComparedNote, page

        report = replace(self, advice=tuple(advice)) if advice else self
        return page(report, ComparedNote.of(verification), date)

    def _repr_html_(self) -> str:
        """Return the report as a notebook shows it."""
        from onnx_scatterx.tell.page import fragment

        return fragment(self)

    def summary(self) -> str:
        """Return the report in one sentence."""
        if self.as_is:
            return outcome(self)
        all_gathers = self.with_gathers and not self.only_refused_gathers
        told, there = tallies([self], self.planned), self.scatters or (all_gathers and self.gathers)
        if not there:
            none = "no scatter and no gather" if all_gathers else "no scatter"
            native = self.ops_before["ScatterX"]
            told = [f"{none} in this model", *([f"{native} of ScatterX"] if native else []), *told]
        nodes = f"{self.nodes_before} -> {self.nodes_after} nodes"
        told_nodes = self.entries or self.nodes_before != self.nodes_after
        return ", ".join([*told, nodes] if told_nodes else told)

    def headline(self) -> str:
        """Return the summary and, if the model has ScatterX nodes, what they need."""
        if not self.native:
            return self.summary()
        return f"{self.summary()}; {NEEDS}" + ("" if self.standard_lines() else f": {OTHERWISE}")

    def shown(self) -> Group:
        """Return all that a user reads, for a terminal or a pipe."""
        from onnx_scatterx.tell.terminal import screen

        return screen(self, whole=True)

    def standard_lines(self) -> list[str]:
        """Return in a line that ``standard`` removes more scatters, if some became ScatterX."""
        if self.by_standard is None or self.by_standard <= self.removed:
            return []
        count = f"{self.by_standard} of {len(self.scatters)}"
        return [f"the target standard removes {count}: --target standard"]

    def opset_lines(self) -> list[str]:
        """Return in lines that the model was lowered to an operator set that the target reads."""
        lines = []
        if self.opset_lowered is not None:
            verb = "would be lowered" if self.planned else "lowered"
            lines = [f"{verb} to operator set {self.opset_lowered}, as {self.target} needs it"]
        for name, why, last_bit in OTHER_BITS:
            if nodes := [visible(node) for node in getattr(self, name)]:
                bits = "the sign of a zero" if last_bit is None else "last bits"
                lines.append(counted(f"{why}, so {bits} may differ", nodes))
        if self.needs_runtime is not None:
            lines.append(f"needs ONNX Runtime {self.needs_runtime} or newer")
        return lines

    def fixed_lines(self) -> list[str]:
        """Return in a line which sizes were fixed."""
        sizes = ", ".join(f"{name} = {number}" for name, number in self.fixed)
        verb = "would be fixed" if self.planned else "fixed"
        return [f"sizes {verb}: {sizes}"] if sizes else []

    def size_lines(self) -> list[str]:
        """Return in a line how sizes get numbers, if the target wants some that the model lacks."""
        if not self.to_fix:
            return []
        letter = ", with a number for each N" if "=N" in self.to_fix or ":N" in self.to_fix else ""
        where = f" ({self.places})" if self.places else ""
        told = f"the target {self.target} wants all sizes as numbers: add {self.to_fix}"
        return [f"{told}{letter}{where}"]

    @property
    def growth(self) -> str:
        """How much longer or larger the result is, if it is more than twice the model.

        Empty also if it has at most 10 nodes more, and its file at most 10 kB.
        """
        before, after, about = self.nodes_before, self.nodes_after, self.about
        told = []
        if after > max(2 * before, before + _NODES):
            told.append(f"has {after} nodes instead of {before}")
        if about is not None and about.is_larger:
            told.append(f"is larger: {about.sizes}")
        return f"the result {' and '.join(told)}" if told else ""

    @property
    def is_open(self) -> bool:
        """Whether something is not as the target asks for it, which other arguments may change."""
        kept = any(entry.action is Action.KEPT for entry in self.entries)
        return kept or bool(self.to_fix or self.unmet("taken"))

    def first_step(self) -> tuple[str, str]:
        """Return the command to run first, or else "", and what to do in words."""
        from onnx_scatterx.tell.to_do import to_do

        first = next(iter(to_do(self)), None)
        return ("", "") if first is None else (first.command, first.condition or first.why)

    def unmet(self, strict: Strict) -> list[str]:
        """Return the violations that are an error, in the lines of ``violation_lines``."""
        errors = [v for v in self.violations if is_error(v, strict)]
        return refused_lines(errors, self.target, self.violations_if_kept)

    def violation_lines(self) -> list[str]:
        """Return what the target does not take, in a line for each reason; none without a profile.

        Scatters come first. A line names two nodes; ``violations`` has all of them.
        """
        return refused_lines(self.violations, self.target, self.violations_if_kept)


def may_advise(report: Report) -> bool:
    """Return whether there is something to advise: what is open, or what others do better."""
    return bool(report.is_open or report.growth or report.native)


def tallies(reports: Sequence[Report], planned: bool) -> list[str]:
    """Return how many scatters are removed and how many become ScatterX, and the gathers."""
    may = "can be " if planned else ""
    done, removed = f"{may}removed", []
    if scatters := sum(len(r.scatters) for r in reports):
        removed.append(f"{sum(r.removed for r in reports)} of {scatters} scatters {done}")
    if native := sum(r.native for r in reports):
        removed.append(f"{native} {may}written as ScatterX")
    gone = sum(r.gathers_removed for r in reports)
    if gathers := sum(len(r.gathers) for r in reports if not r.only_refused_gathers):
        removed.append(f"{gone} of {gathers} gathers {done}")
    elif gone:
        removed.append(f"{gone} gather{'s' * (gone > 1)} {done}")
    return removed

"""The interface of a rule: it returns a plan, and a plan writes nodes.

A rule says in its attributes how it is used; nothing else in the package lists rules by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import onnx_ir as ir

from onnx_scatterx.optimizer.emit.terms import TermEmitter
from onnx_scatterx.optimizer.emit.writer import Writer
from onnx_scatterx.optimizer.lift.lift_gather import Gather
from onnx_scatterx.optimizer.lift.lift_scatter import Scatter
from onnx_scatterx.optimizer.lowering.region import Region
from onnx_scatterx.optimizer.mosaic.constants import Constants
from onnx_scatterx.optimizer.mosaic.provenance import Provenance
from onnx_scatterx.optimizer.symbolic.terms import Term
from onnx_scatterx.optimizer.targets.target import Target
from onnx_scatterx.text.reasons import Refusal

if TYPE_CHECKING:
    from onnx_scatterx.optimizer.lowering.planner import Planner


@dataclass(frozen=True)
class Plan:
    """A way to write a value. A dry run of ``write`` finds its cost and its inputs."""

    write: Callable[[], ir.Value]
    work: Term | None = None  # of a dense form: elements of its largest tensor
    cost: int = 0  # in nodes
    weight: float = 0.0  # plans are compared by it: nodes, or time
    rules: frozenset[Rule] = frozenset()  # that it uses
    inputs: tuple[ir.Value, ...] = ()  # values of the graph
    unique: bool | None = None  # of ScatterX: whether updates proven not to collide


@dataclass(frozen=True)
class Context:
    """What a rule for scatters may read and write with, and the target that it writes for."""

    provenance: Provenance
    writer: Writer
    constants: Constants
    numbers: TermEmitter
    target: Target
    last_bits: bool = False  # of functions may depend on the place of an element


class Rule(ABC):
    """A way to write the result of a scatter, without the scatter."""

    name: str
    reads_all_data: ClassVar[bool] = False
    """Reads all of the data: if the target has the scatter, used only if the user names it."""
    writes_scatterx: ClassVar[bool] = False
    """The scatter becomes ScatterX: the report does not call it removed."""
    takes_last: ClassVar[bool] = False
    """If two updates may collide, the last one wins."""


class RegionRule(Rule):
    """Writes a region whose cells are known. The cheapest plan of all rules is taken."""

    @abstractmethod
    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        """Return a plan for a region, or why this rule cannot write it."""


class ScatterRule(Rule):
    """Writes a scatter whose cells are not known. The first rule that has a plan is taken."""

    accepts_invalid: ClassVar[bool] = False
    """Also writes a scatter that cannot run, in a branch that is never taken."""
    has_priority: ClassVar[bool] = False
    """Is asked before the region rules, also about scatters whose cells are known."""
    searches: ClassVar[bool] = False
    """Compares all positions with all updates: other rules are asked first, also about a part."""

    @abstractmethod
    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        """Return a plan for a scatter, or why this rule cannot write it."""


class GatherRule(Rule):
    """Writes a gather whose cells are not known: one that the target lacks, or in no more nodes."""

    searches: ClassVar[bool] = False
    """Compares all positions with all indices: is asked only if the target lacks the gather."""

    @abstractmethod
    def plan(self, gather: Gather, context: Context) -> Plan | Refusal:
        """Return a plan for a gather, or why this rule cannot write it."""

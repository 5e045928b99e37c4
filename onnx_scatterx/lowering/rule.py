"""A rule for a whole scatter: another way to compute its output than by moving boxes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import onnx_ir as ir

from onnx_scatterx.emit.terms import TermEmitter
from onnx_scatterx.emit.writer import Writer
from onnx_scatterx.lift.scatters import Scatter
from onnx_scatterx.mosaic.constants import Constants
from onnx_scatterx.mosaic.provenance import Provenance
from onnx_scatterx.symbolic.terms import Term
from onnx_scatterx.targets.target import Target
from onnx_scatterx.text.reasons import Refusal


@dataclass(frozen=True)
class Rewriting:
    """What a rule would write."""

    write: Callable[[], ir.Value]
    work: Term | None = None  # of a dense form: how many elements its largest tensor has
    cost: int = 0  # in nodes, counted on trial
    reads: tuple[ir.Value, ...] = ()  # seen on trial


@dataclass(frozen=True)
class Context:
    """What a rule may look at and write with, and for whom it writes."""

    provenance: Provenance
    writer: Writer
    constants: Constants
    numbers: TermEmitter
    target: Target


class NodeRule(ABC):
    """Rewrites a scatter of which the boxes are not known.

    One that cannot run stands in a branch that is not taken. It must load there: only a rule that
    ``accepts_invalid`` nodes as they are is asked about it. A rule that ``has_priority`` is asked
    about scatters of which the boxes are known too.
    """

    name: str
    accepts_invalid = False
    has_priority = False

    @abstractmethod
    def plan(self, scatter: Scatter, context: Context) -> Rewriting | Refusal:
        """Return what to write for a scatter, or why this rule cannot."""

"""A part of a model that its target does not take, as a record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from onnx_scatterx.grouping import grouped
from onnx_scatterx.operators import SCATTERS
from onnx_scatterx.targets import SCATTERX


@dataclass(frozen=True)
class Violation:
    """A node, an input or an output that the target does not take, and why.

    A node without a name is named by its first output. ``op`` of an input is "input", of an output
    "output", of the model itself "model". ``on_host`` says that the target takes the node, and runs
    it on its host, and ``slow`` that it runs the node slowly. ``lacked`` is the operator, as
    a profile names it, if the target takes no node of this operator.
    """

    node: str
    op: str
    graph: str
    why: str
    on_host: bool = False
    slow: bool = False
    lacked: str | None = None

    def __str__(self) -> str:
        return f"{self.node} ({self.op}): {self.why}"

    @property
    def is_taken(self) -> bool:
        """Whether the target takes the node, though on its host or slowly."""
        return self.on_host or self.slow

    @property
    def is_of_model(self) -> bool:
        """Whether it is about an input, an output or the model itself, and not about a node."""
        return self.op in ("input", "output", "model")

    @property
    def is_scatter(self) -> bool:
        """Whether the node writes by indices: a scatter of ONNX, or ScatterX."""
        return self.op == SCATTERX or self.op in SCATTERS


def by_reason(refused: Iterable[Violation]) -> dict[tuple[str, str], list[str]]:
    """Return the names of nodes by operator and reason, scatters first.

    >>> by_reason([Violation("a", "Erf", "main", "no Erf"), Violation("b", "Erf", "f", "no Erf")])
    {('Erf', 'no Erf'): ['a', 'b']}
    """
    ordered = sorted(refused, key=lambda violation: not violation.is_scatter)
    return grouped(((violation.op, violation.why), violation.node) for violation in ordered)

"""The cost of plans: the nodes that they write, or the time that these take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.tensor import Shape
from onnx_scatterx.optimizer.targets.cost_model.machine import Machine
from onnx_scatterx.optimizer.targets.cost_model.sizes import Sizes


@dataclass(frozen=True)
class Work:
    """Elements that a node writes: a box of these extents, in runs.

    A run is contiguous in the input and in the output: it spans the extents from ``outer`` on.
    """

    kind: str
    extents: Shape
    outer: int


_STRING = 32  # bytes that ONNX Runtime moves for one


class Costs(Protocol):
    """A way to compare plans."""

    def weigh(self, nodes: float, work: Sequence[Work], dtype: ir.DataType) -> float:
        """Return the weight of some nodes that do some work."""
        ...


class NodeCosts:
    """Every node weighs one."""

    def weigh(self, nodes: float, work: Sequence[Work], dtype: ir.DataType) -> float:
        """Return the number of nodes."""
        return nodes


class TimeCosts:
    """A node weighs as many nanoseconds as it takes on a machine, at usual sizes."""

    def __init__(self, machine: Machine, sizes: Sizes) -> None:
        self.machine = machine
        self.sizes = sizes

    def weigh(self, nodes: float, work: Sequence[Work], dtype: ir.DataType) -> float:
        """Return the nanoseconds of some nodes that do some work."""
        total = nodes * self.machine.launch
        for w in work:
            size = self.sizes.product(w.extents) * _size(dtype)
            total += self.machine.time(w.kind, size, self.sizes.product(w.extents[: w.outer]))
        return total


def _size(dtype: ir.DataType) -> float:
    """Return how many bytes an element takes."""
    return _STRING if dtype.is_string() else max(dtype.itemsize, 1)

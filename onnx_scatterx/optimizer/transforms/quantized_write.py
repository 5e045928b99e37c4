"""A scatter between DequantizeLinear and QuantizeLinear, and all nodes that go with it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.lift.lift_scatter import is_scatter
from onnx_scatterx.optimizer.lift.quantization import Quantization


@dataclass(eq=False)
class QuantizedWrite:
    """Nodes that can process integers instead of floats.

    ``nodes`` are in the order of the graph, the scatters among them; ``inputs`` are floats that
    were integers, with their DequantizeLinear, and ``constants`` are quantized now; ``sizes`` read
    the shape of a float. ``outputs`` are floats that are outputs of the graph. ``axes`` has, for
    each output of the nodes, the axis along which its scales differ, if they do.
    """

    quantization: Quantization
    nodes: list[ir.Node] = field(default_factory=list)
    inputs: dict[ir.Value, ir.Node] = field(default_factory=dict)
    constants: dict[ir.Value, np.ndarray] = field(default_factory=dict)
    ends: list[ir.Node] = field(default_factory=list)
    sizes: list[ir.Node] = field(default_factory=list)
    outputs: list[ir.Value] = field(default_factory=list)
    axes: dict[ir.Value, int | None] = field(default_factory=dict)

    @property
    def dtype(self) -> ir.DataType:
        """The type of the integers."""
        return self.quantization.integers

    @property
    def scatters(self) -> list[ir.Node]:
        """The scatters among its nodes."""
        return [n for n in self.nodes if is_scatter(n)]

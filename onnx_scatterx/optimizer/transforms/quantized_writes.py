"""Scatters between DequantizeLinear and QuantizeLinear, with all that only moves their elements.

A scatter without a reduction moves elements, and so do Transpose, Reshape, Slice, Concat, ...:
their effect does not depend on the values. If every input of such nodes comes from a
DequantizeLinear, every output is read by a QuantizeLinear, and all have one scale and zero point,
the nodes can move the integers instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import onnx_ir as ir

from onnx_scatterx.ir.graphs import made_by
from onnx_scatterx.optimizer.emit.dry_run import has_kernel
from onnx_scatterx.optimizer.lift.lift_scatter import is_scatter
from onnx_scatterx.optimizer.lift.quantization import (
    Quantization,
    is_quantizer,
    operands_of,
    whole_axes,
)
from onnx_scatterx.optimizer.lowering.planner import GraphContext
from onnx_scatterx.optimizer.lowering.quantizer_paths import reached
from onnx_scatterx.optimizer.lowering.runtime_patterns import described, is_exact
from onnx_scatterx.optimizer.symbolic.budget import LimitError, budget
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.text.reasons import FloatReason


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


_SIZES = ("Shape", "Size")


def quantized_writes(
    context: GraphContext,
) -> tuple[list[QuantizedWrite], dict[ir.Node, FloatReason]]:
    """Return the writes of a graph that can be done on integers.

    For other scatters between DequantizeLinear and QuantizeLinear, return why not.
    """
    found: list[QuantizedWrite] = []
    taken: set[ir.Node] = set()
    why: dict[ir.Node, FloatReason] = {}
    places = {node: i for i, node in enumerate(context.graph)}
    for node in places:
        if node in taken or not is_scatter(node):
            continue
        try:
            with budget().of_part(LIMITS.scatter_steps):
                above, below = reached(node, up=True), reached(node, up=False)
                if (
                    not above
                    or not below
                    or not all(map(is_exact(context.known), (*above, *below)))
                ):
                    continue
                write = _Search(context, node).run()
        except _KeptOnFloatsError as error:
            why[node] = error.why
            continue
        except LimitError:
            continue  # the write is kept on floats
        write.nodes.sort(key=places.__getitem__)
        taken.update(write.nodes)
        found.append(write)
    return found, why


class _KeptOnFloatsError(Exception):
    def __init__(self, why: FloatReason) -> None:
        super().__init__(why.value)
        self.why = why


class _Search:
    """Finds all nodes that must process integers if one scatter does.

    Each input is followed up to its sources, and each output down to its readers.
    """

    def __init__(self, context: GraphContext, scatter: ir.Node) -> None:
        self.context = context
        self.scatter = scatter
        self.quantization, self.axis = self._begin()
        self.nodes: dict[ir.Node, None] = {}
        self.axes: dict[ir.Value, int | None] = {}
        self.behind: set[ir.Value] = set()  # values computed from a scatter's result
        self.found = QuantizedWrite(self.quantization)
        self.fills: dict[ir.Node, None] = {}
        self.stack: list[ir.Node] = []

    def run(self) -> QuantizedWrite:
        """Return the write, or raise the reason why it is not possible."""
        found = self.found
        self._take(self.scatter, self.axis)
        while self.stack:
            node = self.stack.pop()
            budget().work(4 + len(node.inputs))
            self._up(node)
            if is_scatter(node) or any(node.inputs[i] in self.behind for i in operands_of(node)):
                self._down(node)
        found.nodes = [*self.fills, *self.nodes]
        found.axes = self.axes
        if not found.ends:
            raise _KeptOnFloatsError(FloatReason.READ)
        if found.outputs and not self._gives_floats_back():
            raise _KeptOnFloatsError(FloatReason.COMPUTED)
        return found

    def _begin(self) -> tuple[Quantization, int | None]:
        """Return how the scatter's data, or its updates, are quantized, and the scatter's axis."""
        unknown = False
        for i in operands_of(self.scatter):
            value = self.scatter.inputs[i]
            moves: list[tuple[ir.Node, int]] = [(self.scatter, i)]
            while value is not None and not is_quantizer(value.producer(), "DequantizeLinear"):
                node = value.producer()
                if node is None or not operands_of(node):
                    break
                place = operands_of(node)[0]
                moves.append((node, place))
                value = node.inputs[place]
            node = None if value is None else value.producer()
            if node is None or not is_quantizer(node, "DequantizeLinear"):
                continue
            known = self._quantization(node)
            if known is None:
                unknown = True
                continue
            found, axis = known
            for mover, place in reversed(moves):
                axis = self._passed(mover, place, axis)
            return found, axis
        raise _KeptOnFloatsError(FloatReason.UNKNOWN_SCALE if unknown else FloatReason.COMPUTED)

    def _quantization(self, node: ir.Node) -> tuple[Quantization, int | None] | None:
        """Return the parameters of a quantizer, with its axis counted from the start."""
        found, value = described(node, self.context.known), node.inputs[0]
        if found is None or found.axis is None or value is None:
            return None if found is None else (found, None)
        known = self.context.scope.values.get(value)
        rank = None if known is None else known.rank
        if rank is None or not -rank <= found.axis < rank:
            return None
        return replace(found, axis=0), found.axis % rank  # the axis is returned separately

    def _take(self, node: ir.Node, axis: int | None) -> None:
        """Add a node to the write; its output has its scales along an axis."""
        (output,) = node.outputs
        if node in self.nodes:
            if self.axes[output] != axis:
                raise _KeptOnFloatsError(FloatReason.AXIS)
            return
        dtype, version = self.quantization.integers, self.context.scope.opsets.get("", 0)
        runs = is_scatter(node) or has_kernel(node.op_type, version, dtype)
        plain = not any(a.is_ref() for a in node.attributes.values())
        if not runs or not plain or node.graph is not self.context.graph:
            raise _KeptOnFloatsError(FloatReason.COMPUTED)
        if _reduces(node):
            raise _KeptOnFloatsError(FloatReason.REDUCTION)
        self.nodes[node] = None
        self.axes[output] = axis
        self.stack.append(node)

    def _up(self, node: ir.Node) -> None:
        """Follow the inputs of a node to their sources."""
        for i in operands_of(node):
            value = node.inputs[i]
            if value is None:
                raise _KeptOnFloatsError(FloatReason.COMPUTED)
            self._source(value, self._before(node, i, self.axes[node.outputs[0]]))

    def _source(self, value: ir.Value, axis: int | None) -> None:
        producer = value.producer()
        if producer is not None and is_quantizer(producer, "DequantizeLinear"):
            self._same(producer, axis)
            self.found.inputs[value] = producer
            return
        known = self._constant(value)
        constant = None if known is None else self.quantization.quantized(known)
        if constant is not None:
            self.found.constants[value] = constant
            if producer is not None and producer.op_type == "ConstantOfShape":
                self.fills[producer] = None
                self.axes[value] = axis
            return
        if producer is None or not operands_of(producer):
            raise _KeptOnFloatsError(FloatReason.COMPUTED)
        self._take(producer, axis)

    def _constant(self, value: ir.Value) -> np.ndarray | None:
        """Return a constant as an array, or the number that a ConstantOfShape repeats."""
        constants, fill = self.context.constants, made_by(value, "ConstantOfShape")
        if fill is not None:
            return constants.splat(value) if fill.graph is self.context.graph else None
        return None if constants.tensor(value) is None else constants.array(value)

    def _down(self, node: ir.Node) -> None:
        """Follow the output of a node to its readers."""
        (output,) = node.outputs
        if output in self.behind:
            return
        self.behind.add(output)
        axis = self.axes[output]
        if output.is_graph_output():
            self.found.outputs.append(output)
        for reader, place in output.uses():
            if is_quantizer(reader, "QuantizeLinear") and place == 0:
                if reader.graph is not node.graph:
                    raise _KeptOnFloatsError(FloatReason.READ)
                self._same(reader, axis)
                self.found.ends.append(reader)
            elif reader.op_type in _SIZES and reader.domain == "":
                self.found.sizes.append(reader)
            elif place in operands_of(reader):
                if reader in self.nodes:
                    self.stack.append(reader)  # it was reached from below
                self._take(reader, self._passed(reader, place, axis))
            else:
                raise _KeptOnFloatsError(FloatReason.READ)

    def _same(self, node: ir.Node, axis: int | None) -> None:
        found = self._quantization(node)
        if found is None:
            raise _KeptOnFloatsError(FloatReason.UNKNOWN_SCALE)
        if found[0] != self.quantization:
            raise _KeptOnFloatsError(FloatReason.SCALES)
        if found[1] != axis:
            raise _KeptOnFloatsError(FloatReason.AXIS)

    def _passed(self, node: ir.Node, place: int, axis: int | None) -> int | None:
        """Return the axis of a node's output that an axis of its input is moved to."""
        if axis is None:
            return None
        found = whole_axes(node, place, self.context.scope)
        if axis not in found:
            raise _KeptOnFloatsError(FloatReason.AXIS)
        return found.index(axis)

    def _before(self, node: ir.Node, place: int, axis: int | None) -> int | None:
        """Return the axis of a node's input that is moved to an axis of its output."""
        if axis is None:
            return None
        found = whole_axes(node, place, self.context.scope)
        if axis >= len(found) or found[axis] < 0:
            raise _KeptOnFloatsError(FloatReason.AXIS)
        return found[axis]

    def _gives_floats_back(self) -> bool:
        """Return whether DequantizeLinear restores the constants, bit for bit."""
        for value, integers in self.found.constants.items():
            known = self._constant(value)
            assert known is not None
            if self.quantization.dequantized(integers).tobytes() != known.tobytes():
                return False
        return True


def _reduces(node: ir.Node) -> bool:
    reduction = node.attributes.get("reduction")
    return is_scatter(node) and reduction is not None and reduction.as_string() != "none"

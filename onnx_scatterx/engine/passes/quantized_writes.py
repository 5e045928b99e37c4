"""Scatters between DequantizeLinear and QuantizeLinear, with all that only moves their elements.

A scatter without a reduction moves elements, and so do Transpose, Reshape, Slice, Concat, ...:
their effect does not depend on the values. If every input of such nodes comes from a
DequantizeLinear, every output is read by a QuantizeLinear, and all have one scale and zero point,
the nodes can move the integers instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.budget import LIMITS, LimitError, budget
from onnx_scatterx.engine.lift import is_scatter
from onnx_scatterx.engine.plan import GraphContext
from onnx_scatterx.engine.quantizers import (
    Quantization,
    is_quantizer,
    moves_input,
    operands_of,
    quantizers_above,
    quantizers_below,
    whole_axes,
)
from onnx_scatterx.graphs import attribute_of, made_by
from onnx_scatterx.operators import has_kernel
from onnx_scatterx.text import FloatReason

SIZES = ("Shape", "Size")
"""The operators that read the sizes of a tensor alone."""

_Form: TypeAlias = "Quantization | FloatReason | None"
"""How integers stand for floats, or why they do not; None for constants, which are quantized."""


@dataclass(eq=False)
class QuantizedWrite:
    """Nodes that can process integers instead of floats.

    ``nodes`` are in the order of the graph, the scatters among them. ``outputs`` are the floats
    that a scatter reaches, each with how integers stand for it; ``ends`` are their QuantizeLinear.
    ``constants`` are the floats that are quantized now. ``leaf`` is one of the DequantizeLinear.
    """

    leaf: ir.Node
    dtype: ir.DataType
    nodes: list[ir.Node] = field(default_factory=list)
    outputs: dict[ir.Value, Quantization] = field(default_factory=dict)
    ends: list[ir.Node] = field(default_factory=list)
    constants: dict[ir.Value, np.ndarray] = field(default_factory=dict)


def quantized_writes(
    context: GraphContext,
) -> tuple[list[QuantizedWrite], dict[ir.Node, FloatReason]]:
    """Return the writes of a graph that can be done on integers.

    For other scatters between DequantizeLinear and QuantizeLinear, return why not.
    """
    writes: list[QuantizedWrite] = []
    taken: set[ir.Node] = set()
    why: dict[ir.Node, FloatReason] = {}
    try:
        search = _WriteSearch(context)
    except LimitError:
        return [], {}  # the writes are kept on floats
    for node in filter(is_scatter, context.graph):
        if node in taken:
            continue
        try:
            with budget().of_part(LIMITS.scatter_steps):
                above, below = quantizers_above(node), quantizers_below(node)
                known = all(map(context.known.is_exact, (*above, *below)))
                if not above or not below or not known:
                    continue
                writes.append(search.write(node, above[0]))
                taken.update(writes[-1].nodes)
        except _KeptOnFloatsError as error:
            why[node] = error.why
        except LimitError:
            continue
    return writes, why


class _KeptOnFloatsError(Exception):
    def __init__(self, why: FloatReason) -> None:
        super().__init__(why.value)
        self.why = why


class _WriteSearch:
    """Finds all nodes that must process integers if one scatter does.

    First the nodes that move elements get the form of their inputs, in the order of the graph.
    """

    def __init__(self, context: GraphContext) -> None:
        self.context = context
        self.forms: dict[ir.Node, _Form] = {}
        self.behind: set[ir.Node] = set()  # nodes that move what a scatter writes
        for node in context.graph:
            indices = operands_of(node)
            if indices:
                budget().charge_part(1 + len(indices))
                passed = (self._passed(node, i) for i in indices)
                self.forms[node] = FloatReason.REDUCTION if _reduces(node) else _joined(passed)
                above = (v.producer() for i in indices if (v := node.inputs[i]) is not None)
                if is_scatter(node) or not self.behind.isdisjoint(above):
                    self.behind.add(node)
        self.order = {node: i for i, node in enumerate(self.forms)}

    def write(self, scatter: ir.Node, leaf: ir.Node) -> QuantizedWrite:
        """Return the write that a scatter is in, or raise the reason why it is not possible.

        Each input is followed up to its sources, and what is behind a scatter to its readers.
        """
        one = _granted(self.forms[scatter])
        write = QuantizedWrite(leaf, one.integers)
        nodes: set[ir.Node] = set()
        stack, lossless = [scatter], True
        while stack:
            node = stack.pop()
            if node in nodes:
                continue
            budget().charge_part(4 + len(node.inputs))
            self._check(node, one.integers)
            nodes.add(node)
            for i in operands_of(node):
                value = node.inputs[i]
                assert value is not None  # else the node has another form
                known = self._constant(value)
                if known is not None:
                    integers = one.quantized(known)
                    if integers is None:
                        raise _KeptOnFloatsError(FloatReason.COMPUTED)
                    write.constants[value] = integers
                    lossless &= one.dequantized(integers).tobytes() == known.tobytes()
                elif (producer := value.producer()) in self.forms:
                    stack.append(producer)
            if node in self.behind:
                form = self.forms[node] or one  # a scatter may move constants alone
                write.outputs[node.outputs[0]] = _granted(form)
                stack += self._readers(node, write)
        if not write.ends:
            raise _KeptOnFloatsError(FloatReason.READ)
        if not lossless and any(v.is_graph_output() for v in write.outputs):
            raise _KeptOnFloatsError(FloatReason.COMPUTED)
        write.nodes = sorted(nodes, key=self.order.__getitem__)
        return write

    def _check(self, node: ir.Node, integers: ir.DataType) -> None:
        """Raise the reason why a node cannot process integers, if there is one."""
        if isinstance(why := self.forms.get(node, FloatReason.COMPUTED), FloatReason):
            raise _KeptOnFloatsError(why)
        version = self.context.scope.opsets.get("", 0)
        runs = is_scatter(node) or has_kernel(node.op_type, version, integers)
        if not runs or any(a.is_ref() for a in node.attributes.values()):
            raise _KeptOnFloatsError(FloatReason.COMPUTED)

    def _readers(self, node: ir.Node, write: QuantizedWrite) -> list[ir.Node]:
        """Return the nodes that move a node's output further; note its QuantizeLinear."""
        (output,), movers = node.outputs, []
        for reader, input_index in output.uses():
            if is_quantizer(reader, "QuantizeLinear") and input_index == 0:
                if reader.graph is not node.graph:
                    raise _KeptOnFloatsError(FloatReason.READ)
                _granted(_joined([self._parameters(reader), write.outputs[output]]))
                write.ends.append(reader)
            elif moves_input(reader, input_index):
                movers.append(reader)
            elif reader.op_type not in SIZES or reader.domain != "":
                raise _KeptOnFloatsError(FloatReason.READ)
        return movers

    def _parameters(self, node: ir.Node) -> _Form:
        """Return the parameters of a quantizer, with its axis counted from the start."""
        parameters, value = self.context.known.quantization(node), node.inputs[0]
        if parameters is None or parameters.axis is None or value is None:
            return parameters or FloatReason.UNKNOWN_SCALE
        rank = self.context.scope.of(value).rank
        if rank is None or not -rank <= parameters.axis < rank:
            return FloatReason.UNKNOWN_SCALE
        return replace(parameters, axis=parameters.axis % rank)

    def _passed(self, node: ir.Node, input_index: int) -> _Form:
        """Return how integers stand for an input of a node, with the axis in its output."""
        form = self._form(node.inputs[input_index])
        if not isinstance(form, Quantization) or form.axis is None:
            return form
        axes = whole_axes(node, input_index, self.context.scope)
        return replace(form, axis=axes.index(form.axis)) if form.axis in axes else FloatReason.AXIS

    def _form(self, value: ir.Value | None) -> _Form:
        node = None if value is None else value.producer()
        if node is not None and is_quantizer(node, "DequantizeLinear"):
            return self._parameters(node)
        if value is not None and self._constant(value) is not None:
            return None
        return FloatReason.COMPUTED if node is None else self.forms.get(node, FloatReason.COMPUTED)

    def _constant(self, value: ir.Value) -> np.ndarray | None:
        """Return a constant as an array, or the number that a ConstantOfShape repeats."""
        constants, fill = self.context.constants, made_by(value, "ConstantOfShape")
        if fill is not None:
            return constants.splat(value) if fill.graph is self.context.graph else None
        return None if constants.tensor(value) is None else constants.array(value)


def _joined(forms: Iterable[_Form]) -> _Form:
    """Return the one form of tensors that a node moves into one, or why they have several."""
    distinct = list(dict.fromkeys(form for form in forms if form is not None))
    known = {replace(form, axis=None) for form in distinct if isinstance(form, Quantization)}
    if len(known) > 1:
        return FloatReason.SCALES
    why = [form for form in distinct if isinstance(form, FloatReason)]
    if why or not distinct:
        return why[0] if why else None
    return distinct[0] if len(distinct) == 1 else FloatReason.AXIS


def _granted(form: _Form) -> Quantization:
    if not isinstance(form, Quantization):
        raise _KeptOnFloatsError(form or FloatReason.COMPUTED)
    return form


def _reduces(node: ir.Node) -> bool:
    return is_scatter(node) and attribute_of(node, "reduction", "none") != "none"

"""A write between DequantizeLinear and QuantizeLinear of one scale is done on the integers.

    before   d = ScatterND(DequantizeLinear(x, s, z), i, DequantizeLinear(u, s, z))
             y = QuantizeLinear(d, s, z)
    after    y = ScatterND(x, i, u)

If scales differ, every QuantizeLinear and DequantizeLinear is kept. A scatter of floats is then a
scatter of integers, which ``LowerScatters`` removes. A write is kept on the floats if its scatter
can be removed only there, because ONNX Runtime or the target lacks an operator for integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import onnx_ir as ir

from onnx_scatterx.ir.cleanup import remove_dead
from onnx_scatterx.ir.graphs import all_graphs
from onnx_scatterx.optimizer.lift.lift_scatter import is_scatter
from onnx_scatterx.optimizer.lift.quantization import (
    QUANTIZED,
    QUANTIZERS,
    is_quantizer,
    operands_of,
)
from onnx_scatterx.optimizer.lowering.planner import GraphContext
from onnx_scatterx.optimizer.lowering.runtime_patterns import obstacle
from onnx_scatterx.optimizer.symbolic.budget import LimitError, budget
from onnx_scatterx.optimizer.transforms.job import Job, Pass
from onnx_scatterx.optimizer.transforms.lower_scatters import kept_scatters
from onnx_scatterx.optimizer.transforms.quantized_writes import QuantizedWrite, quantized_writes
from onnx_scatterx.text.reasons import FloatReason


class IntegerNodes:
    """Writes a quantized write on integers beside the floats, and redirects all readers.

    Then either ``keep`` it, which removes the floats, or ``undo`` it. ``scatters`` has the new
    scatter for each old one, ``nodes`` has all new nodes.
    """

    def __init__(self, context: GraphContext, write: QuantizedWrite) -> None:
        self.context = context
        self.write = write
        self.scatters: dict[ir.Node, ir.Node] = {}
        # Another write may have given a DequantizeLinear other integers to read.
        self._integers = {value: _input(node) for value, node in write.inputs.items()}
        self._writer = context.writer()
        self._constants: list[ir.Value] = []
        self._uses: list[tuple[ir.Node, int, ir.Value]] = []
        self._outputs: list[tuple[int, ir.Value, ir.Value]] = []  # of the graph: before and after
        for node in write.nodes:
            self._clone(node)
        for end in write.ends:
            self._replace(end.outputs[0], self._integers[_input(end)], end)
        for reader in write.sizes:
            self._redirect(reader, 0, self._integers[_input(reader)])
        for value in write.outputs:
            self._dequantize(value)

    @property
    def nodes(self) -> list[ir.Node]:
        """The new nodes, each after those that it reads."""
        return self._writer.made

    def undo(self) -> None:
        """Restore the graph."""
        for i, before, _ in reversed(self._outputs):
            self.context.graph.outputs[i] = before
        for node, place, value in reversed(self._uses):
            node.replace_input_with(place, value)
        remove_dead(self.nodes[::-1])
        for value in self._constants:
            if not value.uses() and value.is_initializer():
                self.context.graph.initializers.pop(value.name or "", None)

    def keep(self) -> None:
        """Remove the floats; new values take the names that readers of the model know."""
        names = self.context.names
        renamed = {}
        for _, before, after in self._outputs:
            after.shape = before.shape
            after.metadata_props.update(before.metadata_props)
            renamed[after] = before
        for end in self.write.ends:
            renamed.setdefault(self._integers[_input(end)], end.outputs[0])
        for after, before in renamed.items():
            after.name, before.name = before.name, names.new(f"{before.name}/replaced")
        for old, new in self.scatters.items():
            old.name, new.name = new.name, old.name or old.outputs[0].name
        remove_dead([*self.write.ends, *self.write.nodes[::-1]])

    def _clone(self, node: ir.Node) -> None:
        """Write one node on the integers, before the floats."""
        (old,) = node.outputs
        with self._writer.at(node, old.name):
            if old in self.write.constants:
                fill = ir.Tensor(self.write.constants[old].reshape(1))
                attributes = [ir.AttrTensor("value", fill)]
                inputs = list(node.inputs)
            else:
                moved = operands_of(node)
                attributes = list(node.attributes.values())
                inputs = [
                    self._integer(v) if i in moved and v is not None else v
                    for i, v in enumerate(node.inputs)
                ]
            new = self._node(node, inputs, self.write.dtype, attributes, old.shape)
            new.doc_string = node.doc_string
            new.metadata_props.update(node.metadata_props)
            new.meta.update(node.meta)
        self._integers[old] = new.outputs[0]
        if is_scatter(node):
            self.scatters[node] = new

    def _node(
        self,
        like: ir.Node | None,
        inputs: Sequence[ir.Value | None],
        dtype: ir.DataType,
        attributes: Iterable[ir.Attr] = (),
        shape: ir.Shape | None = None,
    ) -> ir.Node:
        """Add a node with the operator of another one, or an Identity; return it."""
        w = self._writer
        value = ir.Value(name=w.new_name("integers"), type=ir.TensorType(dtype), shape=shape)
        domain, op = ("", "Identity") if like is None else (like.domain, like.op_type)
        new = ir.Node(domain, op, inputs, attributes, outputs=[value])
        new.name = w.new_name("integers" if like in self.write.nodes else op)
        w.insert(new)
        return new

    def _integer(self, value: ir.Value) -> ir.Value:
        """Return the integers that stand for a float."""
        if value not in self._integers:
            array: np.ndarray = self.write.constants[value]
            made = self._writer.constant(array, self.write.dtype)
            self._constants.append(made)
            self._integers[value] = made
        return self._integers[value]

    def _redirect(self, node: ir.Node, place: int, new: ir.Value) -> None:
        value = _input(node, place)
        self._uses.append((node, place, value))
        node.replace_input_with(place, new)

    def _replace(self, old: ir.Value, new: ir.Value, place: ir.Node) -> None:
        """Let all readers of one value read another; an output of the graph keeps its name."""
        if old.is_graph_output():
            if new.is_graph_output():
                with self._writer.at(place, old.name):
                    again = self._node(None, [new], self.write.dtype)
                (new,) = again.outputs
            self._give_out(old, new)
        for use in list(old.uses()):
            self._redirect(use.node, use.idx, new)

    def _before(self, parameter: ir.Value | None) -> ir.Value | None:
        """Return a scale or zero point that the node being written can read."""
        if parameter is None or parameter.producer() is None:
            return parameter
        array = self.context.known.array(parameter)
        assert array is not None
        return self._writer.constant(array, ir.DataType.from_numpy(array.dtype))

    def _dequantize(self, value: ir.Value) -> None:
        """Give an output of the graph its floats back."""
        node = value.producer()
        leaf = next(iter(self.write.inputs.values()))
        assert node is not None
        attributes = {a.name: a for a in leaf.attributes.values()}
        axis = self.write.axes[value]
        if axis is not None:
            attributes["axis"] = ir.AttrInt64("axis", axis)
        floats = self.write.quantization.floats
        with self._writer.at(node, value.name):
            inputs = [self._integers[value], *map(self._before, leaf.inputs[1:])]
            new = self._node(leaf, inputs, floats, attributes.values(), value.shape)
        self._give_out(value, new.outputs[0])

    def _give_out(self, old: ir.Value, new: ir.Value) -> None:
        """Let another value be an output of the graph."""
        for i, output in enumerate(self.context.graph.outputs):
            if output is old:
                self._outputs.append((i, old, new))
                self.context.graph.outputs[i] = new


def _input(node: ir.Node, place: int = 0) -> ir.Value:
    value = node.inputs[place]
    assert value is not None
    return value


class WriteOnIntegers(Pass):
    """Moves writes between DequantizeLinear and QuantizeLinear to the integers.

    >>> import onnx_ir as ir
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (uint8[4, 2] x, uint8[1, 2] u) => (uint8[4, 2] y)
    ...     <float s = {0.5}, uint8 z = {3}, int64[1, 1] i = {1}> {
    ...         a = DequantizeLinear (x, s, z)
    ...         b = DequantizeLinear (u, s, z)
    ...         c = ScatterND (a, i, b)
    ...         y = QuantizeLinear (c, s, z) }''')
    >>> WriteOnIntegers()(model).modified
    True
    >>> [(node.op_type, [v.name for v in node.inputs]) for node in model.graph]
    [('ScatterND', ['x', 'i', 'u'])]
    """

    def run(self, job: Job) -> bool:
        nodes = [n for g in all_graphs(job.model) for n in g]
        quantized = any(is_quantizer(n, *QUANTIZERS) for n in nodes)
        if not quantized or not any(map(is_scatter, nodes)) or job.obstacle is not None:
            return False
        job.analysis.catch_up()
        modified = False
        for context in list(job.contexts()):
            if any(map(is_scatter, context.graph)):
                modified |= _in_graph(job, context)
        return modified


def _in_graph(job: Job, context: GraphContext) -> bool:
    """Do the writes of one graph on integers, if there are any."""
    writes, why = quantized_writes(context)
    try:
        better = _better_on_floats(job, context, writes)
    except (LimitError, RecursionError):
        writes, better = [], []  # they are kept on floats
    for node, reason in why.items():
        node.meta[QUANTIZED] = reason
    integers = {n for write in writes if write not in better for n in write.scatters}
    for node in context.graph:
        if is_scatter(node) and node not in integers:
            stays = obstacle(node, context.known)
            if stays is not None:
                node.meta[QUANTIZED] = stays
    done = False
    for write in writes:
        for node in write.scatters:
            on_floats = node.meta.get(QUANTIZED, FloatReason.PLAN)
            node.meta[QUANTIZED] = on_floats if write in better else write.dtype
        if write not in better:
            made = IntegerNodes(context, write)
            job.note_new(made.nodes)
            made.keep()
            done = True
    return done


def _better_on_floats(
    job: Job, context: GraphContext, writes: list[QuantizedWrite]
) -> list[QuantizedWrite]:
    """Return the writes whose scatter is removed on floats but not on integers."""
    if not writes:
        return []
    with budget().share(1 / 4):
        tried = []
        try:
            for write in writes:
                tried.append(IntegerNodes(context, write))
                job.note_new(tried[-1].nodes)
            job.analysis.catch_up()
            kept = kept_scatters(context)
        finally:
            for one in reversed(tried):
                one.undo()
        doubtful = [one for one in tried if not kept.isdisjoint(one.scatters.values())]
        of_floats = kept_scatters(context) if doubtful else set()
    return [
        one.write
        for one in doubtful
        if any(new in kept and old not in of_floats for old, new in one.scatters.items())
    ]

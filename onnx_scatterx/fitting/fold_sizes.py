"""Every value that depends on known sizes alone becomes a constant.

    before   Reshape(x, Concat(Slice(Shape(x), ...), [-1]))          x: float[4, 8, 2]
    after    Reshape(x, [4, -1])

The interpreter proves integers and booleans; any operator may compute them. ONNX
Runtime computes the floats that depend on them (scales of a Resize, encodings of positions), bit
for bit as at run time. A value that the model computes from its own constants alone is kept.
Nothing is folded because two inputs declare a dim under one name: runtimes do not check it.

A grid of positions or a mask is made from a few sizes, and would be a large constant. So if the
target takes such nodes, the model grows by at most half, or by 64 KiB if that is more: the largest
constants are still computed at run time.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Knowledge, misread_node
from onnx_scatterx.engine.budget import LIMITS, budget, within_limits
from onnx_scatterx.engine.passes import Job, Pass, inline_functions, take_known_branches
from onnx_scatterx.engine.write import Writer
from onnx_scatterx.files import ir_tensors
from onnx_scatterx.fitting.write_sizes import declare_known
from onnx_scatterx.graphs import all_graphs, graphs_of, remove_dead, replace_uses
from onnx_scatterx.operators import Rows, described

if TYPE_CHECKING:
    from onnx_scatterx.fitting.constant_finder import ConstantFinder

_FREE = 1 << 16  # bytes of new constants, in a model of any size
_SMALL = 64  # bytes of a constant that is always written
_FLOATS = {t for t in ir.DataType if t.is_floating_point()}
_OF_SHAPES = (Rows.BROADCAST, Rows.PRODUCT, Rows.GEMM)
"""How rows run through operators whose results have sizes that the sizes of operands decide."""


def fold_sizes(job: Job) -> bool:
    """Replace values that depend on known sizes by constants, in all graphs.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2, 3] x) => (float[6] y) { n = Size (x)
    ...         one = Constant <value_ints = [1]> ()
    ...         s = Mul (n, one)
    ...         y = Reshape (x, s) }''')
    >>> fold_sizes(Job(model))
    True
    >>> [node.op_type for node in model.graph]
    ['Reshape']
    """
    from onnx_scatterx.fitting.constant_finder import ConstantFinder, NodeRunner

    modified = False
    analyses = job.analyses
    if _folds_nothing(job):
        return False
    if any(outcome.gives_more for outcome in job.outcomes):
        analyses.read_again()
    analyses.without_trust.catch_up()
    if analyses.without_trust.is_outdated:
        analyses.read_again()
    with NodeRunner() as runner:
        folding = _Folding(job, ConstantFinder(job.model, runner))
        for _ in range(LIMITS.folding_rounds):
            with budget().share(1 / 4):
                known = analyses.without_trust.current()
            if within_limits(partial(_is_read_well, known)) is not True:
                return modified
            folded, more = folding.fold(known)
            inlined = not more and _inline_sized_functions(job)
            if more or inlined:
                analyses.read_again()
            decided = (more or inlined) and take_known_branches(job)
            modified |= folded or inlined or decided
            if not (more or inlined):
                break
    if job.settings.options["fix"]:
        declare_known(job.model, known)
    return modified


FoldSizes = Pass(fold_sizes, applies=lambda s: s.options["fix"] or s.target.is_device)


def _folds_nothing(job: Job) -> bool:
    """Return whether even those who trust all dims know no constant, before more is read."""
    most = job.analyses.at_most
    if most is None or job.settings.options["fix"] or job.model.functions:
        return False
    known = most.current()
    if most.is_outdated or any(outcome.gives_more for outcome in job.outcomes):
        return False
    from onnx_scatterx.fitting.constant_finder import ConstantFinder, NodeRunner

    with NodeRunner() as runner:
        finder = ConstantFinder(job.model, runner)
        finder.find(known)
        return not finder.constants


def _inline_sized_functions(job: Job) -> bool:
    """Inline the functions of a model that compute sizes, for a device; return whether any does."""
    return job.settings.target.is_device and inline_functions(job, _is_sized)


def _is_sized(function: ir.Function) -> bool:
    return any(described(node).of_sizes for node in function.all_nodes())


def _is_read_well(known: Knowledge) -> bool:
    return misread_node(known, folded=True) is None


class _Folding:
    """Writes the constants that are found in readings of a model."""

    def __init__(self, job: Job, finder: ConstantFinder) -> None:
        self.job = job
        self.finder = finder
        self._computed: list[ir.Value] = []  # constants whose elements no reading knew
        self.room: float = math.inf
        if not job.settings.target.is_device:
            self.room = max(_FREE, _stored_bytes(job.model) // 2)

    def fold(self, known: Knowledge) -> tuple[bool, bool]:
        """Write all that is known as constants.

        Returns whether anything was written, and whether other constants may follow from it.
        """
        self.finder.find(known)
        self._keep_operands()
        self._computed.clear()
        if not self.finder.constants:
            return False, False
        return self._write(), any(map(self._teaches, self._computed))

    def _teaches(self, made: ir.Value) -> bool:
        """Return whether another reading may know more because a value is a constant now.

        It knows no more of floats: element-wise arithmetic on them decides no size, and a
        comparison with floats that are not known decides nothing.
        """
        if made.dtype not in _FLOATS:
            return True
        known = self.finder.known.values

        def learns(node: ir.Node) -> bool:
            if described(node).rows not in _OF_SHAPES:
                return True
            if all(v.dtype in _FLOATS for v in node.outputs):
                return False
            others = [known.get(v) for v in node.inputs if v is not None and v is not made]
            return all(v is None or v.content is not None for v in others)

        return any(learns(use.node) for use in made.uses())

    def _keep_operands(self) -> None:
        """Give up floats that a kernel would pack, unless the target lacks what computes them."""
        constants, target = self.finder.constants, self.job.settings.target

        def is_kept(value: ir.Value) -> bool:
            node = value.producer()
            readers = [use.node for use in value.uses() if use.idx in described(use.node).packs]
            stays = node is not None and target.has(node.op_type)
            return stays and not all(map(self._goes, readers))

        floats = [v for v, array in constants.items() if array.dtype.kind == "f"]
        while kept := [v for v in floats if is_kept(v)]:
            for value in kept:
                del constants[value]
            floats = [v for v in floats if v in constants]

    def _write(self) -> bool:
        """Write the constants that are read; return whether there are any."""
        gone = self._fitted()
        dead: list[ir.Node] = []
        for graph, scope in self.finder.known.own_graphs():
            as_nodes = self.job.has_constant_nodes(scope)
            writer = Writer(graph, scope, self.job.names, constant_nodes=as_nodes)
            for node in list(graph):
                known = [v for v in node.outputs if v in self.finder.constants]
                needed = [v for v in known if self._is_needed(v, gone)]
                for value in needed:
                    self._replace(value, node, writer)
                dead += [node] if needed else []
        remove_dead(dead)
        return bool(dead)

    def _fitted(self) -> set[ir.Node]:
        """Give up the largest constants if all are too large; return the nodes to remove.

        If a value is given up, the constants that its node reads are written.
        """
        most = LIMITS.folded_bytes
        while True:
            gone = {node for node, _ in self.finder.nodes() if self._goes(node)}
            written = [v for v in self.finder.constants if self._is_needed(v, gone)]
            size = sum(self.finder.constants[v].nbytes for v in written)
            if size <= self.room or most <= _SMALL:
                self.room -= size
                return gone
            most //= 2
            self.finder.constants = {
                v: array for v, array in self.finder.constants.items() if array.nbytes <= most
            }

    def _goes(self, node: ir.Node) -> bool:
        """Return whether all outputs of a node that are read are known."""
        read = [v for v in node.outputs if v.uses() or v.is_graph_output()]
        return bool(read) and all(v in self.finder.constants for v in read) and not graphs_of(node)

    def _is_needed(self, value: ir.Value, gone: set[ir.Node]) -> bool:
        return value.is_graph_output() or any(use.node not in gone for use in value.uses())

    def _replace(self, value: ir.Value, node: ir.Node, writer: Writer) -> None:
        array = self.finder.constants[value]
        made = write_constant(self.job, writer, value, array, node)
        self.finder.made.add(made)
        if value in self.finder.computed:
            self._computed.append(made)


def write_constant(
    job: Job, writer: Writer, value: ir.Value, array: np.ndarray, node: ir.Node
) -> ir.Value:
    """Replace a value of a node by a constant, for an output of the graph by a Constant node."""
    tensor = ir.Tensor(array, dtype=ir.DataType.from_numpy(array.dtype))
    if not value.is_graph_output():
        with writer.graph.at(node, value.name):
            made = writer.graph.add_constant(array, tensor.dtype)
    else:
        kind, attribute = value.type or ir.TensorType(tensor.dtype), ir.AttrTensor("value", tensor)
        made = ir.Value(name=value.name, type=kind, shape=ir.Shape(array.shape))
        made.metadata_props.update(value.metadata_props)
        value.name = job.names.new(f"{value.name}/computed")
        with writer.graph.at(node):
            writer.graph.add(
                ir.Node("", "Constant", [], [attribute], outputs=[made], name=value.name)
            )
    job.analyses.note_constant(made, tensor)
    replace_uses(value, made)
    return made


_NODE = 64  # bytes of a node, about


def _stored_bytes(model: ir.Model) -> int:
    """Return about how many bytes a model has, including external data.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }''')
    >>> _stored_bytes(model)
    72
    """
    nodes = sum(len(graph) for graph in all_graphs(model))
    return _NODE * nodes + sum(tensor.nbytes for tensor in ir_tensors(model))

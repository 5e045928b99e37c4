"""Everything that depends on known sizes alone is a constant, not computed at run time.

    before   Reshape(x, Concat(Slice(Shape(x), ...), [-1]))          x: float[4, 8, 2]
    after    Reshape(x, [4, -1])

Integers and booleans are those that the interpreter proves, whatever operators they come from. ONNX
Runtime computes the floats that depend on them (scales of a Resize, encodings of positions), bit
for bit as at run time. A value that the model computes from its own constants alone is kept.
Nothing is folded because two inputs declare a dim under one name: runtimes do not check it.

A grid of positions or a mask is made from a few sizes, and would be a large constant. So if the
target takes such nodes, the model grows by at most half, or by 64 KiB if that is more: the largest
constants are still computed at run time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import onnx_ir as ir

from onnx_scatterx.analysis.convergence import interpret
from onnx_scatterx.analysis.domain.scope import Knowledge, Scope
from onnx_scatterx.analysis.misread import misread_node
from onnx_scatterx.emit.nodes import NodeWriter
from onnx_scatterx.ir.cleanup import remove_dead
from onnx_scatterx.ir.graphs import graphs_of
from onnx_scatterx.ir.scatterx_domain import is_scatterx_domain
from onnx_scatterx.ir.size import stored_bytes
from onnx_scatterx.settings import Settings
from onnx_scatterx.symbolic.budget import budget
from onnx_scatterx.symbolic.limits import LIMITS
from onnx_scatterx.transforms.base import Pass
from onnx_scatterx.transforms.constant_runs import COMPUTED, GENERATORS, MOVING, ROUNDED, NodeRunner
from onnx_scatterx.transforms.declared_shapes import declare_known
from onnx_scatterx.transforms.inline_functions import inline_sized_functions
from onnx_scatterx.transforms.inline_if import inline_known_ifs
from onnx_scatterx.transforms.job import Job

_FREE = 1 << 16  # bytes of new constants, whatever the model's size
_SMALL = 64  # bytes of a constant that is always written


class FoldSizes(Pass):
    """Replaces values that depend on known sizes by constants, in all graphs.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2, 3] x) => (float[6] y) { n = Size (x)
    ...         one = Constant <value_ints = [1]> ()
    ...         s = Mul (n, one)
    ...         y = Reshape (x, s) }''')
    >>> FoldSizes()(model).modified
    True
    >>> [node.op_type for node in model.graph]
    ['Reshape']
    """

    def applies(self, settings: Settings) -> bool:
        return bool(settings.fix) or settings.target.is_device

    def run(self, job: Job) -> bool:
        modified = False
        with NodeRunner() as runner:
            folding = _Folding(job, runner)
            for _ in range(LIMITS.folding_rounds):
                with budget().share(1 / 4):
                    known = interpret(job.model, distrust_dims=True)
                if misread_node(known) is not None:
                    return modified
                before = folding.runs
                folded = folding.fold(known)
                more = folded and folding.runs > before  # other constants may follow from these
                inlined = not more and inline_sized_functions(job)
                decided = (more or inlined) and inline_known_ifs(job.model, job.names)
                modified |= folded or inlined or decided
                if not (more or inlined):
                    break
        if job.settings.fix:
            declare_known(job.model, known)
        return modified


class _Folding:
    """Finds constants in readings of a model, and writes them."""

    def __init__(self, job: Job, runner: NodeRunner) -> None:
        self.job = job
        self.runner = runner
        self.known = Knowledge({}, {}, {})
        self.inputs = set(job.model.graph.inputs) if (job.model.ir_version or 0) >= 4 else set()
        self.found: dict[ir.Value, np.ndarray] = {}
        self.made: set[ir.Value] = set()  # constants that were written before
        self.runs = 0
        self.bytes = LIMITS.folded_bytes
        self.room: float = math.inf
        if not job.settings.target.is_device:
            self.room = max(_FREE, stored_bytes(job.model) // 2)

    def fold(self, known: Knowledge) -> bool:
        """Write all that is known as constants; return whether anything was written."""
        self.known, self.found = known, {}
        self._find()
        return self._write()

    def _graphs(self) -> Iterator[tuple[ir.Graph, Scope]]:
        for graph, scope in self.known.scopes.items():
            if scope.function is None or not is_scatterx_domain(scope.function.domain):
                yield graph, scope

    def _find(self) -> None:
        """Find the values that are known."""
        for _, node, scope in self._nodes():
            if node.op_type == "Constant" and node.domain == "":
                continue
            for value in node.outputs:
                array = _integers(value, scope)
                if array is not None and self._has_room(array.nbytes):
                    self.found[value] = array
            if any(v not in self.found for v in node.outputs):
                self._compute(node, scope)

    def _nodes(self) -> Iterator[tuple[ir.Graph, ir.Node, Scope]]:
        for graph, scope in self._graphs():
            for node in graph:
                yield graph, node, scope

    def _has_room(self, size: int) -> bool:
        if size > self.bytes:
            return False
        self.bytes -= size
        return True

    def _compute(self, node: ir.Node, scope: Scope) -> None:
        """Let ONNX Runtime compute a node, if all its inputs are known."""
        if node.domain != "" or node.op_type not in COMPUTED or self.runs >= LIMITS.folding_runs:
            return
        if any(a.is_ref() for a in node.attributes.values()):
            return
        read = [v for v in node.inputs if v is not None]
        if node.op_type not in GENERATORS and not any(
            v in self.found or v in self.made for v in read
        ):
            return
        given = {v.name or "": self._constant(v) for v in read}
        inputs = {name: array for name, array in given.items() if array is not None}
        sizes = [_elements(v, scope) for v in node.outputs]
        if len(inputs) < len(given) or any(n is None or n > LIMITS.elements for n in sizes):
            return
        dtypes = {_dtype(v, scope) for v in (*read, *node.outputs)}
        if node.op_type not in MOVING and not dtypes.isdisjoint(ROUNDED):
            return
        self.runs += 1
        results = self.runner.run(node, inputs, scope.opsets.get("", 0))
        named = [v for v in node.outputs if v.name]
        for value, array in zip(named, results or (), strict=False):
            if self._has_room(array.nbytes):
                self.found[value] = array

    def _constant(self, value: ir.Value) -> np.ndarray | None:
        """Return a constant of the model, if it is small, or what was found."""
        if value in self.found:
            return self.found[value]
        tensor = None if value in self.inputs else ir.convenience.get_const_tensor(value)
        if tensor is None:
            return None
        if tensor.size > LIMITS.floats and value not in self.made:
            return None
        if tensor.dtype.bitwidth < 8 or _is_text(tensor.dtype):
            return None
        return np.asarray(tensor.numpy())

    def _write(self) -> bool:
        """Write the constants that are read; return whether there are any."""
        gone = self._fitted()
        dead: list[ir.Node] = []
        for graph, scope in self._graphs():
            old = (self.job.model.ir_version or 0) < 4
            writer = NodeWriter(
                graph,
                scope,
                self.job.names,
                constant_nodes=scope.function is not None or old,
            )
            for node in list(graph):
                changed = False
                for value in node.outputs:
                    if value in self.found and self._is_needed(value, gone):
                        self._replace(value, node, writer)
                        changed = True
                if changed:
                    dead.append(node)
        remove_dead(dead)
        return bool(dead)

    def _fitted(self) -> set[ir.Node]:
        """Give up the largest constants if all are too large; return the nodes to remove.

        If a value is given up, the constants that its node reads are written.
        """
        most = LIMITS.folded_bytes
        while True:
            gone = {node for _, node, _ in self._nodes() if self._goes(node)}
            written = [v for v in self.found if self._is_needed(v, gone)]
            size = sum(self.found[v].nbytes for v in written)
            if size <= self.room or most <= _SMALL:
                self.room -= size
                return gone
            most //= 2
            self.found = {v: array for v, array in self.found.items() if array.nbytes <= most}

    def _goes(self, node: ir.Node) -> bool:
        """Return whether all outputs of a node that are read are known."""
        read = [v for v in node.outputs if v.uses() or v.is_graph_output()]
        return bool(read) and all(v in self.found for v in read) and not graphs_of(node)

    def _is_needed(self, value: ir.Value, gone: set[ir.Node]) -> bool:
        return value.is_graph_output() or any(use.node not in gone for use in value.uses())

    def _replace(self, value: ir.Value, node: ir.Node, writer: NodeWriter) -> None:
        """Replace a value by a constant. For an output of the graph, it is a Constant node."""
        array = self.found[value]
        dtype = ir.DataType.from_numpy(array.dtype)
        if not value.is_graph_output():
            with writer.at(node, value.name):
                made = writer.constant(array, dtype)
            value.replace_all_uses_with(made)
            self.made.add(made)
            return
        tensor = ir.Tensor(array, dtype=dtype)
        result = ir.Value(
            name=value.name, type=value.type or ir.TensorType(dtype), shape=ir.Shape(array.shape)
        )
        result.metadata_props.update(value.metadata_props)
        value.name = self.job.names.new(f"{value.name}/computed")
        constant = ir.Node(
            "", "Constant", [], [ir.AttrTensor("value", tensor)], outputs=[result], name=value.name
        )
        assert node.graph is not None
        node.graph.insert_before(node, constant)
        value.replace_all_uses_with(result, replace_graph_outputs=True)
        self.made.add(result)


def _integers(value: ir.Value, scope: Scope) -> np.ndarray | None:
    """Return integers or booleans that are known, if they are few enough."""
    found = scope.values.get(value)
    if found is None or not found.is_integer or found.dtype is None or found.dtype.bitwidth < 8:
        return None
    elements = _elements(value, scope)
    if elements is None or elements > LIMITS.elements:
        return None
    array = found.constant
    if array is None or array.dtype != found.dtype.numpy() or array.shape != found.static_shape:
        return None
    return array


def _dtype(value: ir.Value, scope: Scope) -> ir.DataType | None:
    found = scope.values.get(value)
    return value.dtype if found is None else found.dtype


def _elements(value: ir.Value, scope: Scope) -> int | None:
    """Return how many elements a tensor has, if that is known."""
    found = scope.values.get(value)
    shape = None if found is None else found.static_shape
    return None if shape is None else int(np.prod(shape, dtype=object))


def _is_text(dtype: ir.DataType) -> bool:
    return dtype in (ir.DataType.STRING, ir.DataType.UNDEFINED)

"""Chains without an input of the model are computed, if the target does not take a node of them.

    before   Conv(x, Mul(Div(g, ReduceL2(W, axes)), W))     for a compiler that misreads ReduceL2
    after    Conv(x, W2)

Each node is computed alone by ONNX Runtime, without optimizations, as under its default options.
Of float16 and bfloat16, only the nodes are computed that move elements. What follows from such a
node is computed, too, up to the nodes that read an input of the model. A chain is computed, too, if
the target folds it, and then refuses a node that reads it as a constant. A chain is kept if the new
constants are larger than 64 MB; then the report names its nodes. A draw that is multiplied by 0 is
a constant, too (``silent_draws``).

ONNX Runtime packs a constant operand of MatMul, Gemm or Conv. Without optimizations it did not pack
what a node computes, so the last bits of such products may differ: the report names these readers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from operator import or_
from typing import TYPE_CHECKING

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Knowledge, Scope, TensorValue
from onnx_scatterx.engine.budget import LIMITS, budget, within_limits
from onnx_scatterx.engine.device import TakenOut, objections_to, use_of
from onnx_scatterx.engine.passes import Job, Pass
from onnx_scatterx.engine.write import Writer
from onnx_scatterx.fitting.fold_sizes import write_constant
from onnx_scatterx.fitting.silent_draws import draw_silent
from onnx_scatterx.graphs import all_nodes, constant, live_nodes, overridable, reached, remove_dead
from onnx_scatterx.operators import described

if TYPE_CHECKING:
    from onnx_scatterx.fitting.constant_finder import NodeRunner


def compute_constants(job: Job) -> bool:
    """Replace chains of constants that the target does not take by what they compute.

    >>> from onnx_scatterx.engine.passes.settings import Settings
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) <float[2] w = {4, 9}> {
    ...         a = Sqrt (w)  b = Neg (a)  y = Add (x, b) }''')
    >>> npu = "standard, operators = ['Add', 'Neg'], onnxruntime = false"
    >>> compute_constants(Job(model, Settings.of(target=npu)))
    True
    >>> [node.op_type for node in model.graph]
    ['Add']
    """
    drawn = draw_silent(job)
    looked_for = _Chains(job)
    if not looked_for.are_there or job.obstacle_to("ComputeConstants", folds=True) is not None:
        return drawn
    with budget().share(1 / 4):
        known = within_limits(job.analyses.without_trust.current)
    chains = [] if known is None else looked_for.refused(known)
    if not chains:
        return drawn
    from onnx_scatterx.fitting.constant_finder import NodeRunner

    modified, room, runs = drawn, LIMITS.computed_bytes, LIMITS.folding_runs
    with NodeRunner() as runner:
        for forms in chains:
            runs -= len(forms[0].nodes)
            results = ((chain, chain.computed(runner, room)) for chain in forms if runs >= 0)
            chain, found = next(((c, f) for c, f in results if f is not None), (forms[0], None))
            if found is None:
                continue
            room -= sum(array.nbytes for array in found.values())
            packed = {r.name or r.outputs[0].name or "?" for v in found for r in _packing(v)}
            told = dict.fromkeys((*job.lowered.packed, *sorted(packed)))
            job.lowered = job.lowered._replace(packed=tuple(told))
            chain.write(found, job)
            modified = True
    return modified


ComputeConstants = Pass(
    compute_constants, applies=lambda s: s.target.is_limited and not s.target.onnxruntime
)


def _packing(value: ir.Value) -> Iterable[ir.Node]:
    return (use.node for use in value.uses() if use.idx in described(use.node).packs)


class _Chain:
    """Nodes of one graph that are computed together, in the order of the graph.

    ``gone`` are those that are removed. The others are needed for them, and may have other readers.
    """

    def __init__(
        self, graph: ir.Graph, scope: Scope, nodes: list[ir.Node], gone: Collection[ir.Node]
    ) -> None:
        self.graph, self.scope, self.nodes, self._gone = graph, scope, nodes, gone

    def read(self) -> list[ir.Value]:
        """Return the results that a node outside of the chain reads."""
        made = [v for node in self.nodes if node in self._gone for v in node.outputs]
        return [
            v
            for v in made
            if v.is_graph_output() or any(u.node not in self._gone for u in v.uses())
        ]

    def computed(self, runner: NodeRunner, room: int) -> dict[ir.Value, np.ndarray] | None:
        """Return the results that are read, or None if one is not known, or if they are too large.

        What is removed from the model with the chain does not count.
        """
        from onnx_scatterx.fitting.constant_finder import MOVING, ROUNDED

        known: dict[ir.Value, np.ndarray] = {}
        for node in self.nodes:
            tensors = {v: constant(v, self.scope.overridable) for v in node.inputs if v is not None}
            arrays = {v.name or "": known.get(v, _array(t)) for v, t in tensors.items()}
            dtypes = {v.dtype or self.scope.of(v).dtype for v in (*tensors, *node.outputs)}
            if node.op_type not in MOVING and not dtypes.isdisjoint(ROUNDED):
                return None
            sizes = [_bytes(self.scope.of(v)) for v in node.outputs if v.name]
            if any(array is None for array in arrays.values()) or max(sizes) > LIMITS.kept_bytes:
                return None
            inputs = {name: array for name, array in arrays.items() if array is not None}
            stored = {v.name or "" for v, t in tensors.items() if t is not None}
            results = runner.run(node, inputs, self.scope.opsets.get("", 0), stored)
            if results is None:
                return None
            named = [v for v in node.outputs if v.name]
            known.update(zip(named, results, strict=True))
        found = {v: known[v] for v in self.read()}
        if any(array.dtype == object for array in found.values()):
            return None
        freed = sum(t.nbytes for t in self._freed())
        return found if sum(a.nbytes for a in found.values()) <= room + freed else None

    def _freed(self) -> list[ir.TensorProtocol]:
        """Return the initializers that nothing else reads."""
        read = dict.fromkeys(v for node in self.nodes for v in node.inputs if v is not None)
        alone = [v for v in read if all(use.node in self._gone for use in v.uses())]
        tensors = (constant(v, self.scope.overridable) for v in alone)
        return [tensor for tensor in tensors if tensor is not None]

    def write(self, found: dict[ir.Value, np.ndarray], job: Job) -> None:
        """Write the results as constants in place of the nodes."""
        writer = Writer(
            self.graph, self.scope, job.names, constant_nodes=job.has_constant_nodes(self.scope)
        )
        for value, array in found.items():
            node = value.producer()
            assert node is not None
            write_constant(job, writer, value, array, node)
        remove_dead(self.nodes[::-1])


def _bytes(known: TensorValue) -> float:
    """Return how many bytes a tensor has, infinity if that is not known."""
    shape, dtype = known.static_shape, known.dtype
    if shape is None or dtype is None or dtype.is_string():
        return math.inf
    return math.prod(shape) * dtype.itemsize


def _array(tensor: ir.TensorProtocol | None) -> np.ndarray | None:
    if tensor is None or tensor.dtype.is_string() or tensor.dtype.bitwidth < 8:
        return None
    if tensor.nbytes > LIMITS.kept_bytes:
        return None
    return np.asarray(tensor.numpy())


class _Chains:
    """Finds the chains of a model of which its target does not take a node."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._taken_out = TakenOut(job.model)
        self._overridable = overridable(job.model)

    @property
    def are_there(self) -> bool:
        """Whether there is a chain, refused or not: the model need not be read for it."""
        return any(map(self._is_of_chain, all_nodes(self._job.model)))

    def refused(self, known: Knowledge) -> list[list[_Chain]]:
        """Return these chains, and of each the part that is refused, which may be smaller."""
        return [c for graph, scope in known.own_graphs() for c in self._of(graph, scope)]

    def _is_of_chain(self, node: ir.Node) -> bool:
        return node.op_type != "Constant" and self._taken_out.computes_constant(node)

    def _of(self, graph: ir.Graph, scope: Scope) -> Iterator[list[_Chain]]:
        live, target = live_nodes(graph), self._job.settings.target.with_host()
        nodes = {n: None for n in graph if n in live and self._is_of_chain(n)}

        def is_refused(node: ir.Node) -> bool:
            use = use_of(node, scope.of, self._overridable, scope)
            folded = replace(use, is_constant=[True] * len(use.inputs))  # by the compiler itself
            return any(any(objections_to(one, target)) for one in (use, folded))

        refused = {node for node in nodes if within_limits(partial(is_refused, node))}
        for reader in (n for n in graph if n in live and n not in nodes):
            made = [v is not None and v.producer() in nodes for v in reader.inputs]
            if any(made) and within_limits(partial(self._is_refused_of, reader, scope, made)):
                refused.update(maker for maker in _makers(reader) if maker in nodes)
        gone: dict[ir.Node, None] = {}  # in the order of the graph
        for node in nodes:  # what follows from a refused node goes with it
            if node in refused or any(maker in gone for maker in _makers(node)):
                gone[node] = None

        def near(node: ir.Node) -> list[ir.Node]:
            readers = [use.node for value in node.outputs for use in value.uses()]
            return [n for n in (*_makers(node), *readers) if n in gone]

        seen: set[ir.Node] = set()
        for node in gone:
            if node not in seen:
                together = set(reached([node], near))
                seen |= together
                yield [
                    _Chain(graph, scope, _ordered(some, nodes), some)
                    for some in (together, together & refused)
                ]

    def _is_refused_of(self, node: ir.Node, scope: Scope, made: list[bool]) -> bool:
        """Return whether the target, which folds what constants give, refuses a node of them."""
        target = self._job.settings.target.with_host()
        if not any(refused.constant for refused in target.limits_of(node.op_type).refused):
            return False
        use = use_of(node, scope.of, self._overridable, scope)
        folded = replace(use, is_constant=list(map(or_, use.is_constant, made)))
        return any(objections_to(folded, target))


def _makers(node: ir.Node) -> list[ir.Node]:
    made = (v.producer() for v in node.inputs if v is not None)
    return [maker for maker in made if maker is not None]


def _ordered(gone: Collection[ir.Node], nodes: Collection[ir.Node]) -> list[ir.Node]:
    """Return nodes and those that they need to be computed, in their order."""
    needed = set(reached(gone, lambda n: [m for m in _makers(n) if m in nodes]))
    return [node for node in nodes if node in needed]

"""A NonZero that lists all positions is a Range, or a constant, if that takes fewer nodes.

    before   NonZero(ConstantOfShape(Unsqueeze(n), 1))
    after    Unsqueeze(Range(0, n, 1))

TorchScript writes it for ``as_strided``. The form is the one for targets that lack NonZero
(``engine.write.forms.positions``). The nodes that computed its input count as removed if nothing
else reads them. No promise is used, nor that dims of one name are equal. A model with a Loop or a
Scan stays as it is: where the body does not run, its outputs have the sizes that ONNX Runtime
infers, and of a Range or a constant it infers more. Only the main graph is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Knowledge, Scope, interpret
from onnx_scatterx.engine.budget import LimitError, budget
from onnx_scatterx.engine.passes import Job
from onnx_scatterx.engine.write import Fragment, Writer, instead_of
from onnx_scatterx.graphs import made_by, remove_dead, replace_uses

_COLLECT = ("Loop", "Scan")
_CANNOT = (ArithmeticError, LookupError, TypeError, ValueError)  # of a node that cannot run


def list_positions(job: Job) -> bool:
    """Write what a NonZero lists without it, where that takes fewer nodes.

    >>> import onnx_ir as ir
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (int64 n) => (int64[1, m] y) <int64[1] axis = {0}> {
    ...         sizes = Unsqueeze (n, axis)
    ...         ones = ConstantOfShape <value = int64[1] {1}> (sizes)
    ...         y = NonZero (ones) }''')
    >>> from onnx_scatterx.engine.passes.settings import Settings
    >>> list_positions(Job(model, Settings.of(target="standard")))
    True
    >>> [node.op_type for node in model.graph]
    ['Range', 'Unsqueeze']
    """
    if not any(map(_may_list_all, job.model.graph)):
        return False
    if job.held.has(*_COLLECT):
        return False
    most = job.analyses.at_most
    if most is None:
        return _written(job, job.analyses.without_trust.current)
    if not _written(job, most.current, only_ask=True):
        return False  # without trust even less is known, so that the model need not be read
    # One visit is enough: what more would rule out is rarely a size of such a tensor.
    asked = [node.outputs[0] for node in job.model.graph if _may_list_all(node)]
    return _written(job, partial(interpret, job.model, distrust_dims=True, once=True, of=asked))


def _written(job: Job, read: Callable[[], Knowledge], *, only_ask: bool = False) -> bool:
    """Write other forms; return whether any was written, or would be if ``only_ask``."""
    graph, own, modified = job.model.graph, job.settings.target, False
    try:
        with budget().share(1 / 8):
            scope = read().scopes[graph]
            as_nodes = job.has_constant_nodes(scope)
            target = replace(own, avoid=own.avoid | {"NonZero"})
            writer = Writer(graph, scope, job.names, constant_nodes=as_nodes, target=target)
            for node in [node for node in graph if _may_list_all(node)]:
                with writer.graph.at(node, node.outputs[0].name):
                    nodes = _listed(node, writer, scope)
                    if nodes is not None and not only_ask:
                        _replace(node, nodes, writer, scope)
                modified |= nodes is not None
            job.analyses.note(writer.graph.made)
    except LimitError:
        pass  # the rest is kept
    return modified


def _may_list_all(node: ir.Node) -> bool:
    """Return whether a node is a NonZero of a tensor that may have one number everywhere."""
    if node.op_type != "NonZero" or node.domain != "" or node.inputs[0] is None:
        return False
    return made_by(node.inputs[0], "ConstantOfShape", "Expand") is not None


def _listed(node: ir.Node, writer: Writer, scope: Scope) -> Fragment | None:
    """Return another form of a NonZero, if one takes fewer nodes."""

    def may(nodes: Fragment) -> bool:
        return nodes.cost < len(_removed(node, nodes))

    try:
        return instead_of(writer, node, scope, may=may, refused=set())
    except _CANNOT:
        return None


def _replace(node: ir.Node, nodes: Fragment, writer: Writer, scope: Scope) -> None:
    """Put another form in the place of a node."""
    (value,) = node.outputs
    committed = writer.graph.commit(nodes)
    result = writer.graph.take_name(value, committed, scope.of(value).dtype)
    replace_uses(value, result)
    remove_dead([node])


def _removed(node: ir.Node, nodes: Fragment) -> set[ir.Node]:
    """Return the nodes that nothing reads if a node is replaced; constants do not count."""
    removed, waiting = {node}, [node]
    while waiting:
        for value in waiting.pop().inputs:
            maker = None if value is None else value.producer()
            if maker is None or maker in removed or maker.graph is not node.graph:
                continue
            outputs = maker.outputs
            read = any(use.node not in removed for v in outputs for use in v.uses())
            if not read and not any(v.is_graph_output() or v in nodes.inputs for v in outputs):
                removed.add(maker)
                waiting.append(maker)
    return {each for each in removed if each.op_type != "Constant"}

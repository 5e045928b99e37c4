"""Nodes of the model that a target with limits does not take are written in another form.

    before   Slice(x, steps = [2])               for a compiler that takes no Slice with a step
    after    Slice(Reshape(x, [n, 2, m]), ...)

    before   Reshape(Transpose(Reshape(x)))      with 6 dims between, for one that takes 5
    after    Reshape(Transpose(Reshape(x)))      with axes merged that move together

The forms are those that are used for scatters (``engine.write.forms``): they compute the same bits.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.budget.spending import LimitError, budget
from onnx_scatterx.engine.mosaic.constants import Constants
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.step import Pass
from onnx_scatterx.engine.quantizers.around import has_quantizers
from onnx_scatterx.engine.quantizers.runtime_patterns import GraphValues, objection, obstacle
from onnx_scatterx.engine.write.dry_run import DryRun
from onnx_scatterx.engine.write.forms import has_other_forms, instead_of
from onnx_scatterx.engine.write.writer import Writer
from onnx_scatterx.graphs.cleanup import remove_dead, replace_uses
from onnx_scatterx.graphs.traversal import all_nodes

_CANNOT = (ArithmeticError, LookupError, TypeError, ValueError)  # of a node that cannot run


def write_other_forms(job: Job) -> bool:
    """Replace nodes that a target with limits does not take by nodes that it takes.

    >>> import onnx_ir as ir
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (bool[4] m) => (bool[4] y) { y = Not (m) }''')
    >>> from onnx_scatterx.engine.passes.settings import Settings
    >>> write_other_forms(Job(model, Settings.of(target="standard, avoid = ['Not']")))
    True
    >>> [node.op_type for node in model.graph]
    ['Equal']
    """
    target = job.settings.target
    if job.obstacle is not None or not any(map(has_other_forms, all_nodes(job.model))):
        return False
    modified = False
    try:
        with budget().share(1 / 4):
            known = job.analyses.without_trust.current()
            for graph, scope in known.own_graphs():
                as_nodes = job.has_constant_nodes(scope)
                writer = Writer(graph, scope, job.names, constant_nodes=as_nodes, target=target)
                modified |= _in_graph(graph, GraphValues(scope, Constants(scope)), writer)
                job.analyses.note(writer.graph.made)
    except LimitError:
        pass  # the rest is kept
    return modified


WriteOtherForms = Pass(write_other_forms, applies=lambda s: s.target.is_limited)


def _in_graph(graph: ir.Graph, known: GraphValues, writer: Writer) -> bool:
    """Write other forms in one graph; return whether any was written."""
    modified, scope = False, known.scope
    asks = writer.target.onnxruntime and has_quantizers(graph)
    for node in list(graph):
        if not has_other_forms(node) or node.graph is None:
            continue
        if asks and obstacle(node, known) is not None:
            continue
        (value,) = node.outputs

        def may(trial: DryRun, old: ir.Value = value) -> bool:
            return not asks or objection(old, trial, known) is None

        dtype, made = scope.of(value).dtype, len(writer.graph.made)
        with writer.graph.at(node, value.name):
            try:
                result = instead_of(writer, node, scope, may=may)
            except _CANNOT:
                result = None
            if result is None:
                continue
            is_new = result.producer() in writer.graph.made[made:]
            result = writer.graph.take_name(value, result, dtype, is_new=is_new)
        replace_uses(value, result)
        remove_dead([node])
        modified = True
    return modified

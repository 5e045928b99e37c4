"""Forms that avoid a fault of the target's compiler, at its pattern alone, after all other forms.

A profile has the faults of its compiler, with the version; ``faults`` has the forms.
"""

from __future__ import annotations

from collections import defaultdict

import onnx_ir as ir

from onnx_scatterx.engine.budget import LimitError, budget
from onnx_scatterx.engine.device import TakenOut
from onnx_scatterx.engine.passes import Job, Pass
from onnx_scatterx.engine.write import Writer
from onnx_scatterx.graphs import all_nodes


def avoid_faults(job: Job) -> bool:
    """Write the forms that the target's faults ask for; return whether there were any.

    >>> import onnx_ir as ir
    >>> from onnx_scatterx.engine.passes.settings import Settings
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2, 4] k, float[4, 3] v) => (float[1, 3] y) <float[1, 2] q = {1, 2}> {
    ...         s = MatMul (q, k)  p = Softmax (s)  y = MatMul (p, v) }''')
    >>> avoid_faults(Job(model, Settings.of(target="rknn")))
    True
    >>> [node.op_type for node in model.graph]
    ['MatMul', 'Softmax', 'Relu', 'MatMul']
    """
    from onnx_scatterx.fitting.faults import FORMS, Candidate

    wanted = {fault.form for fault in job.settings.target.faults}
    forms = [form for name, form in FORMS.items() if name in wanted]
    if not any(form.may_be_in(job.held) for form in forms):
        return False
    modified, constants = False, TakenOut(job.model)
    try:
        with budget().share(1 / 4):
            known = job.analyses.promised.current()
            for graph, scope in known.own_graphs():
                if scope.function is not None and _is_open(scope.function):
                    continue
                as_nodes, target = job.has_constant_nodes(scope), job.settings.target
                w = Writer(graph, scope, job.names, constant_nodes=as_nodes, target=target)
                nodes = defaultdict[str, list[ir.Node]](list)
                for node in graph:
                    nodes[node.op_type].append(node)
                for node in list(graph):
                    candidate = Candidate(w, node, scope, constants, nodes)
                    for form in (form for form in forms if form.is_at(node)):
                        if node.graph is not None:  # no form before has replaced it
                            modified |= form.write(candidate)
                job.analyses.note(w.graph.made)
    except LimitError:
        pass  # the rest is kept
    return modified


def _is_open(function: ir.Function) -> bool:
    """Return whether callers give attributes of its nodes: what a form asks of these is unknown."""
    return any(a.is_ref() for node in all_nodes(function) for a in node.attributes.values())


AvoidFaults = Pass(avoid_faults, applies=lambda s: s.target.faults)

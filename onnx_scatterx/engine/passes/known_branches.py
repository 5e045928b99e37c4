"""Ifs whose conditions are known are replaced by their branches.

The condition must be known without trusting declared dims. A branch that is in the graph then may
share names with values of the graph, or of another branch: these are renamed.
"""

from __future__ import annotations

import copy
from collections import Counter

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope
from onnx_scatterx.engine.budget import budget, within_limits
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.write import GraphWriter
from onnx_scatterx.graphs import Names, all_nodes, is_operator, remove_dead, replace_uses


def take_known_branches(job: Job) -> bool:
    """Replace Ifs by their branches that are always taken; return whether any was replaced."""
    model, modified = job.model, False
    if (model.ir_version or 0) < 4:
        return False  # initializers are inputs, and a graph cannot get new ones
    while any(is_operator(node, ("If",)) for node in all_nodes(model.graph)):
        with budget().share(1 / 4):
            known = job.analyses.without_trust.current()
        decided = [
            (node, taken)
            for graph, scope in known.scopes.items()
            if scope.function is None
            for node in graph
            if is_operator(node, ("If",)) and (taken := _taken(node, scope)) is not None
        ]
        if not decided:
            break
        common = _common_names(model)
        for node, taken in decided:
            if node.graph is not None:  # else it was in a branch that is not taken
                _take(node, taken, job.names, common)
        job.analyses.read_again()
        modified = True
    return modified


def _taken(node: ir.Node, scope: Scope) -> ir.Graph | None:
    """Return the branch that is always taken, or None if that is not known."""
    scalar = within_limits(lambda: scope.of(node.inputs[0]).scalar)
    condition = None if scalar is None else scalar.constant
    if condition is None:
        return None
    return node.attributes["then_branch" if condition else "else_branch"].as_graph()


def _take(node: ir.Node, branch: ir.Graph, names: Names, common: set[str]) -> None:
    """Replace an If by its branch."""
    graph = node.graph
    assert graph is not None
    results = list(branch.outputs)
    nodes = list(branch)
    for value in results:
        if value.producer() in nodes:
            value.shape = None  # declared by the branch, not trusted
    branch.outputs.clear()
    for value in list(branch.initializers.values()):
        del branch.initializers[value.name or ""]
        _rename(value, names, common)
        graph.initializers.add(value)
    branch.remove(nodes)
    for value in [v for n in nodes for v in n.outputs]:
        _rename(value, names, common)
    graph.insert_before(node, nodes)
    for value, result in zip(node.outputs, results, strict=True):
        _replace(node, value, result, names, fixed=result.producer() not in nodes)
    remove_dead([node])


def _rename(value: ir.Value, names: Names, common: set[str]) -> None:
    """Rename a value if one of another scope has its name."""
    if value.name not in common:
        return
    tensor = value.const_value
    if isinstance(tensor, ir.ExternalTensor):
        value.const_value = copy.copy(tensor)
    elif tensor is not None:  # its name is in the model that it was read from
        value.const_value = ir.serde.deserialize_tensor(ir.serde.serialize_tensor(tensor))
    value.name = names.new(value.name)


def _common_names(model: ir.Model) -> set[str]:
    """Return the names of two different values, which graphs beside each other may share."""
    counts = Counter[str | None]()
    for graph in model.graphs():
        counts.update(list(graph.initializers))
        counts.update(v.name for n in graph for v in n.outputs)
        counts.update(v.name for v in graph.inputs if v.name not in graph.initializers)
    return {name for name, count in counts.items() if name and count > 1}


def _replace(
    node: ir.Node, value: ir.Value, result: ir.Value, names: Names, *, fixed: bool
) -> None:
    """Replace an output of an If by that of its branch; if ``fixed``, its name is kept."""
    graph = node.graph
    assert graph is not None
    if value.is_graph_output():
        if fixed or result.is_graph_output():
            name = names.new(f"{value.name}/Identity")
            writer = GraphWriter(graph, names, constant_nodes=True)
            with writer.at(node):
                output = ir.Value(name=name)
                result = writer.add(ir.Node("", "Identity", [result], outputs=[output], name=name))
        replace_uses(value, result, keeps_name=True, unused=names.new(f"{value.name}/taken"))
    else:
        replace_uses(value, result)

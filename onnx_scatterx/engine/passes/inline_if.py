"""What stands for other nodes is replaced by them: a known If, a function that computes sizes.

    before   y = If (c) <then_branch = { y = A(x) }, else_branch = { y = B(x) }>      c is true
    after    y = A(x)

Exporters test ranks at run time (is this a scalar?). The rank of a value behind such an If is not
known before the If is removed. The condition must be known without trusting declared dims.

A function that is called at several sizes computes each of them when it runs. An inlined call has
one size, which is a known number if the call's size is. A function beside quantizers is inlined,
as ONNX Runtime does it; and so is a known If beside them, whichever passes are chosen.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable

import onnx_ir as ir
from onnx_ir.passes.common import InlinePass

from onnx_scatterx.engine.analysis.domain.call import Scope
from onnx_scatterx.engine.analysis.functions import may_be_operator
from onnx_scatterx.engine.budget.budget import budget, within_limits
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.plan.neighbours import has_quantizers
from onnx_scatterx.graphs.cleanup import Names, cloned, remove_dead, replace_uses
from onnx_scatterx.graphs.traversal import (
    all_graphs,
    all_nodes,
    called_function,
    is_operator,
    is_scatterx_domain,
)


def inline_known_ifs(job: Job) -> bool:
    """Replace Ifs by their branches that are always taken, before anything is planned.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N] x) => (float[N] y) <bool yes = {1}> {
    ...         y = If (yes) <then_branch = a () => (float[N] p) { p = Abs (x) },
    ...                       else_branch = b () => (float[N] q) { q = Neg (x) }> }''')
    >>> inline_known_ifs(Job(model))
    True
    >>> [node.op_type for node in model.graph]
    ['Abs']
    """
    modified = take_known_branches(job)
    if modified:
        job.analyses.forget()
    return modified


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
            identity = ir.Node("", "Identity", [result], outputs=[ir.Value()], name=name)
            graph.insert_before(node, identity)
            (result,) = identity.outputs
        replace_uses(value, result, keeps_name=True, unused=names.new(f"{value.name}/taken"))
    else:
        replace_uses(value, result)


SIZED = frozenset({"ConstantOfShape", "If", "Range", "Shape", "Size"})
"""Operators that compute with sizes, or that a size may decide."""


def inline_sized_functions(job: Job) -> bool:
    """Inline the functions of a model that compute sizes, for a device; return whether any does."""
    return job.settings.target.is_device and inline_functions(job, _is_sized)


def _is_sized(function: ir.Function) -> bool:
    return any(node.op_type in SIZED and node.domain == "" for node in function.all_nodes())


def inline_beside_quantizers(job: Job) -> bool:
    """Inline the functions and the known Ifs of a model with quantizers and scatters.

    ONNX Runtime inlines them, too. Then it moves quantizers past nodes that were in another graph.
    Whether that is right is known of the nodes of one graph alone.

    >>> model = ir.from_onnx_text('''<ir_version: 10, opset_import: ["" : 18, "local" : 1]>
    ...     g (int8[4] x, float[2] u, float s) => (float[4] y) {
    ...         f = DequantizeLinear (x, s)
    ...         y = local.write (f, u) }
    ...     <domain: "local", opset_import: ["" : 18]> write (f, u) => (y) {
    ...         i = Constant <value = int64[2, 1] {0, 1}> ()
    ...         y = ScatterND (f, i, u) }''')
    >>> inline_beside_quantizers(Job(model))
    True
    >>> [node.op_type for node in model.graph]
    ['DequantizeLinear', 'Constant', 'ScatterND']
    """
    graphs = all_graphs(job.model)
    if len(graphs) < 2 or not any(map(has_quantizers, graphs)) or not job.has_scatters:
        return False
    modified = inline_functions(job, lambda _: True)
    modified |= take_known_branches(job)
    if modified:
        job.analyses.forget()
    return modified


def inline_functions(job: Job, chosen: Callable[[ir.Function], bool]) -> bool:
    """Inline the functions that a runtime calls, and that are chosen; return whether any is.

    None is inlined if one of them cannot be, such as a function of another operator set.
    """
    model = job.model
    called = (called_function(model, node) for node in all_nodes(model))
    wanted = {
        f.identifier()
        for f in called
        if f is not None
        and f.domain
        and not is_scatterx_domain(f.domain)
        and not may_be_operator(f)
        and chosen(f)
    }
    if not wanted:
        return False

    def inlined(function: ir.Function) -> bool:
        return function.identifier() in wanted

    try:
        InlinePass(inlined)(cloned(model))
        InlinePass(inlined)(model)
    except (ir.passes.PassError, ValueError):
        return False  # they cannot be inlined
    job.forget_names()
    return True

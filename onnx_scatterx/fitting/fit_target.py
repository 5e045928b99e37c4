"""Passes that fit a model to its target.

    change_operator_set        the operator set that the user wants
    lower_operator_set         opset 24    Neg, ReduceMax (x, axes)
                               opset 17    Neg, ReduceMax <axes> (x), if each means the same there
    lower_rewritten            the same, if what prevented it is gone: a TensorScatter
    drop_default_reductions    ScatterND <reduction = "none">    ScatterND
    attach_fallbacks           every new ScatterX gets a function of standard operators

Some compilers of devices reject a scatter with the default reduction, or misread it.

    before   Slice(x, steps = [2])               for a compiler that takes no Slice with a step
    after    Slice(Reshape(x, [n, 2, m]), ...)

    before   Reshape(Transpose(Reshape(x)))      with 6 dims between, for one that takes 5
    after    Reshape(Transpose(Reshape(x)))      with axes merged that move together

The forms are those that are used for scatters (``emit.forms``): they compute the same bits.

Different functions have different domains, which the model and every function with such nodes must
import.
"""

from __future__ import annotations

from itertools import count

import onnx.defs
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.call import Scope
from onnx_scatterx.engine.budget.budget import LimitError, budget, own_budget
from onnx_scatterx.engine.lift.lift_scatter import is_scatter
from onnx_scatterx.engine.mosaic.constants import Constants
from onnx_scatterx.engine.passes.job import Job, Lowered
from onnx_scatterx.engine.plan.neighbours import has_quantizers
from onnx_scatterx.engine.plan.runtime_patterns import GraphValues, objection, obstacle
from onnx_scatterx.engine.write.dry_run import DryRun
from onnx_scatterx.engine.write.forms import HAVE_FORMS, instead_of
from onnx_scatterx.engine.write.forms.merged import MERGES, RESHAPES
from onnx_scatterx.engine.write.native.fallback import FallbackSpec, fallback
from onnx_scatterx.engine.write.native.fold_transposes import fold_transposes
from onnx_scatterx.engine.write.native.nodes import new_nodes, set_fallback
from onnx_scatterx.engine.write.writer import Writer
from onnx_scatterx.fitting.opset import change_opset, newer_opset, write_for_opset
from onnx_scatterx.graphs.cleanup import remove_dead, replace_uses
from onnx_scatterx.graphs.traversal import all_nodes, scatterx_domain, written

_FUNCTIONS = 8  # the IR version that has model-local functions


@own_budget()  # a plan is written completely
def add_fallbacks(model: ir.Model) -> bool:
    """Fold transposes into the new ScatterX nodes of a model and add the functions that they call.

    Equal bodies are one function. The result is whether there are such nodes.
    """
    graphs: list[ir.Graph | ir.Function] = [model.graph, *model.functions.values()]
    fallbacks: dict[FallbackSpec, ir.Function] = {}
    for graph in graphs:
        fold_transposes(graph)
        for node, body in list(new_nodes(graph)):
            if body not in fallbacks:
                fallbacks[body] = _add(model, body)
            set_fallback(node, fallbacks[body])
            graph.opset_imports.setdefault(node.domain, 1)
    for function in fallbacks.values():
        model.graph.opset_imports.setdefault(function.domain, 1)
    if fallbacks:
        _raise_version(model)
    return bool(fallbacks)


def _add(model: ir.Model, body: FallbackSpec) -> ir.Function:
    """Add the function of a body, in a new domain."""
    taken = {function.domain for function in model.functions.values()}
    domain = next(name for name in map(scatterx_domain, count(1)) if name not in taken)
    function = fallback(body, domain)
    model.functions[function.identifier()] = function
    return function


def _raise_version(model: ir.Model) -> None:
    if (model.ir_version or 0) < 4:
        # Before version 4 an initializer had to be an input, but was a constant.
        constants = [v for v in model.graph.inputs if v.name in model.graph.initializers]
        for value in constants:
            model.graph.inputs.remove(value)
    model.ir_version = max(model.ir_version or 0, _FUNCTIONS)


def change_operator_set(job: Job) -> bool:
    """Raise or lower a model to the operator set of the settings.

    Raises ModelError if it cannot be raised, or if nodes are in the way of lowering it.

    >>> import onnx_ir as ir
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N] x) => (float[N] y) { y = Neg (x) }''')
    >>> from onnx_scatterx.engine.passes.settings import Settings
    >>> change_operator_set(Job(model, Settings.of(opset=17))), model.opset_imports[""]
    (True, 17)
    """
    wanted, before = job.settings.given["opset"], job.model.opset_imports.get("")
    if wanted is not None:
        changed = change_opset(job.model, wanted)
        job.lowered = Lowered(defined=changed.defined, other_kernels=changed.other_kernels)
    return job.model.opset_imports.get("") != before


def lower_operator_set(job: Job) -> bool:
    """Lower a model to the newest operator set of the target, and note if that is impossible.

    >>> import onnx_ir as ir
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N] x) => (float[N] y) { y = Neg (x) }''')
    >>> from onnx_scatterx.engine.passes.settings import Settings
    >>> lower_operator_set(Job(model, Settings.of(target="standard, max_opset = 17")))
    True
    >>> model.opset_imports[""]
    17
    """
    target = job.settings.target
    for version in target.opsets():
        there = newer_opset(job.model, version)
        if there is None:
            break
        needed = version == target.max_opset  # the last bits of definitions may differ
        changed = write_for_opset(job.model, version, exact=not needed)
        rounded = {
            "defined": (*job.lowered.defined, *changed.defined),
            "other_kernels": (*job.lowered.other_kernels, *changed.other_kernels),
        }
        if not changed.obstacles:
            job.lowered = Lowered(None, version, **rounded)
            return True
        job.lowered = Lowered(there if needed else None, None, **rounded)
    return False


def lower_rewritten(job: Job) -> bool:
    """Lower a rewritten model to the newest operator set of the target, if it was not lowered yet.

    Scatters that the older set lacks may be gone. The fallbacks of new ScatterX nodes are written
    for the operator set of the model, which stays if there are any.

    >>> import onnx_ir as ir
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N] x) => (float[N] y) { y = Neg (x) }''')
    >>> from onnx_scatterx.engine.passes.settings import Settings
    >>> job = Job(model, Settings.of(target="standard, max_opset = 17"), modified=True)
    >>> lower_rewritten(job), lower_rewritten(job)
    (True, False)
    """
    if not job.modified or job.lowered.opset_lowered is not None:
        return False
    graphs: list[ir.Graph | ir.Function] = [job.model.graph, *job.model.functions.values()]
    if any(True for graph in graphs for _ in new_nodes(graph)):
        return False
    lowered = lower_operator_set(job)
    if lowered:
        job.forget_names()
        job.analyses.read_again()
    return lowered


def drop_default_reductions(job: Job) -> bool:
    """Remove a default attribute from ScatterND and ScatterElements."""
    if job.obstacle is not None:
        return False
    modified = False
    for node in all_nodes(job.model):
        if is_scatter(node) and written(node, "reduction", "") == "none":
            del node.attributes["reduction"]
            modified = True
    return modified


def attach_fallbacks(job: Job) -> bool:
    """Add the functions that ScatterX nodes call in runtimes without the library."""
    return add_fallbacks(job.model)


_MOVES = RESHAPES.union(MERGES)
_MOST = 64  # values that are looked at behind one
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
    if job.obstacle is not None or not any(map(_may_have_forms, all_nodes(job.model))):
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


def _may_have_forms(node: ir.Node) -> bool:
    """Return whether an operator has other forms, and the node can run."""
    plain = node.domain == "" and len(node.outputs) == 1
    if not plain or node.op_type not in HAVE_FORMS or not onnx.defs.has(node.op_type):
        return False
    needed = onnx.defs.get_schema(node.op_type).min_input
    given = list(node.inputs)
    complete = len(given) >= needed and None not in given[:needed]
    return complete and not any(a.is_ref() for a in node.attributes.values())


def _in_graph(graph: ir.Graph, known: GraphValues, writer: Writer) -> bool:
    """Write other forms in one graph; return whether any was written."""
    modified, scope = False, known.scope
    asks = writer.target.onnxruntime and has_quantizers(graph)
    for node in list(graph):
        if not _may_have_forms(node) or node.graph is None:
            continue
        if asks and obstacle(node, known) is not None:
            continue
        (value,) = node.outputs

        def may(trial: DryRun, old: ir.Value = value) -> bool:
            return not asks or objection(old, trial, known) is None

        dtype, made = scope.of(value).dtype, len(writer.graph.made)
        with writer.graph.at(node, value.name):
            try:
                merges = _ends(value, scope, writer.target.max_rank)
                result = instead_of(writer, node, dtype, may=may, merges=merges)
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


def _ends(value: ir.Value, scope: Scope, most: int | None) -> bool:
    """Return whether a tensor is not needed with all its dims, if those that read it are moves."""
    stack, seen = [value], {value}
    while stack and most is not None:
        here = stack.pop()
        rank = scope.of(here).rank
        if rank is None or rank > most:
            nodes = [use.node for use in here.uses()]
            moves = all(n.domain == "" and n.op_type in _MOVES for n in nodes)
            if not moves or here.is_graph_output() or len(seen) > _MOST:
                return False
            near = dict.fromkeys(v for n in nodes for v in n.outputs if v not in seen)
            stack += near
            seen.update(near)
    return most is not None

"""Nodes of the model that a target with limits does not take are written in another form.

    before   Slice(x, steps = [2])               for a compiler that takes no Slice with a step
    after    Slice(Reshape(x, [n, 2, m]), ...)

    before   Reshape(Transpose(Reshape(x)))      with 6 dims between, for one that takes 5
    after    Reshape(Transpose(Reshape(x)))      with axes merged that move together

If a promise makes a result constant, what follows from this constant is folded, and the forms are
written once more.

The forms are those that are used for scatters (``engine.write.forms``): they compute the same bits.
For any target, a NonZero that lists all positions is written in fewer nodes (``listed_positions``).
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope, size_makers
from onnx_scatterx.engine.budget import LimitError, budget
from onnx_scatterx.engine.mosaic import Constants
from onnx_scatterx.engine.passes import Job, Pass
from onnx_scatterx.engine.quantizers import GraphValues, has_quantizers, objection, reason_to_keep
from onnx_scatterx.engine.write import (
    OF_SUMS,
    Fragment,
    Writer,
    has_other_forms,
    instead_of,
    only_moves,
)
from onnx_scatterx.fitting import fold_sizes as folding
from onnx_scatterx.graphs import remove_dead, replace_uses

_FLOATS = {t for t in ir.DataType if t.is_floating_point()}
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
    if job.obstacle is not None or not any(map(has_other_forms, job.held.nodes)):
        return False
    modified, zeros, defined = _list_positions(job), list[str](), list[str]()
    if not (target.is_limited or target.static_only) or _writes_nothing(job):
        return modified
    written, promised = _in_graphs(job, zeros, defined)
    if promised:  # it is a constant of the model now, so more may be known
        job.analyses.read_again()
        fold = folding.FoldSizes
        if fold.applies(job.settings) and job.is_chosen(fold.name):
            fold.run(job)
        _in_graphs(job, zeros, defined)
    modified |= written
    there = job.lowered
    job.lowered = there._replace(
        zeros=tuple(dict.fromkeys((*there.zeros, *zeros))),
        defined=tuple(dict.fromkeys((*there.defined, *defined))),
    )
    return modified


def _in_graphs(job: Job, zeros: list[str], defined: list[str]) -> tuple[bool, bool]:
    """Write other forms in all graphs; return whether any was written, and whether a constant was.

    What has no form that the target runs itself may have one that it runs on its host. The second
    result is False without promises: then all that follows from constants was known before.
    """
    own, modified, promised = job.settings.target, False, False
    for target in dict.fromkeys((own, own.with_host())):
        try:
            with budget().share(1 / 4):
                known = job.analyses.promised.current()
                for graph, scope in known.own_graphs():
                    as_nodes = job.has_constant_nodes(scope)
                    writer = Writer(graph, scope, job.names, constant_nodes=as_nodes, target=target)
                    writer.last_bits = job.settings.options["last_bits"]
                    counted, values = _counts(graph, scope), GraphValues(scope, Constants(scope))
                    written = list[ir.Value]()
                    try:
                        _in_graph(graph, values, writer, written, zeros, defined)
                    finally:  # forms that were written before a limit are in the model
                        modified |= bool(written)
                        promised |= bool(job.assumed) and any(map(_is_constant, written))
                        job.analyses.note(writer.graph.made)
                    if any(node.graph is None for node in counted):
                        job.analyses.read_again()  # what they counted is now a size of the model
        except LimitError:
            break  # the rest is kept
    return modified, promised


def _is_constant(value: ir.Value) -> bool:
    maker = value.producer()
    return maker is None or maker.op_type == "Constant"


def _list_positions(job: Job) -> bool:
    """Write what a NonZero lists without it, where that takes fewer nodes."""
    if not job.held.has("NonZero"):
        return False
    from onnx_scatterx.fitting.listed_positions import list_positions

    return list_positions(job)


def _writes_nothing(job: Job) -> bool:
    """Return whether no form could be written if all dims were trusted, before more is read."""
    most = job.analyses.at_most
    if most is None:
        return False
    target, names = job.settings.target, job.names
    try:
        with budget().share(1 / 4):
            for graph, scope in most.current().own_graphs():
                as_nodes = job.has_constant_nodes(scope)
                writer = Writer(graph, scope, names, constant_nodes=as_nodes, target=target)
                writer.last_bits = job.settings.options["last_bits"]
                if any(_forms_in(graph, GraphValues(scope, Constants(scope)), writer)):
                    return False
    except LimitError:
        return False
    return True


WriteOtherForms = Pass(write_other_forms)


def _counts(graph: ir.Graph, scope: Scope) -> list[ir.Node]:
    """Return the nodes that find a number of elements that only a promise tells."""
    found = (node for node in graph if node.op_type == "NonZero" and node.domain == "")
    return [node for node in found if scope.of(node.inputs[0]).chosen is not None]


def _in_graph(
    graph: ir.Graph,
    known: GraphValues,
    writer: Writer,
    written: list[ir.Value],
    zeros: list[str],
    defined: list[str],
) -> None:
    """Write other forms in one graph, until all are written or a limit is reached.

    ``written`` gets their results, ``zeros`` the names of Wheres of floats that become other
    operators, and ``defined`` those of nodes that are written as ONNX defines them, so that last
    bits may differ.
    """
    scope = known.scope
    for node, nodes in _forms_in(graph, known, writer):
        (value,) = node.outputs
        committed = writer.graph.commit(nodes)
        dtype = scope.of(value).dtype
        made = {maker.op_type for maker in committed.nodes}
        if node.op_type == "Where" and "Where" not in made and dtype in _FLOATS:
            zeros.append(node.name or value.name or "?")
        if _rounds_otherwise(node, made, dtype):
            defined.append(node.name or value.name or "?")
        result = writer.graph.take_name(value, committed, dtype)
        written.append(result)
        replace_uses(value, result)
        remove_dead([node])


def _rounds_otherwise(node: ir.Node, made: set[str], dtype: ir.DataType | None) -> bool:
    """Return whether sums of floats are now added in another order."""
    if node.op_type != "Einsum":
        return node.op_type == "Gemm" or (node.op_type in OF_SUMS and node.op_type not in made)
    moves = only_moves(node.attributes["equation"].as_string())
    return dtype in _FLOATS and "Einsum" not in made and not moves


def _forms_in(
    graph: ir.Graph, known: GraphValues, writer: Writer
) -> Iterator[tuple[ir.Node, Fragment]]:
    """Yield the nodes of a graph that are written in another form, each with its form.

    While a form is looked at, the writer writes in front of its node.
    """
    scope, refused = known.scope, set[ir.Value]()
    asks = writer.target.onnxruntime and has_quantizers(graph)
    fixed = size_makers(graph, scope)
    for node in list(graph):
        if not has_other_forms(node) or node.graph is None or node in fixed:
            continue
        if asks and reason_to_keep(node, known) is not None:
            continue
        (value,) = node.outputs

        def may(nodes: Fragment, old: ir.Value = value) -> bool:
            return not asks or objection(old, nodes, known) is None

        with writer.graph.at(node, value.name):
            try:
                nodes = instead_of(writer, node, scope, may=may, refused=refused)
            except _CANNOT:
                nodes = None
            if nodes is not None:
                yield node, nodes

"""Nodes that ONNX Runtime would make one node of are kept apart, if they were apart before.

    before   d = Div(1, b); y = Mul(d, c)
    after    d = Div(1, b); y = Mul(Neg(Neg(d)), c)

    before   y = Add(x, 0.0), or y = Sub(x, -0.0)
    after    y = Sum(x, 0.0)

    before   y = Expand(x, [1, 0])
    after    y = Slice(x, starts=[0], ends=[0], axes=[1])

Under its default options ONNX Runtime computes other integers for such nodes (the table is in
runtime_fusions.py). Nodes that it rewrites in the original, too, are left as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import onnx_ir as ir

from onnx_scatterx.engine.budget import own_budget, within_limits
from onnx_scatterx.engine.passes import Job, Kind, Pass
from onnx_scatterx.engine.plan import GraphContext
from onnx_scatterx.engine.write import Writer
from onnx_scatterx.fitting.runtime_fusions import FIRST, Fusion, Rewrite, fusions
from onnx_scatterx.graphs import constant, remove_dead, replace_uses
from onnx_scatterx.text import Refusal


def keep_apart(job: Job) -> bool:
    """Keep nodes apart that ONNX Runtime would rewrite, and did not rewrite in the original.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (int64[1] b, int64[1] c) => (int64[1] y) <int64[1] one = {1}> {
    ...         d = Div (one, b)
    ...         y = Mul (d, c) }''')
    >>> keep_apart(Job(model, fusions=frozenset()))
    True
    >>> [node.op_type for node in model.graph]
    ['Div', 'Neg', 'Neg', 'Mul']
    """
    if job.fusions is None:
        return False
    found = [f for f in fusions(job.held) if f.numbered not in job.fusions]
    made: list[ir.Node] = []
    for context in job.contexts() if found else ():
        writer = context.writer()
        for each in found:
            if each.second.graph is context.graph and not _is_harmless(each, context):
                with own_budget():  # it is one node or two
                    _separate(each, writer, context)
        made += writer.graph.made
    job.analyses.note(made)
    return bool(made)


KeepApart = Pass(keep_apart, Kind.GUARD, looks_for=FIRST)


def _is_harmless(found: Fusion, context: GraphContext) -> bool:
    """Return whether no result changes: no bound of a Range counts from the end.

    An Expand is not dropped if it adds axes. A Gather of strings gives other ones than a Slice:
    ONNX Runtime 1.32 copies one string of each row.
    """
    if found.rewrite is Rewrite.EXPAND:
        data, dims = found.second.inputs[:2]
        array = None if dims is None else context.known.array(dims)
        rank = None if data is None else context.scope.of(data).rank
        return array is None or rank is None or rank < array.size
    if found.rewrite is not Rewrite.GATHER_TO_SLICE:
        return False
    start, limit, delta = found.first.inputs
    data = found.second.inputs[0]
    if data is None or context.scope.of(data).dtype in (None, ir.DataType.STRING):
        return False

    def is_at_least(value: ir.Value | None, least: int) -> bool:
        number = None if value is None else context.scope.of(value).scalar
        return number is not None and context.scope.facts.is_nonnegative(number - least)

    bounds = ((start, 0), (limit, 0), (delta, 1))
    return within_limits(partial(all, (is_at_least(v, n) for v, n in bounds))) is True


def _summands(node: ir.Node, writer: Writer) -> Sequence[ir.Value | None]:
    """Return what is added by an Add, or by a Sub of -0.0: ``x - -0.0`` is ``x + 0.0``."""
    if node.op_type == "Add":
        return node.inputs
    zero = constant(node.inputs[1], writer.overridable)
    assert zero is not None
    return [node.inputs[0], writer.constant(-zero.numpy(), zero.dtype)]


def _separate(found: Fusion, writer: Writer, context: GraphContext) -> None:
    """Separate two nodes, if the target has the operators for it."""
    node, dtype = found.second, context.scope.of(found.first.outputs[0]).dtype
    with writer.graph.at(node, node.outputs[0].name):
        value = node.inputs[found.place]
        assert value is not None
        if found.rewrite is Rewrite.NOOP:
            made = writer.fragment_of(lambda: writer.node("Sum", _summands(node, writer), dtype))
        elif found.rewrite is Rewrite.EXPAND:
            made = writer.fragment_of(lambda: _cut(node, value, writer, context))
        else:
            neg = partial(writer.node, "Neg", dtype=dtype)
            made = writer.fragment_of(lambda: neg([neg([value])]))
        if isinstance(made, Refusal):
            return
        committed = writer.graph.commit(made)
        if found.rewrite not in (Rewrite.NOOP, Rewrite.EXPAND):
            node.replace_input_with(found.place, committed.result)
            return
        result = writer.graph.take_name(node.outputs[0], committed, dtype)
    replace_uses(node.outputs[0], result)
    remove_dead([node])


def _cut(node: ir.Node, data: ir.Value, writer: Writer, context: GraphContext) -> ir.Value:
    """Write a Slice of the axes that an Expand makes empty, before it if it repeats others."""
    known, value = context.scope.of(data), node.inputs[1]
    array = None if value is None else context.known.array(value)
    assert array is not None
    assert known.rank is not None
    dtype = known.dtype or ir.DataType.FLOAT
    axes = [known.rank - array.size + i for i, n in enumerate(array.tolist()) if n == 0]
    zeros = [0] * len(axes)
    result = writer.slice(data, dtype, axes, zeros, zeros, [1] * len(axes))
    return result if (array <= 1).all() else writer.node("Expand", [result, value], known.dtype)

"""Functions that take or return sequences are inlined, if one that takes a sequence has a scatter.

    before   y = put (x, SequenceConstruct (i), u)
             put (x, s, u) => (z) { z = ScatterND (x, SequenceAt (s, 0), u) }
    after    y = ScatterND (x, SequenceAt (SequenceConstruct (i), 0), u)

Exporters write an indexed assignment so: one function for any number of indices, which counts them,
and has Ifs on its attributes. What is known of a sequence is the length, and each of its tensors.
It differs from caller to caller, and a body may use only what all callers agree on.

A value is a sequence if an operator makes it, or reads it as one, or if it is passed on: by an
Identity, an If, a Loop or a function.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.engine.lift import is_gather, is_scatter
from onnx_scatterx.engine.passes.function_calls import inline_functions
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.step import Pass
from onnx_scatterx.graphs import (
    all_nodes,
    called_function,
    callers_first,
    graphs_of,
    is_operator,
    reached,
)
from onnx_scatterx.operators import described


def inline_sequence_functions(job: Job) -> bool:
    """Inline the functions with sequences, if one that takes a sequence has a scatter.

    >>> model = ir.from_onnx_text('''<ir_version: 10, opset_import: ["" : 18, "local" : 1]>
    ...     g (float[4] x, int64[2, 1] i, float[2] u) => (float[4] y) {
    ...         s = SequenceConstruct (i)
    ...         y = local.put (x, s, u) }
    ...     <domain: "local", opset_import: ["" : 18]> put (x, s, u) => (y) {
    ...         first = Constant <value_int = 0> ()
    ...         i = SequenceAt (s, first)
    ...         y = ScatterND (x, i, u) }''')
    >>> inline_sequence_functions(Job(model))
    True
    >>> [node.op_type for node in model.graph]
    ['SequenceConstruct', 'Constant', 'SequenceAt', 'ScatterND']
    """
    model, reads = job.model, job.settings.reads
    found: dict[ir.OperatorIdentifier, set[ir.Value]] = {}
    writes: set[ir.OperatorIdentifier] = set()
    is_needed = False
    for function in callers_first(model)[::-1]:
        found[function.identifier()] = sequences = _sequences(model, function, found)
        nodes = all_nodes(function)
        called = {c.identifier() for c in (called_function(model, n) for n in nodes) if c}
        if called & writes or any(is_scatter(n) or is_gather(n, reads) for n in nodes):
            writes.add(function.identifier())
            is_needed |= not sequences.isdisjoint(function.inputs)
    if not is_needed:
        return False

    def has_sequences(function: ir.Function) -> bool:
        return not found[function.identifier()].isdisjoint([*function.inputs, *function.outputs])

    modified = inline_functions(job, has_sequences)
    if modified:
        job.analyses.forget()
    return modified


InlineSequenceFunctions = Pass(inline_sequence_functions)


def _sequences(
    model: ir.Model, function: ir.Function, found: dict[ir.OperatorIdentifier, set[ir.Value]]
) -> set[ir.Value]:
    """Return the values of a function that are sequences; ``found`` has those of its callees."""
    known: list[ir.Value | None] = []
    beside: dict[ir.Value, list[ir.Value]] = defaultdict(list)
    for node in all_nodes(function):
        callee = called_function(model, node)
        if callee is not None:
            own = found.get(callee.identifier(), set())
            pairs = [*_paired(callee.inputs, node.inputs), *_paired(callee.outputs, node.outputs)]
            known += [value for formal, value in pairs if formal in own]
        if described(node).takes_sequence:
            known += node.inputs[:1]
        if described(node).gives_sequence:
            known += node.outputs
        for one, other in _passed_on(node):
            if one is not None and other is not None:
                beside[one].append(other)
                beside[other].append(one)
    return set(reached([v for v in known if v is not None], lambda v: beside.get(v, ())))


_Pair: TypeAlias = "tuple[ir.Value | None, ir.Value | None]"


def _paired(ones: Iterable[ir.Value | None], others: Iterable[ir.Value | None]) -> Iterator[_Pair]:
    return zip(ones, others, strict=False)  # a call may leave the last ones out


def _passed_on(node: ir.Node) -> Iterator[_Pair]:
    """Yield pairs of values that are the same, or that have the same type."""
    if is_operator(node, ("Identity",)):
        yield from _paired(node.inputs, node.outputs)
    elif is_operator(node, ("If",)):
        for branch in graphs_of(node):
            yield from _paired(branch.outputs, node.outputs)
    elif is_operator(node, ("Loop",)):
        for body in graphs_of(node):
            for others in (body.inputs[2:], body.outputs[1:], node.outputs):
                yield from _paired(node.inputs[2:], others)

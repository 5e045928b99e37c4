"""Checks whether one buffer may be bound as a graph input and as a graph output, to save a copy.

If data and output of a scatter are the same memory, the scatter does not copy the data. ONNX
Runtime does not know that the memory is the same. So another reader of the cache may run before or
after the update, unless a path of edges from the reader to the update fixes the order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from onnx_scatterx.engine.write import caches_of, is_native
from onnx_scatterx.files import AnyModel, load
from onnx_scatterx.graphs import makers, reached, read_by
from onnx_scatterx.operators import described


@dataclass(frozen=True)
class Finding:
    """A reader of a cache that may run before or after the update.

    ``reader`` is the name of a node, or of its output, or a graph output.
    """

    cache: str
    output: str
    reader: str

    def __str__(self) -> str:
        return (
            f"do not bind {self.cache} and {self.output} to one buffer: {self.reader} reads "
            f"{self.cache} too, and may come after the update"
        )


def cache_pairs(model: AnyModel) -> dict[str, str]:
    """Return the graph inputs that scatters update, each with the graph output of the last update.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     step (float[8, 2] cache, int64[1, 1] i, float[1, 2] y) => (float[8, 2] next)
    ...     { next = ScatterND(cache, i, y) }''')
    >>> cache_pairs(model)
    {'cache': 'next'}
    """
    return caches_of(load(model).graph)


def check_bound_cache(
    model: AnyModel, pairs: Mapping[str, str] | None = None
) -> tuple[Finding, ...]:
    """Return the reasons not to bind each cache and the updated cache to one buffer.

    ``pairs`` has the graph input and output of each cache, by default those of ``cache_pairs``. If
    all may be bound, the result is empty. Raises ValueError if the model lacks an input or output.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     step (float[8, 2] cache, int64[1, 1] i, float[1, 2] y) => (float[8, 2] next,
    ...         float[8, 2] old) { next = ScatterND(cache, i, y)  old = Neg(cache) }''')
    >>> [finding.reader for finding in check_bound_cache(model)]
    ['old']
    """
    graph = load(model).graph
    inputs = {v.name: v for v in graph.inputs}
    outputs = {v.name: v for v in graph.outputs}
    findings = []
    for cache, output in (cache_pairs(model) if pairs is None else pairs).items():
        if cache not in inputs or output not in outputs:
            raise ValueError(f"the model has no input {cache!r} or no output {output!r}")
        update = outputs[output].producer()
        before = {*reached(makers([outputs[output]]), lambda node: makers(read_by(node)))}
        late = [n for n in _readers(graph, inputs[cache]) if n not in before]
        if update is not None and not is_native(update) and inputs[cache] in update.inputs[1:]:
            late.append(update)  # before ScatterX overwrites elements, it copies them
        findings += [Finding(cache, output, _name(n)) for n in late]
    return tuple(findings)


def _readers(graph: ir.Graph, cache: ir.Value) -> Iterable[ir.Node | ir.Value]:
    """Yield the nodes and graph outputs that read a value, or values that share its memory."""
    shared = {cache}
    if cache.is_graph_output():
        yield cache
    for node in graph:
        if shared.isdisjoint(read_by(node)):
            continue
        yield node
        if described(node).keeps_order:
            shared.update(node.outputs)
            yield from (v for v in node.outputs if v.is_graph_output())


def _name(reader: ir.Node | ir.Value) -> str:
    if isinstance(reader, ir.Value):
        return f"the graph output {reader.name}"
    return reader.name or reader.outputs[0].name or reader.op_type

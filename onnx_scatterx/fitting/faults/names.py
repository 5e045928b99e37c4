"""Names of sizes that a file declares inside, for a compiler that believes them.

    forget_names    a: float[u0, 4], b: float[u1, 4]   ->   a: float[?, 4], b: float[?, 4]

if two names are the same size. Then all names are forgotten that no input declares: an exporter
that named one size twice did so with others, of which it is not known. The outputs of the model
keep theirs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.engine.terms import Term
from onnx_scatterx.fitting.faults.candidate import Candidate


class _Named(NamedTuple):
    """A dim that has a name."""

    value: ir.Value
    axis: int
    name: str


def forget_names(at: Candidate) -> bool:
    """Forget the names in the graph of which a node is the first, if they contradict it."""
    graph = at.node.graph
    if not isinstance(graph, ir.Graph) or graph[0] is not at.node:
        return False
    names = defaultdict[Term, set[str]](set)
    inner = [v for node in graph for v in node.outputs if not v.is_graph_output()]
    kept = {named.name for named in _named(graph.inputs)}
    for named in _named(inner):
        known = at.scope.of(named.value).shape
        if known is not None and named.axis < len(known) and named.name not in kept:
            names[known[named.axis]].add(named.name)
    if all(len(same) < 2 for same in names.values()):
        return False
    modified = False
    for named in [*_named(inner)]:
        if named.name not in kept and named.value.shape is not None:
            dims = list(named.value.shape)
            dims[named.axis] = ir.SymbolicDim(None)
            named.value.shape = ir.Shape(dims)
            modified = True
    return modified


def _named(values: Iterable[ir.Value]) -> Iterator[_Named]:
    for value in values:
        for axis, dim in enumerate(value.shape or ()):
            if isinstance(dim, ir.SymbolicDim) and dim.value:
                yield _Named(value, axis, dim.value)

"""The parts of a model that are tried, the smallest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import onnx_ir as ir

from onnx_scatterx.doors.extraction.part import (
    Declared,
    Neighbourhood,
    owners_in,
    part_of,
    region_of,
    top_level,
)
from onnx_scatterx.doors.extraction.private import weight_of
from onnx_scatterx.optimizer.analysis.domain.call import Knowledge
from onnx_scatterx.optimizer.analysis.domain.tensor import DeclaredDim, TensorValue
from onnx_scatterx.optimizer.lift.node_names import names_of
from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.optimizer.symbolic.symbol_ids import fresh_symbols
from onnx_scatterx.optimizer.symbolic.terms import Term
from onnx_scatterx.optimizer.transforms.job import Job

_DISTANCES = (0, 1, 2, 4, 8, 16, 64)


Part = tuple[ir.Model, tuple[str, ...]]
"""A part, and its private attributes."""


def parts_of(model: ir.Model, node: str, settings: Settings) -> Iterator[tuple[Part, bool, bool]]:
    """Yield parts with the node, the smallest first, and whether they keep attributes and weights.

    All parts are tried without private attributes first, then with these, and then with weights.
    """
    graph = model.graph
    owners = owners_in(graph)
    called = [n for n, names in names_of(model).items() if names.name == node]
    found = [top_level(n, graph, owners) for n in called]
    roots = [n for n in found if n is not None]
    knowledge, known = _known(model, settings)
    everything = Neighbourhood(frozenset(graph), frozenset())
    cutting: list[Callable[[ir.Value], bool]] = [
        lambda v: _may_be_cut(knowledge, v, known[v]),
        lambda v: _may_be_cut(knowledge, v, known[v], symbols=False),
        lambda v: _may_be_cut(knowledge, v, known[v]) and weight_of(v),
    ]
    regions = [
        region_of(graph, roots, distance, may_cut)
        for distance in (_DISTANCES if roots and len(roots) == len(called) else ())
        for may_cut in cutting
    ]
    has_private = False
    for attributes, weights in ((False, False), (True, False), (True, True)):
        if attributes and not weights and not has_private:
            continue
        for region in dict.fromkeys([*regions, everything]):
            part = part_of(model, region, known, weights=weights, attributes=attributes)
            if part is not None:
                has_private |= bool(part[1])
                yield part, attributes, weights


@fresh_symbols()
def _known(
    model: ir.Model, settings: Settings
) -> tuple[Knowledge, dict[ir.Value, Declared | None]]:
    """Return the knowledge about a model, and the types and shapes that can be declared."""
    knowledge = Job(model, settings).analysis.knowledge
    values = [value for node in model.graph for value in node.outputs]
    return knowledge, {value: _declared(knowledge.values.get(value), value) for value in values}


def _declared(known: TensorValue | None, value: ir.Value) -> Declared | None:
    dtype = value.dtype if known is None or known.dtype is None else known.dtype
    if known is None or known.shape is None or dtype is None:
        return None
    return dtype, tuple(map(_dim, known.shape))


def _may_be_cut(
    knowledge: Knowledge, value: ir.Value, declared: Declared | None, *, symbols: bool = True
) -> bool:
    """Return whether an input can replace a value: nothing is known of it but its shape.

    A size is a number, or one that an input of the model declares.
    """
    if declared is None or value.name is None or knowledge.values[value].index_map is not None:
        return False
    return all(isinstance(dim, int | str if symbols else int) for dim in declared[1])


def _dim(size: Term) -> int | str | None:
    if size.constant is not None:
        return size.constant
    (leaf, *more) = size.leaves()
    is_itself = not more and str(size) == leaf.name and leaf.origin == DeclaredDim(leaf.name)
    return leaf.name if is_itself else None

"""Makes the details that a page shows of each node: sentences, a map, pieces of graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onnx_scatterx.ir.wiring import Wiring
from onnx_scatterx.reports.builder import NodeRecord
from onnx_scatterx.reports.entries import Detail
from onnx_scatterx.reports.excerpts import Excerpts
from onnx_scatterx.reports.index_map import IndexMap, index_map
from onnx_scatterx.reports.sections import parts
from onnx_scatterx.symbolic.budget import within_limits

_SENTENCES, _LETTERS = 24, 400  # of each section, and of each sentence


def with_details(records: Sequence[NodeRecord], wiring: Wiring) -> tuple[NodeRecord, ...]:
    """Return records whose entries have their details; ``wiring`` is how the model was before."""
    excerpts = Excerpts(wiring)
    maps: dict[object, IndexMap | None] = {}
    found = []
    for record in records:
        before, after = excerpts.of(record.node)
        detail = Detail(
            _sections(record),
            _map(record, maps),
            before,
            after,
            excerpts.together(record.node),
        )
        found.append(replace(record, entry=replace(record.entry, detail=detail)))
    return tuple(found)


def _sections(record: NodeRecord) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found = within_limits(lambda: list(parts(record, theory=True))) or ()
    return tuple(
        (label, tuple(map(_short, sentences[:_SENTENCES])))
        for label, sentences in found
        if sentences and label != "assumed"  # which are the facts of the entry
    )


def _short(sentence: str) -> str:
    return sentence if len(sentence) <= _LETTERS else f"{sentence[:_LETTERS]} ..."


def _map(record: NodeRecord, known: dict[object, IndexMap | None]) -> IndexMap | None:
    canonical = record.canonical
    if canonical is None:
        return None
    access = canonical.access
    order = record.entry.axes
    if order is not None and len(order) != len(access.data_shape):
        order = None
    key = (access.index_exprs, access.shape, access.data_shape, access.nonnegative, order)
    if key not in known:
        known[key] = within_limits(lambda: index_map(canonical, order))
    return known[key]

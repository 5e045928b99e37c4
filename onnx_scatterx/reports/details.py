"""From the nodes of a model to what a page shows of each: sentences, a map, pieces of graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import onnx_ir as ir

from onnx_scatterx.ir.wiring import Wiring
from onnx_scatterx.lift.scatters import is_scatter
from onnx_scatterx.reports.builder import NodeRecord
from onnx_scatterx.reports.entries import Detail
from onnx_scatterx.reports.excerpts import Excerpts
from onnx_scatterx.reports.index_map import IndexMap, index_map
from onnx_scatterx.reports.sections import parts
from onnx_scatterx.symbolic.budget import LimitError

_SENTENCES, _LETTERS = 24, 400  # of each section, and of each sentence
_CHAIN = 64  # scatters between a Transpose and the one that undoes it
_DEPTH, _READERS = 6, 4  # of nodes that are looked at for that


def with_details(accounts: Sequence[NodeRecord], wiring: Wiring) -> tuple[NodeRecord, ...]:
    """Return accounts whose entries have their details; ``wiring`` is how the model was before."""
    excerpts = Excerpts(wiring)
    maps: dict[object, IndexMap | None] = {}
    found = []
    for account in accounts:
        before, after = excerpts.of(account.node)
        detail = Detail(
            _sections(account),
            _map(account, wiring, maps),
            before,
            after,
            excerpts.together(account.node) if before is not None else (),
        )
        found.append(replace(account, entry=replace(account.entry, detail=detail)))
    return tuple(found)


def _sections(account: NodeRecord) -> tuple[tuple[str, tuple[str, ...]], ...]:
    try:
        return tuple(
            (label, tuple(map(_short, sentences[:_SENTENCES])))
            for label, sentences in parts(account, theory=True)
            if sentences and label != "assumed"  # which are the facts of the entry
        )
    except LimitError:
        return ()


def _short(sentence: str) -> str:
    return sentence if len(sentence) <= _LETTERS else f"{sentence[:_LETTERS]} ..."


def _map(
    account: NodeRecord, wiring: Wiring, known: dict[object, IndexMap | None]
) -> IndexMap | None:
    canonical = account.canonical
    if canonical is None:
        return None
    access = canonical.access
    order = statement_axes(account.node, wiring) if account.node in wiring.nodes else None
    if order is not None and len(order) != len(access.data_shape):
        order = None
    key = (access.index_exprs, access.shape, access.data_shape, access.nonnegative, order)
    if key not in known:
        try:
            known[key] = index_map(canonical, order)
        except LimitError:
            known[key] = None
    return known[key]


def statement_axes(node: ir.Node, wiring: Wiring, depth: int = _DEPTH) -> tuple[int, ...] | None:
    """Return for each axis of the data which axis of the original statement it is.

    Exporters transpose the data of ``x[:, i] = u``, scatter rows, and transpose back. None where
    nothing is transposed and undone. A Transpose that undoes one for a scatter and makes another
    for the next one undoes the first, too.
    """
    value: ir.Value | None = wiring.nodes[node].reads[0] if is_scatter(node) else None
    for _ in range(_CHAIN):
        maker = None if value is None else wiring.makers.get(value)
        if maker is None:
            return None
        if maker.op_type == "Transpose":
            perm = _perm(maker)
            undone = _undone(wiring.nodes[node].makes[0], wiring, depth)
            return perm if perm is not None and perm in undone else None
        if maker.op_type != "Identity" and not is_scatter(maker):
            return None
        value = wiring.nodes[maker].reads[0]
    return None


def _undone(value: ir.Value, wiring: Wiring, depth: int) -> set[tuple[int, ...]]:
    """Return what the axes of a value are for those that read it: in a Transpose, or a scatter."""
    found: set[tuple[int, ...]] = set()
    for reader in wiring.readers.get(value, ())[:_READERS] if depth else ():
        if reader.op_type == "Transpose":
            perm = _perm(reader)
            if perm is None:
                continue
            axes = {
                tuple(range(len(perm))),
                *_undone(wiring.nodes[reader].makes[0], wiring, depth - 1),
            }
            found |= {tuple(there[perm.index(a)] for a in range(len(perm))) for there in axes}
        elif is_scatter(reader):
            here = statement_axes(reader, wiring, depth - 1)
            if here is not None:
                found.add(here)
    return found


def _perm(node: ir.Node) -> tuple[int, ...] | None:
    perm = node.attributes.get("perm")
    return None if perm is None or perm.is_ref() else tuple(perm.as_ints())

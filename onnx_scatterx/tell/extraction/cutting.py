"""`extract` finds the smallest part of a model that has the same report on one scatter.

A small part is made and inspected first. If its report on the scatter differs from that of the
whole model, a larger part is tried, up to all nodes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, Unpack, overload

import onnx
import onnx_ir as ir

from onnx_scatterx.engine.budget import own_budget
from onnx_scatterx.engine.passes import Job, Settings
from onnx_scatterx.engine.terms import fresh_symbols
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files import AnyModel, IrLike, MessageLike, save, to_proto
from onnx_scatterx.graphs import all_graphs, all_nodes
from onnx_scatterx.observer import Observer, Progress
from onnx_scatterx.options import Options
from onnx_scatterx.pipeline import command_budget
from onnx_scatterx.targets import STANDARD
from onnx_scatterx.tell.entries import Entry
from onnx_scatterx.tell.extraction.part import part_of
from onnx_scatterx.tell.extraction.private import weight_of
from onnx_scatterx.tell.extraction.region import (
    Neighbourhood,
    known_in,
    may_be_cut,
    region_of,
    roots_of,
)
from onnx_scatterx.tell.inquiry import Inquiry, ModelT

_DISTANCES = (0, 1, 2, 4, 8, 16, 64)


Candidate = tuple[ir.Model, tuple[str, ...]]
"""A part, and the names of its private attributes."""


def parts_of(
    model: ir.Model, node: str, settings: Settings
) -> Iterator[tuple[Candidate, bool, bool]]:
    """Yield parts with the node, and whether each has private attributes and weights.

    Parts of all sizes come first without private attributes, then with private attributes, and then
    also with weights. Small parts come before large ones.
    """
    graph = model.graph
    roots = roots_of(model, {node})
    with fresh_symbols(), own_budget(), command_budget(model, settings):
        known = known_in(model, Job(model, settings).analyses.full.knowledge)
    everything = Neighbourhood(frozenset(graph), frozenset())
    cutting: list[Callable[[ir.Value], bool]] = [
        partial(may_be_cut, known),
        partial(may_be_cut, known, symbols=False),
        lambda v: may_be_cut(known, v) and weight_of(v),
    ]
    regions = [
        region_of(graph, roots, distance, may_cut)
        for distance in (_DISTANCES if roots else ())
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


@overload
def extract(
    model: MessageLike,
    node: str,
    *,
    on_progress: Progress | None = ...,
    **options: Unpack[Options],
) -> Part[onnx.ModelProto]: ...


@overload
def extract(
    model: IrLike,
    node: str,
    *,
    on_progress: Progress | None = ...,
    **options: Unpack[Options],
) -> Part[ir.Model]: ...


def extract(
    model: AnyModel,
    node: str,
    *,
    on_progress: Progress | None = None,
    **options: Unpack[Options],
) -> Part[onnx.ModelProto] | Part[ir.Model]:
    """Cut out the part of a model that one scatter needs, with shapes and without weights.

    The report on the scatter is the same for the part and the whole model, with ``target`` and with
    the target ``standard``. Values that are cut off, and weights, become inputs of the same names.

    Args:
        model: as ``optimize`` takes it.
        node: the name of a scatter or a gather, or of its output if the node has no name.
        on_progress: is called with the progress, as by ``optimize``.
        **options: those of ``optimize``. ``fix`` does not change the sizes in the part.

    Raises:
        ScatterXError: the model contains no scatter or gather of that name; also as ``optimize``.

    Example:
        >>> import onnx.parser
        >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
        ...     row (float[4, 2] a, float[1, 2] y) => (float[4, 2] w)
        ...     <int64[1, 1] i = {1}> { x = Exp(a) v = Log(x) u = Sin(v)
        ...     z = ScatterND(u, i, y) s = Cos(z) w = Tan(s) }''')
        >>> print(part := extract(model, "z"))
        1 of 6 nodes, and the same report on z; no weights are in it
        >>> [value.name for value in part.model.graph.input]
        ['y', 'u']

    """
    observer, settings = Observer(on_progress), Settings.of(**options)
    with Inquiry.about(model, settings, observer) as asked:
        whole, opened = asked.model, asked.opened
        wanted = [_Wanted.of(asked, node)]
        if settings.target != STANDARD:
            wanted.append(_Wanted.of(asked.under(asked.settings.but(target=STANDARD)), node))
        for number, (cut, attributes, weights) in enumerate(parts_of(whole, node, settings), 1):
            part, private = cut
            observer.stage("trying a part", number)
            entry = _entry_in(part, node, wanted)
            if entry is not None:
                names = (*(_weights(part) if weights else ()), *(private if attributes else ()))
                removed = () if attributes else private
                made: Any = part if opened.message is None else to_proto(part)
                counts = len(part.graph), len(whole.graph)
                return Part(made, entry, *counts, names, opened.source.file, removed)
    raise ScatterXError(f"{node}: no part of the model has the same report; send all of it")


@dataclass(frozen=True)
class _Wanted:
    """The entry of a node in the report on the whole model, which a part must have, too."""

    settings: Settings
    entry: Entry

    @classmethod
    def of(cls, asked: Inquiry, node: str) -> _Wanted:
        with own_budget():  # the report is that of `inspect`
            first, *_ = asked.named(node)
        return cls(asked.settings, first.entry)

    def found_in(self, asked: Inquiry, node: str) -> Entry | None:
        """Return the entry of the node in a part; None if it differs by more than the graph's name.

        Raises ScatterXError if the part lacks an assumed input, or is not valid.
        """
        with own_budget():
            _, records = asked.under(self.settings).inspected
        entry = next((r.entry for r in records if r.entry.node == node), None)
        same = entry is not None and replace(entry, graph=self.entry.graph) == self.entry
        return entry if same else None


def _entry_in(part: ir.Model, node: str, wanted: Sequence[_Wanted]) -> Entry | None:
    """Return the entry of a node in a part; None if an entry that is wanted differs.

    The part is written as a message first, as it would be sent.
    """
    first: Entry | None = None
    try:
        with own_budget(), Inquiry.about(to_proto(part), wanted[0].settings) as asked:
            for each in wanted:
                entry = each.found_in(asked, node)
                if entry is None:
                    return None
                first = first or entry
    except ScatterXError:
        return None
    return first


def _weights(model: ir.Model) -> tuple[str, ...]:
    """Return the names of the weights in a model."""
    inside = [v for g in all_graphs(model) for v in g.initializers.values()]
    made = [v for n in all_nodes(model) for v in n.outputs]
    return tuple(v.name or "?" for v in (*inside, *made) if weight_of(v))


@dataclass(frozen=True)
class Part(Generic[ModelT]):
    """A part of a model that has the same report on one scatter as the whole model.

    Attributes:
        model: the part: an ``onnx_ir.Model`` if one was given, and otherwise a ModelProto.
        entry: the entry of the report on the scatter.
        nodes: how many nodes the part has.
        whole: how many nodes the model has.
        weights: the names of weights and private attributes that are in the part, because the
            report depends on one of them; usually empty.
        source_path: the file of the model, if it was read from a file.
        removed: the names of the private attributes that were removed from nodes of the part.

    """

    model: ModelT
    entry: Entry
    nodes: int
    whole: int
    weights: tuple[str, ...] = ()
    source_path: Path | None = None
    removed: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the model as plain data."""
        return {
            "node": self.entry.node,
            "nodes": {"part": self.nodes, "whole": self.whole},
            "weights": list(self.weights),
            "removed": list(self.removed),
            "scatter": self.entry.to_dict(),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the part to a file; on an error the file stays as it was.

        Raises:
            ScatterXError: the file cannot be written.

        """
        save(self.model, path, source_path=self.source_path)

    def __str__(self) -> str:
        """Return the size of the part, and whether it has weights, in words."""
        count = f"{self.nodes} of {self.whole} nodes, and the same report on {self.entry.node}"
        if not self.weights:
            gone = f"; removed attributes: {', '.join(self.removed)}" if self.removed else ""
            return f"{count}; no weights are in it{gone}"
        return f"{count}; it depends on weights that are in it: {', '.join(self.weights)}"

"""Extract: the part of a model that one scatter needs, for somebody without the model.

The content of the part is found by trial: a small part is made and inspected. If its report on the
scatter differs from that of the whole model, a larger part is tried, up to all nodes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, overload

import onnx
import onnx_ir as ir

from onnx_scatterx.analysis.domain.origins import DeclaredDim
from onnx_scatterx.analysis.domain.scope import Knowledge
from onnx_scatterx.analysis.domain.tensor import TensorValue
from onnx_scatterx.api import M, inspect_accounts, loaded_ir
from onnx_scatterx.assumptions.clauses import Assume
from onnx_scatterx.assumptions.fixed_sizes import Fix
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.extraction.neighbourhood import Region, owners_in, region_of, top_level
from onnx_scatterx.extraction.part import Declared, part_of
from onnx_scatterx.extraction.weights import weight_of
from onnx_scatterx.ir.clone import cloned
from onnx_scatterx.ir.data import to_proto
from onnx_scatterx.ir.given import AnyModel, Given, IrLike, MessageLike
from onnx_scatterx.ir.graphs import all_graphs
from onnx_scatterx.ir.save import save
from onnx_scatterx.lift.node_names import names_of
from onnx_scatterx.reports.entries import Entry
from onnx_scatterx.settings import Settings
from onnx_scatterx.symbolic.symbol_ids import fresh_symbols
from onnx_scatterx.symbolic.terms import Term
from onnx_scatterx.system.observer import NOBODY, Observer, Progress
from onnx_scatterx.targets.catalogue import AnyTarget
from onnx_scatterx.targets.target import STANDARD
from onnx_scatterx.text.nearest import did_you_mean
from onnx_scatterx.transforms.job import Job

_DISTANCES = (0, 1, 2, 4, 8, 16, 64)


@dataclass(frozen=True)
class Part(Generic[M]):
    """A part of a model, on which the report on one scatter is that on the whole model.

    Attributes:
        model: the part, of the kind that came in: a ModelProto (also from a path) or an
            ``onnx_ir.Model``.
        entry: the entry of the report on the scatter.
        nodes: how many nodes the part has.
        whole: how many nodes the model has.
        weights: the names of large constants that are in the part, because the report depends on
        one of them; usually empty.
        source_path: the file that the model came from, if it came from one.

    """

    model: M
    entry: Entry
    nodes: int
    whole: int
    weights: tuple[str, ...] = ()
    source_path: Path | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all but the model as plain data."""
        return {
            "node": self.entry.node,
            "nodes": {"part": self.nodes, "whole": self.whole},
            "weights": list(self.weights),
            "scatter": self.entry.to_dict(),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the part to a file, whole or not at all.

        Raises:
            ScatterXError: the file cannot be written.

        """
        save(self.model, path, source_path=self.source_path)

    def __str__(self) -> str:
        """Say how large it is, and whether it has weights."""
        count = f"{self.nodes} of {self.whole} nodes, and the same report on {self.entry.node}"
        if not self.weights:
            return f"{count}; no weights are in it"
        return f"{count}; it depends on weights that are in it: {', '.join(self.weights)}"


@overload
def extract(
    model: MessageLike,
    node: str,
    *,
    target: AnyTarget = ...,
    distrust_dims: bool = ...,
    reads: bool = ...,
    assume: Assume = ...,
    deterministic: bool = ...,
    fix: Fix = ...,
    progress: Progress | None = ...,
) -> Part[onnx.ModelProto]: ...


@overload
def extract(
    model: IrLike,
    node: str,
    *,
    target: AnyTarget = ...,
    distrust_dims: bool = ...,
    reads: bool = ...,
    assume: Assume = ...,
    deterministic: bool = ...,
    fix: Fix = ...,
    progress: Progress | None = ...,
) -> Part[ir.Model]: ...


def extract(
    model: AnyModel,
    node: str,
    *,
    target: AnyTarget = "scatterx",
    distrust_dims: bool = False,
    reads: bool = False,
    assume: Assume = None,
    deterministic: bool = False,
    fix: Fix = None,
    progress: Progress | None = None,
) -> Part[onnx.ModelProto] | Part[ir.Model]:
    """Cut out the part of a model that one scatter needs, with shapes and without weights.

    The report on the scatter is the same for the part as for the whole model, for ``target`` and
    for ``standard``. Values that are cut off, and weights, become inputs of the same names.

    Args:
        model: as ``optimize`` takes it.
        node: the name of a scatter or a gather, or that of its output if it has none.
        target: as for ``optimize``, and so are the next ones.
        distrust_dims: as for ``optimize``.
        reads: take gathers, too.
        assume: as for ``optimize``.
        deterministic: as for ``optimize``.
        fix: as for ``optimize``; the part is not fixed.
        progress: is called with the progress, as by ``optimize``.

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
    observer = Observer(progress)
    settings = Settings.of(target, None, distrust_dims, assume, deterministic, reads=reads, fix=fix)
    whole = loaded_ir(model, observer)
    wanted = [_Wanted.of(whole, node, settings, observer)]
    if settings.target != STANDARD:
        other = Settings.of(
            STANDARD, None, distrust_dims, assume, deterministic, reads=reads, fix=fix
        )
        wanted.append(_Wanted.of(whole, node, replace(other, reads=wanted[0].settings.reads)))
    for number, (part, weights) in enumerate(_parts(whole, node, settings), 1):
        observer.stage("trying a part", number)
        if all(w.is_met_by(part, node) for w in wanted):
            names = _weights(part) if weights else ()
            made: Any = part if isinstance(Given.of(model).model, ir.Model) else to_proto(part)
            counts = len(part.graph), len(whole.graph)
            return Part(made, wanted[0].entry, *counts, names, Given.of(model).source)
    raise ScatterXError(f"{node}: no part of the model has the same report; send all of it")


@dataclass(frozen=True)
class _Wanted:
    """The report on a part: the entry of the node under some settings."""

    settings: Settings
    entry: Entry

    @classmethod
    def of(
        cls, model: ir.Model, node: str, settings: Settings, observer: Observer = NOBODY
    ) -> _Wanted:
        report, _ = inspect_accounts(model, settings, observer)
        found = [entry for entry in report.entries if entry.node == node]
        if not found and not settings.reads:
            settings = replace(settings, reads=True)
            report, _ = inspect_accounts(model, settings, observer)
            found = [entry for entry in report.entries if entry.node == node]
        if not found:
            names = [entry.node for entry in report.entries]
            near = did_you_mean(node, names) or (
                f"; there is {', '.join(names[:5])}" if names else ": the model has none"
            )
            raise ScatterXError(f"no scatter or gather is called {node!r}{near}")
        return cls(settings, found[0])

    def is_met_by(self, part: ir.Model, node: str) -> bool:
        """Return whether the report on a part, read as it would be sent, is the same."""
        try:
            report, _ = inspect_accounts(to_proto(cloned(part)), self.settings)
        except ScatterXError:  # the part lacks an assumed input, or is not valid
            return False
        return next((e for e in report.entries if e.node == node), None) == self.entry


def _parts(model: ir.Model, node: str, settings: Settings) -> Iterator[tuple[ir.Model, bool]]:
    """Yield parts with the node, the smallest first, and whether they have weights."""
    graph = model.graph
    owners = owners_in(graph)
    called = [n for n, names in names_of(model).items() if names.name == node]
    found = [top_level(n, graph, owners) for n in called]
    roots = [n for n in found if n is not None]
    knowledge, known = _known(model, settings)
    everything = Region(frozenset(graph), frozenset())
    cutting: list[Callable[[ir.Value], bool]] = [
        lambda v: _may_be_cut(knowledge, v, known[v]),
        lambda v: _may_be_cut(knowledge, v, known[v], symbols=False),
        lambda v: _may_be_cut(knowledge, v, known[v]) and weight_of(v),
    ]
    seen: set[Region] = set()
    for weights in (False, True):
        for distance in _DISTANCES if roots and len(roots) == len(called) else ():
            for may_cut in cutting:
                region = region_of(graph, roots, distance, may_cut)
                if weights or region not in seen:
                    seen.add(region)
                    part = part_of(model, region, known, weights=weights)
                    if part is not None:
                        yield part, weights
        part = part_of(model, everything, known, weights=weights)
        if part is not None:
            yield part, weights


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
    is_itself = not more and str(size) == leaf.name and leaf.source == DeclaredDim(leaf.name)
    return leaf.name if is_itself else None


def _weights(model: ir.Model) -> tuple[str, ...]:
    """Return the names of the weights in a model."""
    inside = [v for g in all_graphs(model) for v in g.initializers.values()]
    made = [v for g in all_graphs(model) for n in g for v in n.outputs]
    return tuple(v.name or "?" for v in (*inside, *made) if weight_of(v))

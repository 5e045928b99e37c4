"""The mosaics of a graph's values: every operator that only moves elements is a move on mosaics."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope, TensorValue
from onnx_scatterx.engine.budget import LIMITS, PRICES, budget, of_scatter
from onnx_scatterx.engine.lift import (
    Gather,
    Scatter,
    is_gather,
    is_scatter,
    lift_gather,
    lift_scatter,
    unflattened,
)
from onnx_scatterx.engine.mosaic.constants import Constants
from onnx_scatterx.engine.mosaic.mosaic import Mosaic, coalesced
from onnx_scatterx.engine.mosaic.moves import MOVES, connected_moves, reshaped
from onnx_scatterx.engine.mosaic.scattered import is_noop_write, scattered
from onnx_scatterx.graphs import made_by
from onnx_scatterx.text import Detail, Reason, Refusal, RefusedError, attempt, granted

_FINE = 6  # the weight of a mosaic up to which a chain of writes is not cut


@dataclass(frozen=True)
class Lifted:
    """A scatter with its canonical form, or with the reason why it has no mosaic.

    ``unflattened`` is the same scatter, whose updates are the tensor before it was flattened.
    """

    node: ir.Node
    scatter: Scatter | None
    refusal: Refusal | None
    unflattened: Scatter | None = None

    @property
    def interpretations(self) -> tuple[Scatter, ...]:
        """The known canonical forms, the most informative first."""
        return tuple(s for s in (self.unflattened, self.scatter) if s is not None)


class Provenance:
    """Mosaics of the values of one graph; values from outside are sources of their own.

    ``_written`` decides whether a scatter is seen through.

    ``scatters`` has an entry for each scatter of the graph, ``gathers`` for each node that reads.
    ``absorbed[value]`` are the scatters, and the gathers of ``gathers_to_remove``, that become dead
    if the value is written from its mosaic. The outputs of scatters in ``opaque`` are sources; for
    those in ``split_before`` their data are, and their updates too if the number there is 2. A
    chain of writes is also cut if its mosaic becomes so fine that two parts take fewer nodes. For
    those in ``unanswered``, the budget of a question was spent. If ``given_up``, no value is
    analysed. Unless ``whole``, only values that are connected with scatters are analysed: any other
    value is its own source.
    """

    def __init__(
        self,
        graph: ir.Graph,
        scope: Scope,
        opaque: Mapping[ir.Node, Refusal] | None = None,
        gathers_to_remove: Collection[ir.Node] = (),
        *,
        constants: Constants | None = None,
        split_before: Mapping[ir.Node, int] | None = None,
        whole: bool = False,
        given_up: Refusal | None = None,
    ) -> None:
        self.opaque = opaque or {}
        self.split_before = split_before or {}
        self.gathers_to_remove = gathers_to_remove
        self.graph = graph
        self.scope = scope
        self.facts = scope.facts
        self.constants = Constants(scope) if constants is None else constants
        self.scatters: dict[ir.Node, Lifted] = {}
        self.gathers: dict[ir.Node, Gather | Refusal] = {}
        self.unmoved: dict[ir.Node, Refusal] = {}
        self.unanswered: set[ir.Node] = set()
        self.absorbed: dict[ir.Value, frozenset[ir.Node]] = {}
        self._described: dict[ir.Value, TensorValue] = {}
        self._mosaics: dict[ir.Value, Mosaic | None] = {}
        if given_up is not None:
            scatters = filter(is_scatter, graph)
            self.scatters = {node: Lifted(node, None, given_up) for node in scatters}
            return
        reached = set(graph) if whole else connected_moves(graph, MOVES)
        for node in graph:
            if is_scatter(node):
                self._within(node, self._scatter)
            elif node.domain == "" and node.op_type in MOVES and node in reached:
                self._within(node, self._move)

    def _within(self, node: ir.Node, compute: Callable[[ir.Node], None]) -> None:
        """Do the work for a node within its limit; if it is reached, the outputs are sources."""
        why = of_scatter(partial(compute, node), PRICES.move + len(node.inputs))
        if why is not None and is_scatter(node):
            self.scatters[node] = Lifted(node, None, why)
        elif why is not None:
            self.unmoved[node] = why

    def with_limit(self, node: ir.Node, why: Refusal) -> Refusal:
        """Name the limit of a question in a refusal, if a question about the scatter reached it."""
        if node not in self.unanswered:
            return why
        detail = Detail("{} steps; without the answer, {}", LIMITS.question_steps, why)
        return Refusal(Reason.QUESTION_LIMIT, detail)

    def beyond_budget(self) -> dict[ir.Node, Refusal]:
        """Return the scatters that were not analysed since the budget of the model was spent."""
        refusals = {n: lifted.refusal for n, lifted in self.scatters.items() if lifted.refusal}
        return {n: why for n, why in refusals.items() if why.reason is Reason.MODEL_LIMIT}

    def is_chained(self, node: ir.Node) -> bool:
        """Return whether a scatter is handled together with earlier writes to what it reads."""
        split = self.split_before.get(node, 0)
        return split < 2 and any(v in self.absorbed for v in node.inputs[2 * split :: 2])

    def abstract(self, value: ir.Value) -> TensorValue:
        """Return the abstract value of a value."""
        return self._described.get(value) or self.scope.of(value)

    def describing(self, value: ir.Value, known: TensorValue) -> Provenance:
        """Return the same with the abstract value of a value that is not in a graph."""
        provenance = copy.copy(self)
        provenance._described = {**self._described, value: known}
        return provenance

    def gather(self, node: ir.Node) -> Gather:
        """Return a node that reads in canonical form, or refuse."""
        if node not in self.gathers:
            self.gathers[node] = lift_gather(node, self.scope)
        return granted(self.gathers[node])

    def access(self, node: ir.Node) -> Scatter | Gather | None:
        """Return a scatter or a gather in canonical form; None if it has none, or is another."""
        found: Scatter | Gather | Refusal | None = None
        if is_scatter(node):
            found = lift_scatter(node, self.scope)
        elif is_gather(node):
            found = attempt(partial(self.gather, node))
        return None if isinstance(found, Refusal) else found

    def mosaic(self, value: ir.Value) -> Mosaic | None:
        """Return a value's mosaic: itself if nothing is known, None if the rank is unknown."""
        if value not in self._mosaics:
            shape = self.abstract(value).shape
            self._mosaics[value] = None if shape is None else Mosaic.of(value, shape)
        return self._mosaics[value]

    def _move(self, node: ir.Node) -> None:
        inputs = [None if v is None else self.abstract(v) for v in node.inputs]
        try:
            mosaics = MOVES[node.op_type](self, self.scope.call(node, inputs))
        except LookupError:
            return
        except RefusedError as error:
            self.unmoved[node] = error.refusal
            return
        absorbed = frozenset[ir.Node]().union(*(self.absorbed.get(v, ()) for v in node.inputs if v))
        if node in self.gathers_to_remove:
            absorbed |= {node}
        for value, mosaic in zip(node.outputs, mosaics, strict=False):
            if mosaic is not None and len(mosaic.cells) <= LIMITS.cells:
                self._mosaics[value] = coalesced(mosaic, self.facts)
                if absorbed:
                    self.absorbed[value] = absorbed

    def _scatter(self, node: ir.Node) -> None:
        before = budget().unanswered
        self._lift(node)
        if budget().unanswered > before:
            self.unanswered.add(node)

    def _lift(self, node: ir.Node) -> None:
        lifted = lift_scatter(node, self.scope)
        if isinstance(lifted, Refusal):
            self.scatters[node] = Lifted(node, None, lifted)
            return
        entry = Lifted(node, lifted, self.opaque.get(node), unflattened(lifted, self.scope))
        if node not in self.opaque:
            for reading in reversed(entry.interpretations):
                entry = replace(entry, refusal=self._write(reading))
                if entry.refusal is None:
                    break
        self.scatters[node] = entry

    def _write(self, scatter: Scatter) -> Refusal | None:
        """Give a scatter's output its mosaic, or return why it has none."""
        node = scatter.node
        (output,) = node.outputs
        written = attempt(lambda: self._written(scatter))
        if isinstance(written, Refusal):
            return written
        mosaic, absorbed = written
        budget().charge_part(PRICES.cell * len(mosaic.cells))
        self._mosaics[output] = coalesced(mosaic, self.facts)
        self.absorbed[output] = absorbed | {node}
        return None

    def _written(self, scatter: Scatter) -> tuple[Mosaic, frozenset[ir.Node]]:
        """Return the mosaic of a scatter over its data, and the scatters that made its inputs.

        If it is not known over the earlier writes, it is over the data as a source.
        """
        nothing: frozenset[ir.Node] = frozenset()
        data, before = self.mosaic(scatter.data), self.absorbed.get(scatter.data, nothing)
        if data is not None and is_noop_write(scatter, data, self.constants):
            return data, before
        split = self.split_before.get(scatter.node, 0)
        updates, origin = self._updates(scatter)
        others = self.absorbed.get(origin, nothing)
        if split > 1:
            updates, others = Mosaic.of(scatter.updates, scatter.shape), nothing
        over: Mosaic | None = None
        if not before or not split:
            try:
                if data is None:
                    raise RefusedError(Reason.UNKNOWN_RANK, "data")
                over = _few(scattered(scatter, data, updates, self.facts))
            except RefusedError:
                if not before:
                    raise
        if over is not None and (not before or over.weight <= _FINE):
            return over, before | others
        source = Mosaic.of(scatter.data, scatter.data_shape)
        alone = _few(scattered(scatter, source, updates, self.facts))
        # Written in two parts, the chain takes the nodes of the data and of this write alone.
        if over is None or data is None or over.weight >= data.weight + alone.weight:
            return alone, others
        return over, before | others

    def _updates(self, lifted: Scatter) -> tuple[Mosaic, ir.Value]:
        """Return the mosaic of the updates, in the shape that they must have, and its value."""
        value, shape = lifted.updates, lifted.shape
        updates = self.mosaic(value)
        if updates is not None and len(updates.shape) == len(shape):
            pairs = list(zip(updates.shape, shape, strict=True))
            if any((a - b).constant not in (None, 0) for a, b in pairs):
                raise RefusedError(Reason.INVALID, "the updates have another shape")
            if all(a is b or self.facts.equal(a, b) for a, b in pairs):
                return updates, value
        # The operator checks that they have this shape. Another known shape may be wrong: a size 0
        # in the shape of a Reshape stands for another dim.
        node = made_by(value, "Reshape")
        if node is not None and node.graph is self.graph:
            seen, source = reshaped(self, node, shape), node.inputs[0]
            if seen is not None and source is not None:
                return seen, source
        renamed = None if updates is None else updates.with_shape(shape)
        return renamed or Mosaic.of(value, shape), value


def _few(mosaic: Mosaic) -> Mosaic:
    """Return a mosaic, or refuse one of too many cells."""
    if len(mosaic.cells) > LIMITS.cells:
        raise RefusedError(Reason.TOO_COSTLY, f"{len(mosaic.cells)} regions")
    return mosaic

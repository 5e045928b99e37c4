"""Parts of a model that run by themselves, and the smallest one of which a test is still true.

A part is some nodes that stand side by side. Floats that it reads become inputs, and get the
numbers that ONNX Runtime computed for them in the whole model. What makes integers, booleans and
constants for it is copied into it, because a compiler often needs to know these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np
import onnx_ir as ir

from onnx_scatterx.files import load, save
from onnx_scatterx.fitting import infer_shapes
from onnx_scatterx.graphs import cloned, makers, reached, read_by, remove_dead
from onnx_scatterx.processes import NoReply
from onnx_scatterx.runtime import ModelFile, Runner

TRIES = 10
"""How many parts of a model are given to a consumer."""

_LAST = 3  # tries that are left for what was taken untried
_TIMEOUT = 120.0  # seconds of a run in ONNX Runtime

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Part:
    """Some nodes of a model as a file, with inputs, and ONNX Runtime's outputs."""

    file: Path
    feeds: Arrays
    truth: Arrays
    nodes: tuple[ir.Node, ...]
    """The nodes, without those that are copied for them."""
    inputs: tuple[ir.Value, ...] = ()
    """The inputs of the whole model that it reads, too."""


def smallest(parts: Parts, fails: Callable[[Part], bool], tries: int = TRIES) -> Part | None:
    """Return the smallest part found that fails; None if no part of the model does.

    The first half is tried. If it does not fail, the second one is taken untried. The last tries
    are for what was taken so: what fails may stand on both sides of a middle. If all parts fail,
    and the nodes behind the last one, too, the reason is in no part.
    """
    search = _Search(parts, fails, tries)
    search.halve(until=_LAST)
    search.settle()
    search.halve(until=0, sure=True)
    search.trim()
    if search.found is not None and not search.some_pass and search.high < len(parts):
        rest = parts.part(search.high, len(parts))
        if rest is not None and fails(rest):
            return None
    return search.found


class _Search:
    """The nodes from `lows[-1]` to `high`; those from `lows[0]` on are known to fail."""

    def __init__(self, parts: Parts, fails: Callable[[Part], bool], tries: int) -> None:
        self._parts, self._fails, self._tries = parts, fails, tries
        self.lows, self.high = [0], len(parts)
        self.found: Part | None = None
        self.some_pass = False

    def halve(self, until: int, *, sure: bool = False) -> None:
        """Halve the nodes while tries are left; if `sure`, take no half untried."""
        while self.high - self.lows[-1] > 1 and self._tries > until:
            low, middle = self.lows[-1], (self.lows[-1] + self.high) // 2
            if self._failing(low, middle):
                self.lows, self.high = [low], middle
            elif not sure:
                self.lows.append(middle)
            elif self._tries > until and self._failing(middle, self.high):
                self.lows = [middle]
            else:
                return

    def settle(self) -> None:
        """Go back to the last one of `lows` from which the nodes fail, as far as tries are left."""
        good, bad, at = 0, len(self.lows), len(self.lows) - 1
        while bad - good > 1 and self._tries:
            if self._failing(self.lows[at], self.high):
                good = at
            else:
                bad = at
            at = (good + bad) // 2
        self.lows = [self.lows[good]]

    def trim(self) -> None:
        """Leave out a quarter of the nodes, at the start or at the end, while tries are left."""
        trimmed = True
        while trimmed and self.high - self.lows[-1] > 1:
            low, high = self.lows[-1], self.high
            quarter = max(1, (high - low) // 4)
            trimmed = False
            for first, end in ((low + quarter, high), (low, high - quarter)):
                if not trimmed and self._tries and self._failing(first, end):
                    self.lows, self.high, trimmed = [first], end, True

    def _failing(self, first: int, end: int) -> bool:
        self._tries -= 1
        part = self._parts.part(first, end)
        if part is None:
            return False
        if self._fails(part):
            self.found = part
            return True
        self.some_pass = True
        return False


class Parts:
    """The parts of a model on one set of inputs; files are written into a directory."""

    def __init__(self, model: Path, feeds: Arrays, directory: Path) -> None:
        """Read a model, and infer the types of its values."""
        self._model = typed(load(model))
        self._nodes = [node for node in self._model.graph if node.op_type != "Constant"]
        self._feeds, self._directory = feeds, directory
        self._numbers = count()
        self._computed = _computed(self._model)

    def __len__(self) -> int:
        """Return how many nodes there are, besides constants."""
        return len(self._nodes)

    def part(self, first: int, end: int) -> Part | None:
        """Return the nodes of a range as a part; None if they give nothing or cannot be run."""
        nodes = set(self._nodes[first:end])
        kept = set(reached(nodes, lambda node: list(self._copied(node, nodes))))
        read = dict.fromkeys(v for node in self._model.graph if node in kept for v in read_by(node))
        cuts = [v for v in read if any(self._is_above(m) and m not in kept for m in makers([v]))]
        outside = {v for node in self._model.graph if node not in kept for v in read_by(node)}
        made = [v for node in self._nodes[first:end] for v in node.outputs]
        outputs = [v for v in made if v in outside or v.is_graph_output()]
        outputs = [v for v in outputs if _is_float(v)] or outputs
        values = self._values([*cuts, *outputs])
        if not outputs or values is None:
            return None
        part = self._cut(kept, cuts, outputs, values)
        names = {value.name for value in part.graph.inputs}
        feeds = {n: a for n, a in {**self._feeds, **values}.items() if n in names}
        truth = {str(value.name): values[str(value.name)] for value in outputs}
        file = save(part, self._directory / f"part_{next(self._numbers)}.onnx")[0]
        inputs = tuple(value for value in self._model.graph.inputs if value.name in names)
        return Part(file, feeds, truth, tuple(self._nodes[first:end]), inputs)

    def _copied(self, node: ir.Node, nodes: set[ir.Node]) -> Iterator[ir.Node]:
        """Yield what must be in a part with a node: the makers of what is no float input."""
        for value in read_by(node):
            if not _is_float(value) or value not in self._computed:
                others = (maker for maker in makers([value]) if maker not in nodes)
                yield from filter(self._is_above, others)

    def _is_above(self, node: ir.Node) -> bool:
        """Return whether a node is in the main graph; `read_by` has values of subgraphs, too."""
        return node.graph is self._model.graph

    def _values(self, wanted: list[ir.Value]) -> Arrays | None:
        """Return what ONNX Runtime computes for some values of the model; None if it cannot."""
        names = dict.fromkeys(value.name for value in wanted)
        whole = cloned(self._model)
        by_name = {v.name: v for node in whole.graph for v in node.outputs}
        whole.graph.outputs[:] = [by_name[name] for name in names]
        remove_dead(list(whole.graph))
        for name, weight in list(whole.graph.initializers.items()):
            if not (weight.uses() or weight.is_graph_input()):
                whole.graph.initializers.pop(name)
        file = save(whole, self._directory / f"whole_{next(self._numbers)}.onnx")[0]
        with Runner(ModelFile(file)) as runner:
            answer = runner.run(self._feeds, _TIMEOUT)
        for written in self._directory.glob(f"{file.name}*"):
            written.unlink()
        return None if isinstance(answer, NoReply) else answer

    def _cut(
        self, kept: set[ir.Node], cuts: list[ir.Value], outputs: list[ir.Value], values: Arrays
    ) -> ir.Model:
        graph = self._model.graph
        nodes = [node for node in graph if node in kept]
        read = {v for node in nodes for v in read_by(node)}
        inputs = [v for v in graph.inputs if v in read]
        view = ir.GraphView(
            [*inputs, *cuts],
            outputs,
            nodes=nodes,
            initializers=[v for v in graph.initializers.values() if v in read],
            opset_imports=graph.opset_imports,
            name=graph.name,
        )
        part = cloned(
            ir.Model(
                view,  # type: ignore[arg-type]  # onnx_ir documents that it may be one
                ir_version=self._model.ir_version,
                functions=list(self._model.functions.values()),
            )
        )
        for value in (*part.graph.inputs, *part.graph.outputs):
            array = {**self._feeds, **values}.get(str(value.name))
            if array is not None:
                value.type = value.type or ir.TensorType(ir.DataType.from_numpy(array.dtype))
                value.shape = ir.Shape(array.shape)
        remove_dead([node for node in part.graph if node.op_type == "Constant"])
        return part


def typed(model: ir.Model) -> ir.Model:
    """Give the values of a model the types that ONNX infers; return the model."""
    copy = cloned(model)
    infer_shapes(copy, fold=False)
    for node, same in zip(model.graph, copy.graph, strict=True):
        for value, known in zip(node.outputs, same.outputs, strict=True):
            value.type = value.type or known.type
    return model


def _computed(model: ir.Model) -> set[ir.Value]:
    """Return the values of the main graph that depend on an input."""
    variable = set(model.graph.inputs) - set(model.graph.initializers.values())
    for node in model.graph:
        if any(value in variable for value in read_by(node)):
            variable.update(node.outputs)
    return variable


def _is_float(value: ir.Value) -> bool:
    return value.dtype is not None and value.dtype.is_floating_point()

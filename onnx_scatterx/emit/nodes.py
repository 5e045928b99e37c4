"""Adds nodes and constants before a node of a graph, each once, or asks if a target has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Self

import numpy as np
import onnx_ir as ir

from onnx_scatterx.emit.dry_run import DryRun
from onnx_scatterx.ir.names import Names
from onnx_scatterx.targets.target import STANDARD, Target
from onnx_scatterx.text.reasons import Refusal, RefusedError


class _Place(NamedTuple):
    """Where nodes are added, and what they are called."""

    node: ir.Node | None  # they stand before it
    prefix: str  # of their names
    metadata: Mapping[str, str]  # of each: what it replaces


class NodeWriter:
    """Adds nodes to a graph before an anchor; equal nodes and constants are made once.

    ``constant_nodes`` makes constants nodes: functions have no initializers, and before IR version
    4 an initializer is an input too. ``metadata`` goes onto every new node: it says what the node
    replaces. What ``target`` does not take a ``dry_run`` refuses; ``rank_of`` tells it the ranks of
    the values that are there.
    """

    def __init__(
        self,
        graph: ir.Graph,
        version: int,
        names: Names,
        *,
        constant_nodes: bool,
        target: Target = STANDARD,
        rank_of: Callable[[ir.Value], int | None] = lambda _: None,
    ) -> None:
        self.graph = graph
        self.target = target
        self._rank_of = rank_of
        self._trial: DryRun | None = None
        self.version = version
        self.names = names
        self.constant_nodes = constant_nodes
        self._place = _Place(None, "scatterx", {})
        self.made: list[ir.Node] = []
        self.replaced: dict[ir.Value, ir.Value] = {}
        self._constants: dict[tuple[str, tuple[int, ...], bytes], ir.Value] = {}
        self._nodes: dict[tuple[object, ...], ir.Value] = {}

    @contextmanager
    def at(
        self, node: ir.Node, prefix: str | None = None, metadata: Mapping[str, str] | None = None
    ) -> Iterator[Self]:
        """Add nodes before ``node``, under names that begin with ``prefix``, while this lasts."""
        outer = self._place
        self._place = _Place(node, prefix or "scatterx", metadata or {})
        try:
            yield self
        finally:
            self._place = outer

    @property
    def insertion_point(self) -> ir.Node:
        """The node before which nodes are added."""
        assert self._place.node is not None, "nodes are added within `at`"
        return self._place.node

    @property
    def metadata(self) -> Mapping[str, str]:
        """What goes onto every new node."""
        return self._place.metadata

    def dry_run(
        self, write: Callable[[], ir.Value], *, as_output: bool = False
    ) -> DryRun | Refusal:
        """Return what would be written, or why the target or ONNX Runtime does not take it.

        ``as_output`` says that the result is to have a name of its own, by an Identity if need be.
        """
        outer, self._trial = self._trial, DryRun(self.target, self.version, self._rank_of)
        trial = self._trial
        try:
            result = write()
            if not trial.made(result):
                trial.reads[result] = None
                if as_output:
                    trial.node("Identity", [result], None, {})
        except RefusedError as error:
            return error.refusal
        finally:
            self._trial = outer
        return trial

    def surcharge(self, nodes: int) -> None:
        """Let what is written on trial count as more nodes than it takes."""
        if self._trial is not None:
            self._trial.surcharge += nodes

    def resolve(self, value: ir.Value) -> ir.Value:
        """Return what a value was replaced by; plans are made before anything is written."""
        while value in self.replaced:
            value = self.replaced[value]
        return value

    def node(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        dtype: ir.DataType,
        **attributes: int | float | str | Sequence[int],
    ) -> ir.Value:
        """Add a node with one output of an element type, or return the one that is there."""
        inputs = [v if v is None else self.resolve(v) for v in inputs]
        if self._trial is not None:
            return self._trial.node(op, inputs, dtype, attributes)
        frozen = tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in attributes.items())
        key = (op, tuple(inputs), frozen)
        found = self._nodes.get(key)
        if found is not None:
            return found
        output = ir.Value(
            name=self.names.new(f"{self._place.prefix}/{op}"), type=ir.TensorType(dtype)
        )
        node = ir.Node(
            "",
            op,
            inputs,
            [ir.convenience.convert_attribute(k, v) for k, v in attributes.items()],
            outputs=[output],
            name=output.name,
            metadata_props=dict(self.metadata),
        )
        self.graph.insert_before(self.insertion_point, node)
        self.made.append(node)
        self._nodes[key] = output
        return output

    def new_name(self, what: str) -> str:
        """Return a name for something new, none on trial."""
        return "" if self._trial is not None else self.names.new(f"{self._place.prefix}/{what}")

    def insert(self, node: ir.Node) -> None:
        """Add a node that was made elsewhere."""
        if self._trial is not None:
            return self._trial.inserted(node)
        self.graph.insert_before(self.insertion_point, node)
        self.made.append(node)

    def constant(
        self, array: np.ndarray | Sequence[int], dtype: ir.DataType | None = None
    ) -> ir.Value:
        """Return a constant: an initializer, or a Constant node where there can be none."""
        array = np.asarray(array, None if dtype else np.int64, order="C")
        dtype = dtype or ir.DataType.INT64
        key = (dtype.name, array.shape, array.tobytes())
        keep = array.dtype != object
        found = self._constants.get(key) if keep and self._trial is None else None
        if found is not None:
            return found
        if self._trial is not None:
            return self._trial.constant(array, dtype)
        name = self.names.new(f"{self._place.prefix}/constant")
        tensor = ir.Tensor(array, dtype=dtype, name=name)
        value = ir.Value(
            name=name, type=ir.TensorType(dtype), shape=ir.Shape(array.shape), const_value=tensor
        )
        if self.constant_nodes:
            node = ir.Node(
                "", "Constant", [], [ir.AttrTensor("value", tensor)], outputs=[value], name=name
            )
            self.graph.insert_before(self.insertion_point, node)
            self.made.append(node)
        else:
            self.graph.register_initializer(value)
        if keep:
            self._constants[key] = value
        return value

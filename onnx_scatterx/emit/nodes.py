"""Adds nodes and constants before a node of a graph, each once, or asks if a target has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx_ir as ir

from onnx_scatterx.emit.dry_run import DryRun
from onnx_scatterx.ir.names import Names
from onnx_scatterx.targets.target import STANDARD, Target
from onnx_scatterx.text.reasons import Refusal, RefusedError


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
        self.insertion_point: ir.Node | None = None
        self.name_prefix = "scatterx"
        self.metadata: Mapping[str, str] = {}
        self.made: list[ir.Node] = []
        self.replaced: dict[ir.Value, ir.Value] = {}
        self._constants: dict[tuple[str, tuple[int, ...], bytes], ir.Value] = {}
        self._nodes: dict[tuple[object, ...], ir.Value] = {}

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
            name=self.names.new(f"{self.name_prefix}/{op}"), type=ir.TensorType(dtype)
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
        assert self.insertion_point is not None
        self.graph.insert_before(self.insertion_point, node)
        self.made.append(node)
        self._nodes[key] = output
        return output

    def new_name(self, what: str) -> str:
        """Return a name for something new, none on trial."""
        return "" if self._trial is not None else self.names.new(f"{self.name_prefix}/{what}")

    def insert(self, node: ir.Node) -> None:
        """Add a node that was made elsewhere."""
        if self._trial is not None:
            return self._trial.inserted(node)
        assert self.insertion_point is not None
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
        name = self.names.new(f"{self.name_prefix}/constant")
        tensor = ir.Tensor(array, dtype=dtype, name=name)
        value = ir.Value(
            name=name, type=ir.TensorType(dtype), shape=ir.Shape(array.shape), const_value=tensor
        )
        if self.constant_nodes:
            node = ir.Node(
                "", "Constant", [], [ir.AttrTensor("value", tensor)], outputs=[value], name=name
            )
            assert self.insertion_point is not None
            self.graph.insert_before(self.insertion_point, node)
            self.made.append(node)
        else:
            self.graph.register_initializer(value)
        if keep:
            self._constants[key] = value
        return value

"""The parts in which a model differs from the message that it was read from.

What onnx_ir writes of them is compared. Other parts are not written.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import Any, NamedTuple, TypeVar, cast

import onnx
import onnx_ir as ir

from onnx_scatterx.files.check import free_names
from onnx_scatterx.files.data import SPARSE, from_proto, tensors_of
from onnx_scatterx.files.snapshot import NodeKey, Snapshot
from onnx_scatterx.files.weights import Weights


class Changes(NamedTuple):
    """The keys of what changed, is new or gone: nodes of the main graph, initializers, functions.

    The nodes that are ``gone`` are not in ``nodes``. If no ``edges`` of the main graph changed,
    only those inputs and outputs are written that are also of another part that is written.
    """

    nodes: Set[NodeKey]
    gone: Set[NodeKey]
    initializers: Set[str]
    functions: Set[ir.OperatorIdentifier]
    edges: bool = True

    @classmethod
    def between(cls, before: Snapshot, after: Snapshot) -> Changes | None:
        """Return what changed between two snapshots of a model; None if nothing did.

        A new IR version changes how each part is written.
        """
        gone = before.nodes.keys() - after.nodes.keys()
        if before.ir_version != after.ir_version:
            initializers = before.initializers.keys() | after.initializers.keys()
            functions = before.functions.keys() | after.functions.keys()
            return cls(after.nodes.keys(), gone, initializers, functions)
        changes = cls(
            _differing(before.nodes, after.nodes) - gone,
            gone,
            _differing(before.initializers, after.initializers),
            _differing(before.functions, after.functions),
            before.edges != after.edges,
        )
        same = before.head == after.head and before.order == after.order
        return None if same and not any(changes) else changes

    def written(
        self,
        message: onnx.ModelProto,
        keys: Iterable[NodeKey],
        model: ir.Model,
        order: Iterable[NodeKey],
        weights: Weights,
    ) -> tuple[onnx.ModelProto, onnx.ModelProto]:
        """Return what onnx_ir writes of the message's part and of the model's part.

        As onnx_ir does, the type of each initializer is declared if a declaration changes.
        ``keys`` are those of the message's nodes, and ``order`` has those of the model's nodes.
        """
        made = [node for node, key in zip(model.graph, order, strict=True) if key in self.nodes]
        computed = {value.name or "" for node in made for value in node.outputs}
        keyed = [*zip(keys, message.graph.node[:], strict=True)]
        old = [
            node
            for key, node in keyed
            if key in self.nodes or (key in self.gone and not computed.isdisjoint(node.output[:]))
        ]
        named = {*self.initializers, *(name for node in old for name in node.output[:])}
        edges = None if self.edges else named | computed
        after = weights.written(self._of_model(model, made, edges))
        before = weights.written(self._of_message(message, old, named, edges, weights))
        lost = {name for key, node in keyed if key in self.gone for name in node.output[:]}
        lost -= computed.union(value.name for value in message.graph.output)
        told = {info.name for info in message.graph.value_info}
        for name in sorted(told & lost):
            before.graph.value_info.add(name=name)
        if before.graph.value_info != after.graph.value_info:
            _declare_initializers(model.graph, after.graph, told)
        return before, after

    def _of_model(
        self, model: ir.Model, nodes: Iterable[ir.Node], edges: Set[str] | None
    ) -> ir.Model:
        """Return the part of a changed model that is new or changed; it has the model's ``nodes``.

        Of the inputs and outputs it has all, or those whose names are ``edges``.
        """
        graph = model.graph
        sparse = graph.meta.get(SPARSE, {})
        initializers = graph.initializers.items()
        inputs, outputs = (
            [v for v in values if edges is None or v.name in edges]
            for values in (graph.inputs, graph.outputs)
        )
        view = ir.GraphView(
            inputs,
            outputs,
            nodes=nodes,
            initializers=[v for k, v in initializers if k in self.initializers or k in sparse],
            doc_string=graph.doc_string,
            opset_imports=graph.opset_imports,
            name=graph.name,
            metadata_props=graph.metadata_props,
        )
        view.meta[SPARSE] = sparse
        return ir.Model(
            cast(ir.Graph, view),  # onnx_ir takes a view, too
            ir_version=model.ir_version,
            producer_name=model.producer_name,
            producer_version=model.producer_version,
            domain=model.domain,
            model_version=model.model_version,
            doc_string=model.doc_string,
            functions=[f for k, f in model.functions.items() if k in self.functions],
            metadata_props=model.metadata_props,
            device_configurations=model.device_configurations,
        )

    def _of_message(
        self,
        message: onnx.ModelProto,
        nodes: Sequence[onnx.NodeProto],
        named: Set[str],
        edges: Set[str] | None,
        weights: Weights,
    ) -> ir.Model:
        """Return the part of a message that was changed, as onnx_ir reads it.

        It has these nodes, the types of values with these names, and the inputs and outputs whose
        names are ``edges``, or all.
        """
        part = onnx.ModelProto()
        _copy(message, part, {"graph", "functions", "training_info"})
        _copy(message.graph, part.graph, {"node", "initializer", "value_info", "input", "output"})
        for kept, values in (
            (part.graph.input, message.graph.input),
            (part.graph.output, message.graph.output),
        ):
            kept.extend(value for value in values if edges is None or value.name in edges)
        functions = [f for f in message.functions if _identifier(f) in self.functions]
        part.graph.node.extend(nodes)
        part.functions.extend(functions)
        prefixes = tuple(f"{f.domain}::{f.name}/" for f in functions)  # the names in IR version 9
        part.graph.value_info.extend(
            info
            for info in message.graph.value_info
            if info.name in named or (prefixes and info.name.startswith(prefixes))
        )
        for tensor in message.graph.initializer:
            if tensor.name in self.initializers:
                weights.head(tensor, part.graph.initializer.add())
        if weights.in_nodes:
            old = chain(nodes, *(f.node for f in functions))
            new = chain(part.graph.node, *(f.node for f in part.functions))
            for tensor, copy in zip(tensors_of(old), tensors_of(new), strict=True):
                weights.head(tensor, copy)
        outside = free_names(part.graph, [])  # nodes of other parts compute them
        for name in outside:
            part.graph.input.add(name=name)
        made = from_proto(part)
        for _ in outside:
            made.graph.inputs.pop()
        return made


def _declare_initializers(graph: ir.Graph, made: onnx.GraphProto, told: Set[str]) -> None:
    """Declare the initializers that were not declared, before the values of nodes."""
    there = {info.name: info for info in made.value_info}
    inputs = {value.name for value in graph.inputs}
    declared = onnx.GraphProto()
    for name, value in graph.initializers.items():
        if name in there:
            declared.value_info.append(there.pop(name))
        elif name not in told and name not in inputs:
            ir.serde.serialize_value_into(declared.value_info.add(), value)
    declared.value_info.extend(there.values())
    del made.value_info[:]
    made.value_info.extend(declared.value_info)


K = TypeVar("K", bound=Hashable)


def _differing(before: Mapping[K, Any], after: Mapping[K, Any]) -> set[K]:
    """Return the keys whose states differ, are missing on one side, or are not known."""
    both = before.keys() & after.keys()
    return (before.keys() ^ after.keys()).union(
        k for k in both if before[k] is None or before[k] != after[k]
    )


def _copy(message: Any, copy: Any, but: Collection[str]) -> None:
    """Copy the fields of a message, apart from some."""
    for field, value in message.ListFields():
        if field.name in but:
            continue
        if field.message_type is not None or hasattr(value, "extend"):
            getattr(copy, field.name).MergeFrom(value)
        else:
            setattr(copy, field.name, value)


def _identifier(function: onnx.FunctionProto) -> ir.OperatorIdentifier:
    return function.domain, function.name, function.overload

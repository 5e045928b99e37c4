"""The types, shapes and constants of a model's values, with which a node is written otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TypeAlias

import onnx
import onnx_ir as ir

from onnx_scatterx.engine.spelling import Known
from onnx_scatterx.fitting.inference import infer_shapes
from onnx_scatterx.graphs import (
    all_graphs,
    called_function,
    callers_first,
    cloned,
    overridable,
)


class KnownValues(Known):
    """The types of values, and the shapes that ONNX infers from the inputs of the model.

    ONNX Runtime checks the declared types of the graph and its subgraphs, and the declared dims of
    the inputs of the model that are tensors. Other declared dims, and all that a function declares,
    are not believed. The inputs of a function have the types and dims in which all calls agree.
    What ONNX infers has names, so nothing is inferred for a name that several graphs define.
    """

    def __init__(self, model: ir.Model) -> None:
        self._model = model
        super().__init__(overridable(model))
        self._main = _Scope(model.graph)
        self._scopes = dict.fromkeys(self._main.values, self._main)
        self._functions: dict[ir.Function, _Scope] = {}
        for function in model.functions.values():
            scope = self._functions[function] = _Scope(function.graph)
            self._scopes.update(dict.fromkeys(scope.values, scope))

    def types(self, value: ir.Value) -> Collection[str]:
        """Return the types that a value may have, as schemas write them; () if not known."""
        constant = super().types(value)
        if constant:
            return constant
        declares = _is_typed(value) and self._scopes.get(value) is self._main
        typed = value if declares else self._of(value)
        if typed is None or typed.type is None or not _is_typed(typed):
            return set()
        return {_text(ir.serde.serialize_type(typed.type))}

    def shape(self, value: object) -> Sequence[int | None] | None:
        """Return the dims of a value or an array (None: an unknown dim); None if not known."""
        known = self._of(value) if isinstance(value, ir.Value) else None
        if known is None or known.shape is None:
            return super().shape(value)
        return [dim if isinstance(dim, int) else None for dim in known.shape]

    def _of(self, value: ir.Value) -> ir.Value | None:
        scope = self._scopes.get(value)
        if scope is None or scope.defined[value.name] > 1:
            return None
        return self._inferred.get(scope, {}).get(value.name)

    @cached_property
    def _inferred(self) -> dict[_Scope, dict[str | None, ir.Value]]:
        """The values with the types and shapes that ONNX infers, by their names."""
        copy = cloned(self._model)
        for value in _values(copy.graph):
            is_checked = value in copy.graph.inputs and isinstance(value.type, ir.TensorType)
            if not is_checked and value.const_value is None:
                value.shape = None
        infer_shapes(copy, fold=True)
        found = {self._main: {value.name: value for value in _values(copy.graph)}}
        calls: dict[ir.Function, list[_Call]] = {}

        def note(scope: _Scope) -> None:
            for graph in all_graphs(scope.root):
                for node in graph:
                    callee = called_function(self._model, node)
                    if callee is not None:
                        names = ((None if v is None else v.name) for v in node.inputs)
                        once = (n if scope.defined[n] == 1 else None for n in names)
                        calls.setdefault(callee, []).append([found[scope].get(n) for n in once])

        note(self._main)
        for function in callers_first(self._model):
            scope = self._functions[function]
            body = copy.functions[function.identifier()]
            _declare(body, calls.get(function, []))
            whole = ir.Model(body.graph, ir_version=self._model.ir_version)
            whole.opset_imports.update({"": self._model.opset_imports.get("", 1)})
            whole.opset_imports.update(body.opset_imports)
            infer_shapes(whole, fold=True)
            found[scope] = {value.name: value for value in _values(body.graph)}
            note(scope)
        return found


class _Scope:
    """A graph or a function with its subgraphs: its values, and how often a name is defined."""

    def __init__(self, root: ir.Graph) -> None:
        self.root = root
        self.values = _values(root)
        self.defined = Counter(v.name for v in self.values)


_Call: TypeAlias = "list[ir.Value | None]"
"""The inputs of a call, as they are known."""


def _declare(body: ir.Function, calls: Sequence[_Call]) -> None:
    """Declare of a function's inputs what all calls agree in, and of its other values nothing."""
    for value in _values(body.graph):
        if value.const_value is None:
            value.type = value.shape = None
    for index, value in enumerate(body.inputs):
        given = [call[index] if index < len(call) else None for call in calls]
        kinds = {known.type if known is not None else None for known in given}
        kind = kinds.pop() if len(kinds) == 1 else None
        if kind is None:
            continue
        value.type = kind
        shapes = [known.shape for known in given if known is not None]
        ranks = {None if shape is None else len(shape) for shape in shapes}
        if len(ranks) == 1 and None not in ranks and isinstance(kind, ir.TensorType):
            columns = zip(*(shape for shape in shapes if shape is not None), strict=True)
            value.shape = ir.Shape([dims[0] if _is_one(dims) else None for dims in columns])
    for graph in all_graphs(body.graph):
        for node in graph:
            if any(attribute.is_ref() for attribute in node.attributes.values()):
                node.domain = _UNKNOWN  # ONNX would infer from attributes of 0


_UNKNOWN = "onnx_scatterx.unknown"


def _is_one(dims: Sequence[object]) -> bool:
    return isinstance(dims[0], int) and len(set(dims)) == 1


def _values(root: ir.Graph) -> list[ir.Value]:
    """Return the values of a graph and its subgraphs."""
    graphs = all_graphs(root)
    values = [v for g in graphs for v in (*g.inputs, *(o for n in g for o in n.outputs))]
    return values + [v for g in graphs for v in g.initializers.values() if v not in g.inputs]


def _is_typed(value: ir.Value) -> bool:
    return isinstance(value.type, ir.TensorType) and value.dtype != ir.DataType.UNDEFINED


def _text(kind: onnx.TypeProto) -> str:
    """Return a type as schemas write it; for an unknown type, a text that no schema has."""
    which = kind.WhichOneof("value")
    if which == "sequence_type":
        return f"seq({_text(kind.sequence_type.elem_type)})"
    if which == "optional_type":
        return f"optional({_text(kind.optional_type.elem_type)})"
    if which != "tensor_type":
        return f"{which}"
    return f"tensor({onnx.TensorProto.DataType.Name(kind.tensor_type.elem_type).lower()})"

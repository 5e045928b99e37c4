"""What the analysis knows of a model's values, by which its nodes are written otherwise."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import onnx
import onnx_ir as ir

from onnx_scatterx.engine.analysis import TensorValue, interpret
from onnx_scatterx.engine.budget import LIMITS, own_budget
from onnx_scatterx.engine.spelling import Known, type_text
from onnx_scatterx.graphs import all_graphs, all_nodes, cloned, constant, overridable

Analysed: TypeAlias = Callable[[], Mapping[ir.Value, TensorValue]]
"""Returns what is known of a model's values: it is called only if it must be."""


class KnownValues(Known):
    """The types of values, and the shapes that follow from the inputs of the model.

    ONNX Runtime checks the declared types of the graph and its subgraphs. Those that a function
    declares are not believed: nobody checks them. ``analysed`` must rely on no promise, and on no
    names of dims. Without it, the model is visited once, within limits of its own.
    """

    def __init__(self, model: ir.Model, analysed: Analysed | None = None) -> None:
        super().__init__(overridable(model))
        self._model = model
        self._analysed = analysed or (lambda: _interpreted(model))
        self._declaring = set(_values(model.graph))

    def of_copy(self, copy: ir.Model) -> KnownValues:
        """Return the same of the values of a copy of the model."""

        def translated() -> dict[ir.Value, TensorValue]:
            pairs = zip(_all_values(self._model), _all_values(copy), strict=True)
            return {other: self._known[value] for value, other in pairs if value in self._known}

        return KnownValues(copy, translated)

    def types(self, value: ir.Value) -> Collection[str]:
        """Return the types that a value may have, as schemas write them; () if not known."""
        constant_type = super().types(value)
        if constant_type:
            return constant_type
        if value in self._declaring and _is_typed(value):
            assert value.type is not None
            return {_text(ir.serde.serialize_type(value.type))}
        known = self._of(value)
        dtype = None if known is None else known.dtype
        if known is None or dtype is None or dtype == ir.DataType.UNDEFINED:
            return ()
        if known.shape is None and not self._has_tensors_alone:
            return ()
        return {type_text(dtype)}

    def shape(self, value: object) -> Sequence[int | None] | None:
        """Return the dims of a value or an array (None: an unknown dim); None if not known."""
        if not isinstance(value, ir.Value):
            return super().shape(value)
        tensor = constant(value, self.overridable)
        if tensor is not None:
            return list(tensor.shape.numpy())
        known = self._of(value)
        if known is None or known.shape is None:
            return None
        return [dim.constant for dim in known.shape]

    def _of(self, value: ir.Value) -> TensorValue | None:
        if value in self._declaring:
            return self._known.get(value)
        return self._in_functions.get(value)

    @cached_property
    def _known(self) -> Mapping[ir.Value, TensorValue]:
        return self._analysed()

    @cached_property
    def _in_functions(self) -> dict[ir.Value, TensorValue]:
        """What is known of the values of functions, if what they declare is not believed."""
        values = _of_functions(self._model)
        if not any(v.type is not None and v.const_value is None for v in values):
            return {v: self._known[v] for v in values if v in self._known}
        copy = cloned(self._model)
        copies = _of_functions(copy)
        for value in copies:
            if value.const_value is None:
                value.type = value.shape = None
        known = _interpreted(copy)
        pairs = zip(values, copies, strict=True)
        return {value: known[other] for value, other in pairs if other in known}

    @cached_property
    def _has_tensors_alone(self) -> bool:
        """Whether no value is a sequence or an optional: they have element types, too."""
        named = ("Optional", "Sequence", "SplitToSequence")
        nodes = all_nodes(self._model)
        plain = not any(node.op_type.startswith(named) for node in nodes)
        types = (value.type for value in self._declaring)
        return plain and all(kind is None or isinstance(kind, ir.TensorType) for kind in types)


def _interpreted(model: ir.Model) -> Mapping[ir.Value, TensorValue]:
    with own_budget(LIMITS.steps_of(len(all_nodes(model)))):
        return interpret(model, distrust_dims=True, once=True).values


def _of_functions(model: ir.Model) -> list[ir.Value]:
    return [value for f in model.functions.values() for value in _values(f.graph)]


def _all_values(model: ir.Model) -> list[ir.Value]:
    return _values(model.graph) + _of_functions(model)


def _values(root: ir.Graph) -> list[ir.Value]:
    """Return the values of a graph and its subgraphs."""
    graphs = all_graphs(root)
    values = [v for g in graphs for v in (*g.inputs, *(o for n in g for o in n.outputs))]
    return values + [v for g in graphs for v in g.initializers.values() if v not in g.inputs]


def _is_typed(value: ir.Value) -> bool:
    return value.type is not None and value.dtype not in (None, ir.DataType.UNDEFINED)


def _text(kind: onnx.TypeProto) -> str:
    """Return a type as schemas write it; for an unknown type, a text that no schema has."""
    which = kind.WhichOneof("value")
    if which == "sequence_type":
        return f"seq({_text(kind.sequence_type.elem_type)})"
    if which == "optional_type":
        return f"optional({_text(kind.optional_type.elem_type)})"
    if which != "tensor_type":
        return f"{which}"
    return type_text(ir.DataType(kind.tensor_type.elem_type))

"""The types, shapes and constants of a model's values, with which a node is written otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.ir.cleanup import cloned
from onnx_scatterx.ir.constants import constant, infer_shapes, overridable

Input: TypeAlias = "ir.Value | np.ndarray | None"
"""An input of a node: a value, a constant, or None if absent."""


class KnownValues:
    """The declared types of values, and the shapes that ONNX infers from the inputs.

    Other declared shapes are not believed, because a runtime does not check them. The shapes are
    inferred at the first question. ONNX gives them by names, so there are none for a name that
    several graphs define, and none for the values of functions.
    """

    def __init__(self, model: ir.Model) -> None:
        self._model = model
        self._overridable = overridable(model)
        values = _values(model)
        self._defined = Counter(v.name for v in values)
        self._asked = set(values)

    def types(self, value: ir.Value) -> Collection[str]:
        """Return the types that a value may have, as schemas write them; () if not known."""
        typed = value if _is_typed(value) else self._of(value)
        return {_text(ir.serde.serialize_type(typed.type))} if typed and typed.type else set()

    def shape(self, value: Input) -> Sequence[int | None] | None:
        """Return the dims of a tensor (None: an unknown dim); None if the rank is not known."""
        known = self._of(value) if isinstance(value, ir.Value) else value
        if known is None or known.shape is None:
            return None
        return [dim if isinstance(dim, int) else None for dim in known.shape]

    def array(self, value: Input) -> np.ndarray | None:
        """Return the constant that an input is in every run; None if it is not constant."""
        if isinstance(value, np.ndarray):
            return value
        tensor = constant(value, self._overridable)
        return None if tensor is None else tensor.numpy()

    def _of(self, value: ir.Value) -> ir.Value | None:
        if value not in self._asked or self._defined[value.name] > 1:
            return None
        return self._inferred.get(value.name)

    @cached_property
    def _inferred(self) -> dict[str | None, ir.Value]:
        """The values with the shapes that ONNX infers, by their names."""
        copy = cloned(self._model)
        for value in _values(copy):
            if value.producer() is not None:
                value.shape = None
        infer_shapes(copy, fold=True)
        return {value.name: value for value in _values(copy)}


def _values(model: ir.Model) -> list[ir.Value]:
    """Return the values of a model's main graph and its subgraphs."""
    graphs = [model.graph, *model.graph.subgraphs()]
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

"""What is known of the values of a graph, and of values that are written: their abstract values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope, TensorValue, outputs_of
from onnx_scatterx.engine.budget import QuestionSpentError, TooLargeError
from onnx_scatterx.engine.terms import Term, coord, element
from onnx_scatterx.graphs import constant

Attributes: TypeAlias = "Mapping[str, int | float | str | Sequence[int]]"


def frozen(attributes: Attributes) -> tuple[object, ...]:
    """Return attributes as a key."""
    return tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in attributes.items())


def attribute(name: str, value: float | str | Sequence[int]) -> ir.Attr:
    """Return an attribute of a node. To let onnx_ir find its type takes longer than the node.

    >>> attribute("axes", [0, 2])
    Attr('axes', INTS, (0, 2))
    """
    if type(value) is int:
        return ir.AttrInt64(name, value)
    if isinstance(value, list | tuple) and value and all(type(n) is int for n in value):
        return ir.AttrInt64s(name, value)
    return ir.convenience.convert_attribute(name, value)


class IndexOf(NamedTuple):
    """The elements of a tensor that are indices of an axis, if the original model runs."""

    value: ir.Value
    size: Term


_UNKNOWN = (LookupError, ValueError, ArithmeticError, TypeError, TooLargeError, QuestionSpentError)


@dataclass(eq=False)
class AbstractValues:
    """What is known of the values of a graph, also of those that a writer added to it.

    Many plans write equal nodes: what is known of their outputs is computed once.
    """

    scope: Scope
    _known: dict[ir.Value, TensorValue] = field(default_factory=dict, init=False)
    _computed: dict[tuple[object, ...], list[TensorValue]] = field(default_factory=dict, init=False)
    _made: set[TensorValue] = field(default_factory=set, init=False)
    _indices: dict[tuple[object, ...], TensorValue | None] = field(default_factory=dict, init=False)

    def __getitem__(self, value: ir.Value) -> TensorValue:
        known = self._known.get(value)
        if known is None:
            known = self.scope.values.get(value)
        tensor = constant(value, self.scope.overridable) if known is None else None
        if tensor is not None:
            known = self._known[value] = TensorValue.of_tensor(tensor)
        return known or TensorValue(value.dtype, None)

    def update(self, known: Mapping[ir.Value, TensorValue]) -> None:
        """Note the abstract values of values that were added to the graph."""
        self._known.update(known)

    def keep_ranges(self, values: Iterable[ir.Value]) -> None:
        """Let those who read the graph later know how large the integers of new values are."""
        for value in values:
            index = self[value].index_map
            if index is not None:
                self.scope.noted[value] = index.interval()

    def results(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        known: Sequence[TensorValue | None],
        dtypes: Sequence[ir.DataType | None],
        attributes: Attributes,
    ) -> list[TensorValue]:
        """Return the abstract values of the outputs of a node; its inputs have those ``known``."""
        # What is known of a result belongs to equal nodes alone. Other values may share it.
        read = [(g, None if g in self._made else v) for g, v in zip(known, inputs, strict=True)]
        key = (op, *read, *dtypes, frozen(attributes))
        if key not in self._computed:
            self._computed[key] = self._results(op, known, dtypes, attributes)
            self._made.update(self._computed[key])
        return self._computed[key]

    def _results(
        self,
        op: str,
        tensors: Sequence[TensorValue | None],
        dtypes: Sequence[ir.DataType | None],
        attributes: Attributes,
    ) -> list[TensorValue]:
        outputs = [
            ir.Value(name=f"{op}{i or ''}", type=None if d is None else ir.TensorType(d))
            for i, d in enumerate(dtypes)
        ]
        scope = self.scope
        names = [None if g is None else ir.Value(name=f"x{i}") for i, g in enumerate(tensors)]
        try:
            settings = [attribute(k, v) for k, v in attributes.items()]
            node = ir.Node("", op, names, settings, outputs=outputs)
            call = scope.call(node, tensors)
            pairs = zip(dtypes, outputs_of(call), strict=True)
            return [TensorValue(d or f.dtype, f.shape, f.content) for d, f in pairs]
        except _UNKNOWN:
            return [TensorValue(dtype, None) for dtype in dtypes]

    def as_index(
        self, value: ir.Value, tensor: TensorValue, size: Term, *, from_zero: bool
    ) -> TensorValue | None:
        """Return a value whose elements are indices of an axis: ``-size <= i < size``.

        If they count ``from_zero``, none is negative. Of an axis of size 0 they may be 0 and -1: an
        index that the scatter does not check may be there. Returns None if nothing more is known.
        """
        key = tensor, None if tensor in self._made else value, size, from_zero
        if key not in self._indices:
            index = self._indices[key] = self._as_index(value, tensor, size, from_zero=from_zero)
            if tensor in self._made and index is not None:
                self._made.add(index)
        return self._indices[key]

    def _as_index(
        self, value: ir.Value, tensor: TensorValue, size: Term, *, from_zero: bool
    ) -> TensorValue | None:
        if tensor.shape is None or tensor.constant is not None:
            return None
        end = max(min(self.scope.facts.interval(size)[1], size.within_axes()[1]), 1)
        origin, coords = IndexOf(value, size), map(coord, range(len(tensor.shape)))
        low = 0 if from_zero else -end
        index = element(origin, coords, name="index", low=low, high=end - 1)
        return TensorValue(tensor.dtype, tensor.shape, index)

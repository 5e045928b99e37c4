"""What is known of values that are written: their shapes and contents, by transfer functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.ir.constants import constant
from onnx_scatterx.optimizer.analysis import shapes
from onnx_scatterx.optimizer.analysis.domain.scope import Scope
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.analysis.domain.widening import widened
from onnx_scatterx.optimizer.analysis.operators import generators
from onnx_scatterx.optimizer.analysis.transfers import transferred
from onnx_scatterx.optimizer.symbolic.budget import QuestionSpentError, TooLargeError

Attributes: TypeAlias = "Mapping[str, int | float | str | Sequence[int]]"

_UNKNOWN = (LookupError, ValueError, ArithmeticError, TypeError, TooLargeError, QuestionSpentError)


@dataclass(eq=False)
class MadeValues:
    """What is known of values of a graph, and of new values that are written.

    ``outer`` are the values that were written before a dry run, if this is one.
    """

    scope: Scope
    outer: MadeValues | None = None
    _found: dict[ir.Value, TensorValue] = field(default_factory=dict, init=False)

    def __getitem__(self, value: ir.Value) -> TensorValue:
        found = self._found.get(value)
        if found is None and self.outer is not None:
            return self.outer[value]
        if found is None:
            found = self.scope.values.get(value)
        tensor = constant(value, self.scope.overridable) if found is None else None
        if tensor is not None:
            found = self._found[value] = generators.of_tensor(tensor)
        return found or TensorValue(value.dtype, None)

    def result(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        dtype: ir.DataType | None,
        attributes: Attributes,
    ) -> TensorValue:
        """Return the abstract value of the output of a node that is about to be written."""
        (found,) = self.results(op, inputs, [dtype], attributes)
        return found

    def results(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        dtypes: Sequence[ir.DataType | None],
        attributes: Attributes,
    ) -> list[TensorValue]:
        """Return the abstract values of all outputs of such a node, of element types."""
        given = [None if v is None else self[v] for v in inputs]
        outputs = [
            ir.Value(name=f"{op}{i or ''}", type=None if d is None else ir.TensorType(d))
            for i, d in enumerate(dtypes)
        ]
        scope = self.scope
        try:
            node = ir.Node(
                "",
                op,
                [None if v is None else ir.Value(name=f"x{i}") for i, v in enumerate(inputs)],
                [ir.convenience.convert_attribute(k, v) for k, v in attributes.items()],
                outputs=outputs,
            )
            call = scope.call(node, given)
            results = transferred(call) or shapes.infer(call)
            found = [
                widened(value, result, scope.visit_id, scope.facts)
                for value, result in zip(outputs, results, strict=False)
            ]
            return [
                TensorValue(d or f.dtype, f.shape, f.content)
                for d, f in zip(dtypes, found, strict=True)
            ]
        except _UNKNOWN:
            return [TensorValue(dtype, None) for dtype in dtypes]

    def add(self, value: ir.Value, known: TensorValue) -> None:
        """Note the abstract value of a value that is written."""
        self._found[value] = known

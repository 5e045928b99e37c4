"""Operators before a node of a graph, in the form of the model's operator set."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from onnx_scatterx.optimizer.emit.nodes import NodeWriter
from onnx_scatterx.text.reasons import Reason, refuse_unless

INT64_MAX = 2**63 - 1  # a Slice that ends here runs to the end of the axis


class Writer(NodeWriter):
    """Adds operators that have several versions, and omits those that do nothing."""

    def require_slice(
        self, *, stepped: bool = False, computed: bool = False, sized: bool = True
    ) -> None:
        """Refuse a Slice that the model's version of it lacks.

        Version 9 lacks steps and computed bounds. ONNX's shape inference gives a Slice of version
        10 the symbol of the axis that it cuts, and ONNX Runtime then lets tensors of unlike lengths
        share a buffer: axes cut by literals must have declared sizes (``sized``).
        """
        what, plain = "steps" if stepped else "computed bounds", not (stepped or computed)
        why = f"Slice with {what} needs operator set 10"
        refuse_unless(self.version >= 10 or plain, Reason.OPSET, why)
        told = self.version != 10 or computed or sized
        refuse_unless(told, Reason.OPSET, "Slice of an axis of unknown size needs operator set 11")

    def slice(
        self,
        x: ir.Value,
        dtype: ir.DataType,
        axes: Sequence[int],
        starts: Sequence[int],
        ends: Sequence[int],
        steps: Sequence[int],
        *,
        sized: bool = True,
    ) -> ir.Value:
        """Add a Slice with constant bounds; if ``sized``, its axes have declared sizes."""
        self.require_slice(stepped=any(s != 1 for s in steps), sized=sized)
        if self.version < 10:
            last = [min(e, INT64_MAX) for e in ends]
            return self.node("Slice", [x], dtype, axes=list(axes), starts=list(starts), ends=last)
        # Compilers of devices reject a Slice without axes.
        inputs = [x, self.constant(list(starts)), self.constant(list(ends))]
        inputs.append(self.constant(list(axes)))
        if any(s != 1 for s in steps):
            inputs.append(self.constant(list(steps)))
        return self.node("Slice", inputs, dtype)

    def slice_dynamic(
        self,
        x: ir.Value,
        dtype: ir.DataType,
        axis: int,
        start: ir.Value,
        end: ir.Value,
        step: int,
    ) -> ir.Value:
        """Add a Slice of one axis with bounds that are vectors of one element."""
        self.require_slice(stepped=step != 1, computed=True)
        inputs = [x, start, end, self.constant([axis])]
        if step != 1:
            inputs.append(self.constant([step]))
        return self.node("Slice", inputs, dtype)

    def pad(self, x: ir.Value, dtype: ir.DataType, amounts: ir.Value, fill: ir.Value) -> ir.Value:
        """Add a Pad with a constant; compilers of devices reject one without a mode."""
        return self.node("Pad", [x, amounts, fill], dtype, mode="constant")

    def transpose(self, x: ir.Value, dtype: ir.DataType, perm: Sequence[int]) -> ir.Value:
        """Add a Transpose, unless it moves nothing."""
        if list(perm) == list(range(len(perm))):
            return x
        return self.node("Transpose", [x], dtype, perm=list(perm))

    def axes(self, op: str, x: ir.Value, dtype: ir.DataType, axes: Sequence[int]) -> ir.Value:
        """Add a Squeeze or an Unsqueeze, unless ``axes`` is empty."""
        if not axes:
            return x
        if self.version < 13:
            return self.node(op, [x], dtype, axes=list(axes))
        return self.node(op, [x, self.constant(list(axes))], dtype)

    def reduce(self, op: str, x: ir.Value, dtype: ir.DataType, axis: int) -> ir.Value:
        """Add a ReduceMax, ReduceMin or ReduceSum of one axis, which is removed.

        A negative axis is never written: if a tensor is empty, ONNX Runtime does not reduce this
        axis.
        """
        if self.version < (13 if op == "ReduceSum" else 18):
            return self.node(op, [x], dtype, axes=[axis], keepdims=0)
        return self.node(op, [x, self.constant([axis])], dtype, keepdims=0)

    def order(self, x: ir.Value, count: ir.Value, axis: int) -> ir.Value:
        """Add a TopK that sorts int64 along an axis of ``count`` elements; return their positions.

        It sorts in ascending order from operator set 11 on.
        """
        return self._top(x, ir.DataType.INT64, count, axis, largest=False)[1]

    def extreme(self, x: ir.Value, dtype: ir.DataType, axis: int, *, largest: bool) -> ir.Value:
        """Add a TopK of the largest or the smallest element along an axis, which is removed."""
        found, _ = self._top(x, dtype, self.constant([1]), axis, largest=largest)
        return self.axes("Squeeze", found, dtype, [axis])

    def _top(
        self, x: ir.Value, dtype: ir.DataType, count: ir.Value, axis: int, *, largest: bool
    ) -> tuple[ir.Value, ir.Value]:
        values, places = [
            ir.Value(name=self.new_name("TopK"), type=ir.TensorType(kind))
            for kind in (dtype, ir.DataType.INT64)
        ]
        attributes = [
            ir.AttrInt64("axis", axis),
            ir.AttrInt64("largest", int(largest)),
            ir.AttrInt64("sorted", 1),
        ]
        inputs = [self.resolve(x), self.resolve(count)]
        node = ir.Node("", "TopK", inputs, attributes, outputs=[values, places], name=values.name)
        node.metadata_props.update(self.metadata)
        self.insert(node)
        return values, places

    def concat(self, parts: Sequence[ir.Value], dtype: ir.DataType, axis: int) -> ir.Value:
        """Add a Concat, unless there is one part."""
        if len(parts) == 1:
            return parts[0]
        return self.node("Concat", list(parts), dtype, axis=axis)

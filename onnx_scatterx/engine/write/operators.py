"""Operators with several inputs or attributes, in the newest spelling."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from onnx_scatterx.text import Reason, refuse_unless


class Operators(ABC):
    """Writes operators by ``node``, which spells them as the ``version`` of the set wants them."""

    version: int
    most_rows = 1 << 16
    """Rows of an image for GridSample: in so many, no rounding reaches a quarter of a row."""

    @abstractmethod
    def node(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        dtype: ir.DataType | None,
        **attributes: int | float | str | Sequence[int],
    ) -> ir.Value:
        """Write a node with one output of an element type."""

    @abstractmethod
    def constant(
        self, array: np.ndarray | Sequence[int], dtype: ir.DataType | None = None
    ) -> ir.Value:
        """Return a constant; int64 if nothing else is said."""

    def cast(self, x: ir.Value, dtype: ir.DataType, to: ir.DataType) -> ir.Value:
        """Add a Cast from one element type to another, unless they are the same."""
        return x if dtype == to else self.node("Cast", [x], to, to=to.value)

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
        # ONNX's shape inference gives a Slice of version 10 the symbol of the axis that it cuts.
        # ONNX Runtime then lets tensors of unlike lengths share a buffer.
        why = "Slice of an axis of unknown size needs operator set 11"
        refuse_unless(sized or self.version != 10, Reason.OPSET, why)
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
        return self.node(op, [x, self.constant(list(axes))], dtype)

    def reduce(
        self, op: str, x: ir.Value, dtype: ir.DataType, axis: int, *, keeps: bool = False
    ) -> ir.Value:
        """Add a ReduceMax, ReduceMin or ReduceSum of one axis, which is removed, or kept as 1.

        A negative axis is never written: if a tensor is empty, ONNX Runtime does not reduce this
        axis.
        """
        return self.node(op, [x, self.constant([axis])], dtype, keepdims=int(keeps))

    def concat(self, parts: Sequence[ir.Value], dtype: ir.DataType, axis: int) -> ir.Value:
        """Add a Concat, unless there is one part."""
        if len(parts) == 1:
            return parts[0]
        return self.node("Concat", list(parts), dtype, axis=axis)

    def sampled_rows(self, image: ir.Value, rows: ir.Value, height: int) -> ir.Value:
        """Add a GridSample that reads rows of an image of floats; each row is the nearest pixel.

        The image is [1, C, height, 1], ``rows`` has each row number twice, [1, n, 1, 2], and the
        result is [1, C, n, 1]. Row r is at the coordinate (2 r + 1) / height - 1 (``align_corners``
        is 0), the only column at 0. A pixel is copied, so NaNs and zeros keep their bits.
        ``height`` is at most ``most_rows``.
        """
        dtype = ir.DataType.FLOAT
        for op, number in (("Mul", 2 / height), ("Add", 1 / height - 1)):
            column_and_row = np.array([0, number], np.float32).reshape(1, 1, 1, 2)
            rows = self.node(op, [rows, self.constant(column_and_row, dtype)], dtype)
        return self.node(
            "GridSample",
            [image, rows],
            dtype,
            mode="nearest",
            padding_mode="zeros",
            align_corners=0,
        )

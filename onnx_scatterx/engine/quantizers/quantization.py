"""How integers stand for floats, and nodes that only move elements, past which quantizers go.

    x = (q - zero_point) * scale        q = clip(round(x / scale) + zero_point)

With one scale and zero point, the second undoes the first, if no product overflows or is denormal:
with ``n = q - zero_point`` and a unit roundoff ``u`` of the floats, ``x / scale`` is ``n``
with a relative error below ``3 u``, which rounds to ``n`` if ``3 u |n| < 1/2``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope
from onnx_scatterx.engine.lift import Scatter, is_scatter, lift_scatter
from onnx_scatterx.engine.terms import coord
from onnx_scatterx.graphs import attribute_of, perm_of
from onnx_scatterx.operators import described, element_type

_DOMAINS = ("", "com.microsoft")
_INTEGERS = {ir.DataType.INT8, ir.DataType.UINT8, ir.DataType.INT16, ir.DataType.UINT16}
_FLOATS = {ir.DataType.FLOAT, ir.DataType.FLOAT16}
QUANTIZERS = ("QuantizeLinear", "DequantizeLinear")
_OF_BLOCKS_AND_OTHERS = ("block_size", "precision")  # 0 if they say nothing

QUANTIZED = "onnx_scatterx.quantized"
"""In the ``meta`` of a scatter: the type of the integers that it writes, or why it writes none."""

Arrays = Callable[[ir.Value], "np.ndarray | None"]
"""Gives the array that a value is in every run, or None."""


@dataclass(frozen=True)
class Quantization:
    """Integers of a type, and their scale and zero point: of the whole tensor, or of an ``axis``.

    ``axis`` is as in the node: a negative one counts from the end. ``scale`` and ``zero_point``
    are bytes, so that equal ones compare equal.
    """

    integers: ir.DataType
    floats: ir.DataType
    scale: bytes
    zero_point: bytes
    axis: int | None

    @property
    def scales(self) -> np.ndarray:
        """The scale, or that of each channel."""
        return np.frombuffer(self.scale, self.floats.numpy())

    @property
    def zero_points(self) -> np.ndarray:
        """The zero point, or that of each channel."""
        return np.frombuffer(self.zero_point, self.integers.numpy())

    @property
    def is_exact(self) -> bool:
        """Whether QuantizeLinear restores every integer after DequantizeLinear."""
        kind, bounds = np.finfo(self.floats.numpy()), np.iinfo(self.integers.numpy())
        scales = self.scales.astype(np.float64)
        points = self.zero_points.astype(np.int64)
        if not np.isfinite(scales).all() or not (scales >= float(kind.smallest_normal)).all():
            return False
        span = np.maximum(bounds.max - points, points - bounds.min)
        roundoff = float(kind.eps) / 2
        fits = span * scales * (1 + 2 * roundoff) < float(kind.max)
        return bool(fits.all() and (3 * roundoff * span < 0.5).all())

    def quantized(self, array: np.ndarray) -> np.ndarray | None:
        """Return the QuantizeLinear of a constant; None if only the runtime computes it.

        It is known for finite float32, and for one scale for the whole tensor.
        """
        known = self.axis is None and array.dtype == np.float32 == self.floats.numpy()
        if not known or not np.isfinite(array).all():
            return None
        bounds, point = np.iinfo(self.integers.numpy()), int(self.zero_points[0])
        with np.errstate(over="ignore"):
            rounded = np.rint(array / self.scales[0])
        # Clipped as a float first: an infinite quotient is not an integer.
        held = np.clip(rounded, bounds.min - point, bounds.max - point).astype(np.int64)
        return np.asarray(held + point, self.integers.numpy())

    def dequantized(self, array: np.ndarray) -> np.ndarray:
        """Return the DequantizeLinear of integers, for one scale."""
        centred = array.astype(np.int64) - int(self.zero_points[0])
        return np.asarray(centred.astype(np.float32) * self.scales[0], self.floats.numpy())


def is_quantizer(node: ir.Node | None, *ops: str) -> bool:
    """Return whether a node is one of these of QUANTIZERS."""
    return node is not None and node.op_type in ops and node.domain in _DOMAINS


def quantization_of(
    node: ir.Node, arrays: Arrays, read_type: ir.DataType | None
) -> Quantization | None:
    """Return the parameters of a quantizer node; None if they are not known, or in blocks.

    ``read_type`` is the element type of its first input.
    """
    if not is_quantizer(node, *QUANTIZERS) or any(a.is_ref() for a in node.attributes.values()):
        return None
    if any(attribute_of(node, name, 0) for name in _OF_BLOCKS_AND_OTHERS) or len(node.inputs) < 2:
        return None
    scale = None if node.inputs[1] is None else arrays(node.inputs[1])
    if scale is None or scale.ndim > 1 or not scale.size:
        return None
    floats = ir.DataType.from_numpy(scale.dtype)
    value = node.inputs[2] if len(node.inputs) > 2 else None
    zero = None if value is None else arrays(value)
    if value is not None and (zero is None or zero.size != scale.size or zero.ndim > 1):
        return None
    stated = element_type(attribute_of(node, "output_dtype", 0))
    is_quantize = node.op_type == "QuantizeLinear"
    integers = read_type
    if is_quantize:
        integers = stated or ir.DataType.UINT8
        integers = integers if zero is None else ir.DataType.from_numpy(zero.dtype)
    elif stated not in (ir.DataType.UNDEFINED, floats):
        return None
    if integers not in _INTEGERS or floats not in _FLOATS or (is_quantize and read_type != floats):
        return None
    if zero is None:
        zero = np.zeros(scale.size, integers.numpy())
    if ir.DataType.from_numpy(zero.dtype) != integers:
        return None
    axis = attribute_of(node, "axis", 1) if scale.size > 1 else None
    return Quantization(integers, floats, scale.tobytes(), zero.tobytes(), axis)


def operands_of(node: ir.Node) -> list[int]:
    """Return the places of the inputs that a node moves; none if it moves no elements.

    A scatter with a reduction is treated as one without.
    """
    row = described(node)
    return row.moved(len(node.inputs)) if row.carries_scale else []


def moves_input(node: ir.Node, input_index: int) -> bool:
    """Return whether a node moves the elements of an input."""
    row = described(node)
    return row.carries_scale and input_index in row.moves


def whole_axes(node: ir.Node, input_index: int, scope: Scope) -> list[int]:
    """Return, for each axis of the output, the axis of an input whose coordinate it keeps.

    -1 if there is no such axis, an empty list if nothing is known.
    """
    rank = scope.of(node.inputs[input_index]).rank
    if rank is None or scope.of(node.outputs[0]).rank is None:
        return []
    straight = list(range(rank))
    if node.op_type == "Transpose":
        return list(perm_of(node, rank) or ())
    if node.op_type == "Concat":
        along = node.attributes["axis"].as_int() % max(rank, 1)
        return [-1 if d == along else d for d in straight]
    if node.op_type == "Identity" or (is_scatter(node) and input_index == 0):
        return straight
    scatter = lift_scatter(node, scope) if is_scatter(node) else None
    if not isinstance(scatter, Scatter):
        return []
    coords = [coord(d) for d in range(len(scatter.shape))]
    return [coords.index(t) if t in coords else -1 for t in scatter.index_exprs]

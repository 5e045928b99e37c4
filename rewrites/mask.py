"""A write to where a mask is true is a Where.

    before   y = ScatterND(x, Transpose(NonZero(m)), v for every true element)
    after    y = Where(m, v, x)

Holds if the indices are the coordinates of all true elements of a mask, in order, and the mask has
the shape of the data's leading axes. The updates must be in that order too: one value, a vector
over trailing axes that the mask does not depend on, or the elements of another tensor under the
same mask, or under one that this mask repeats. The n-th true element of such a mask has the
trailing position ``n mod (size of the trailing axes)``.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.emit.reduce import reduced, reducers
from onnx_scatterx.emit.select import select
from onnx_scatterx.ir.graphs import made_by
from onnx_scatterx.lift.lift_scatter import Scatter
from onnx_scatterx.lowering.rule import Context, Plan, ScatterRule
from onnx_scatterx.rewrites.helpers.masks import (
    Mask,
    Masked,
    fitting,
    mask_under,
    masked,
    placed,
    row_of,
)
from onnx_scatterx.text.reasons import Reason, Refusal

_BOOL = ir.DataType.BOOL
_WHOLE = ("Reshape", "Identity", "Flatten")  # all elements, in their order


class MaskRule(ScatterRule):
    """Rewrites masked writes."""

    name = "mask"

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        found = masked(scatter, context)
        if found is None or not _is_leading(found):
            return Refusal(Reason.NO_RULE)
        depth = len(found.axes)
        updates = _in_order(scatter, found.mask, depth, context)
        if updates is None:
            return Refusal(Reason.UNKNOWN_INDICES, "whether the updates are in the mask's order")
        rank = context.provenance.abstract(updates).rank
        if rank is None or rank > len(scatter.data_shape):
            return Refusal(Reason.UNKNOWN_RANK, "the updates have more dims than the data")
        w, dtype = context.writer, scatter.dtype
        ops = reducers(w, scatter.reduction, dtype)

        def write() -> ir.Value:
            chosen = _condition(found, context)
            new = reduced(w, ops, scatter.data, updates, dtype)
            return select(w, chosen, new, scatter.data, dtype)

        return Plan(write)


def _is_leading(found: Masked) -> bool:
    """Return whether a mask covers the leading axes, in their order, and counts dim 0.

    It counts that dim if the other dims run along the other axes.
    """
    trailing = [(c, c - len(found.axes) + 1) for c, _ in found.others]
    return list(found.axes) == list(range(len(found.axes))) and list(found.others) == trailing


def _in_order(scatter: Scatter, mask: Mask, depth: int, context: Context) -> ir.Value | None:
    """Return a tensor that broadcasts to the data and equals the updates where the mask is true."""
    value = scatter.updates
    while True:
        if context.constants.splat(value) is not None and _unit(value, context) is not None:
            return value
        node = value.producer()
        if node is None or node.domain != "" or not node.inputs:
            return None
        (first, *_) = node.inputs
        if first is None:
            return None
        if node.op_type in ("Reshape", "Identity", "Flatten", "Unsqueeze", "Squeeze"):
            value = first  # the order of the elements is kept
        elif node.op_type == "Expand":
            if _unit(first, context) is not None:
                return first
            if _vector(scatter, mask, depth, node, context):
                return first
            value = first  # as many elements as there are updates
            if not _is_read(value, _WHOLE):
                return None
        elif node.op_type == "Slice" and is_head(node, context):
            value = first
            if not _is_read(value, (*_WHOLE, "Slice")):
                return None
        elif node.op_type == "GatherND":
            return first if _same_mask(node, scatter, mask, context) else None
        else:
            return None


def _unit(value: ir.Value, context: Context) -> ir.Value | None:
    shape = context.provenance.abstract(value).static_shape
    return value if shape is not None and math.prod(shape) == 1 else None


def _is_read(value: ir.Value | None, through: tuple[str, ...]) -> bool:
    """Return whether a value is the result of a GatherND, behind these operators."""
    while (node := made_by(value, *through)) is not None:
        (value, *_) = node.inputs
    return made_by(value, "GatherND") is not None


def is_head(node: ir.Node, context: Context) -> bool:
    """Return whether a Slice takes the first elements of a vector."""
    starts = node.inputs[1] if len(node.inputs) > 1 else None
    known = None if starts is None else context.provenance.abstract(starts).constant
    steps = node.inputs[4] if len(node.inputs) > 4 else None
    unit = steps is None or _all_equal(context.provenance.abstract(steps).constant, 1)
    first = node.inputs[0]
    rank = None if first is None else context.provenance.abstract(first).rank
    return rank == 1 and unit and _all_equal(known, 0)


def _all_equal(known: np.ndarray | None, number: int) -> bool:
    return known is not None and bool((known == number).all())


def _vector(scatter: Scatter, mask: Mask, depth: int, node: ir.Node, context: Context) -> bool:
    """Return whether an Expand repeats a tensor over trailing axes where the mask is constant."""
    value = node.inputs[0]
    shape = None if value is None else context.provenance.abstract(value).shape
    whole = context.provenance.abstract(node.outputs[0]).shape
    if shape is None or whole is None:
        return False
    while shape and shape[0].constant == 1:
        shape = shape[1:]
    tail = len(shape)
    rank = len(scatter.data_shape)
    if len(whole) != tail + 1 or tail > rank or mask.abstract.index_map is None:
        return False
    wanted = scatter.data_shape[rank - tail :]
    if not all(scatter.facts.equal(a, b) for a, b in zip(whole[1:], wanted, strict=True)):
        return False
    repeated = range(rank - tail, depth)
    if not all(scatter.facts.equal(mask.shape[d], scatter.data_shape[d]) for d in repeated):
        return False
    return mask.abstract.index_map.coords.isdisjoint(repeated)


def _same_mask(node: ir.Node, scatter: Scatter, mask: Mask, context: Context) -> bool:
    """Return whether a GatherND reads a tensor like the data where the same mask is true."""
    source, indices = node.inputs[0], node.inputs[1]
    batched = node.attributes.get("batch_dims")
    if source is None or indices is None:
        return False
    if batched is not None and (batched.is_ref() or batched.as_int()):
        return False
    read = context.provenance.abstract(source)
    rows = context.provenance.abstract(indices)
    if read.shape is None or rows.shape is None or rows.index_map is None:
        return False
    if len(read.shape) != len(scatter.data_shape) or len(rows.shape) != 2:
        return False
    if not all(
        scatter.facts.equal(a, b) for a, b in zip(read.shape, scatter.data_shape, strict=True)
    ):
        return False
    columns = rows.shape[1].constant
    if columns is None or not 0 < columns <= len(mask.shape):
        return False
    origins = set()
    for c in range(columns):
        row = row_of(rows.index_map.at({1: c}))
        if row is None or row[1:] != (c, 0):
            return False
        origins.add(row[0].origin)
    other = mask_under(origins.pop(), context) if len(origins) == 1 else None
    if other is None or len(other.shape) != columns:
        return False
    if not scatter.facts.equal(rows.shape[0], other.count):
        return False
    return _is_repeated(other, mask, scatter)


def _is_repeated(other: Mask, mask: Mask, scatter: Scatter) -> bool:
    """Return whether a mask is another one, repeated over the other axes of the data.

    Then its true elements are those of the other one, each repeated for all the data behind it.
    """
    if other.value is mask.value:
        return True
    depth, equal = len(other.shape), scatter.facts.equal
    index_map = mask.abstract.index_map
    if index_map is None or other.abstract.index_map is not index_map:
        return False
    if not all(map(equal, other.shape, mask.shape)):
        return False
    repeated = range(depth, len(mask.shape))
    whole = all(equal(mask.shape[d], scatter.data_shape[d]) for d in repeated)
    return whole and index_map.coords.isdisjoint(repeated)


def _condition(found: Masked, context: Context) -> ir.Value:
    """Write the mask for the data: if it was only broadcast, as it was before that."""
    w, node = context.writer, made_by(found.mask.value, "Expand")
    first = node.inputs[0] if found.fits and not found.others and node is not None else None
    if first is None:
        return placed(fitting(found, context), _BOOL, found, context, [c for c, _ in found.others])
    if found.mask.abstract.dtype == _BOOL:
        return first
    return w.node("Cast", [first], _BOOL, to=_BOOL.value)


mask = MaskRule()

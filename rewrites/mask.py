"""A write to where a mask is true is a Where.

    before   y = ScatterND(x, Transpose(NonZero(m)), v for every true element)
    after    y = Where(m, v, x)

Holds where the indices are the coordinates of all true elements of a mask, which has the shape of
the data's leading axes, in order, and the updates are in that order too: one value, a vector over
trailing axes that the mask does not depend on, or the elements of another tensor under the same
mask. The n-th true element of such a mask has the trailing position ``n mod (size of the trailing
axes)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnx_scatterx.emit.select import select, select_cost
from onnx_scatterx.indexing.abstract import Abstract
from onnx_scatterx.indexing.terms import Leaf, Term, as_term, coord, term
from onnx_scatterx.lift import Scatter
from onnx_scatterx.reasons import Reason, Refusal
from onnx_scatterx.rewrites.rule import Context, Rewriting, ScatterRule

_REDUCED = {"add": "Add", "mul": "Mul"}


@dataclass(frozen=True)
class _Mask:
    """A boolean (or numeric) tensor over the leading axes of the data."""

    value: ir.Value
    abstract: Abstract


class MaskRule(ScatterRule):
    """Rewrites masked writes."""

    name = "mask"

    def plan(self, scatter: Scatter, context: Context) -> Rewriting | Refusal:
        depth = sum(d is None for d in _trailing(scatter))
        mask = _mask_of(scatter, depth, context)
        if mask is None:
            return Refusal(Reason.NO_RULE)
        assert mask.abstract.shape is not None
        facts = scatter.facts
        pairs = list(zip(mask.abstract.shape, scatter.data_shape, strict=False))
        if len(mask.abstract.shape) != depth or not all(facts.equal(a, b) for a, b in pairs):
            return Refusal(Reason.UNKNOWN_BOUNDS, "whether the mask has the shape of the data")
        updates = _in_order(scatter, mask, depth, context)
        if updates is None:
            return Refusal(Reason.UNKNOWN_INDICES, "whether the updates are in the mask's order")
        rank = context.provenance.abstract(updates).rank
        if rank is None or rank > len(scatter.data_shape):
            return Refusal(Reason.UNKNOWN_RANK, "what is written has more dims than the data")
        w, dtype = context.writer, scatter.dtype
        reduced = _REDUCED.get(scatter.reduction)
        if scatter.reduction != "none" and reduced is None:
            return Refusal(Reason.NO_RULE)
        if reduced is not None:
            w.require(reduced, dtype)
        keeps_zeros = reduced is None and context.fills.has_no_negative_zero(updates)
        condition, is_bool = _condition(mask, scatter, depth)
        added = len(scatter.data_shape) - depth
        cost = select_cost(w, dtype, keeps_zeros=keeps_zeros)
        cost += bool(added) + (reduced is not None) + (not is_bool)

        def write() -> ir.Value:
            chosen = condition
            if not is_bool:
                chosen = w.node("Cast", [chosen], ir.DataType.BOOL, to=ir.DataType.BOOL.value)
            if added:
                axes = [depth + d for d in range(added)]
                chosen = w.axes("Unsqueeze", chosen, ir.DataType.BOOL, axes)
            new = updates
            if reduced is not None:
                new = w.node(reduced, [scatter.data, updates], dtype)
            return select(w, chosen, new, scatter.data, dtype, keeps_zeros=keeps_zeros)

        return Rewriting(cost, (condition, updates, scatter.data), write)


def _trailing(scatter: Scatter) -> list[int | None]:
    """Return for each axis the dim of the updates that it runs along, None for indexed axes."""
    found: list[int | None] = []
    for axis, target in enumerate(scatter.targets):
        dim = axis - len(scatter.targets) + len(scatter.shape)
        found.append(dim if dim >= 0 and target is coord(dim) else None)
    return found


def _mask_of(scatter: Scatter, depth: int, context: Context) -> _Mask | None:
    """Return the mask whose true elements the indices are, in order."""
    if len(scatter.shape) != 1 + len(scatter.data_shape) - depth or not depth:
        return None
    sources = set()
    for c, target in enumerate(scatter.targets[:depth]):
        (atom,) = target.atoms if len(target.atoms) == 1 else (None,)
        if not isinstance(atom, Leaf) or target is not _row(atom, c):
            return None
        sources.add(atom.source)
    if len(sources) != 1:
        return None
    return mask_under(sources.pop(), context)


def _row(atom: Leaf, c: int) -> Term | None:
    """Return the term for row c of a NonZero at update x0 where the atom is that, else None."""
    return as_term(atom) if atom.parts == (term(c), coord(0)) else None


def mask_under(source: object, context: Context) -> _Mask | None:
    """Return the mask that a NonZero counts, given the source of its elements."""
    value = source[1] if isinstance(source, tuple) and len(source) == 2 else None
    node = value.producer() if isinstance(value, ir.Value) else None
    if node is None or node.op_type != "NonZero" or node.graph is not context.provenance.graph:
        return None
    (mask,) = node.inputs
    if mask is None or context.provenance.abstract(mask).shape is None:
        return None
    return _Mask(mask, context.provenance.abstract(mask))


def _in_order(scatter: Scatter, mask: _Mask, depth: int, context: Context) -> ir.Value | None:
    """Return a tensor that broadcasts to the data and agrees with the updates under the mask."""
    value = scatter.updates
    while True:
        if context.fills.fill(value) is not None and _unit(value, context) is not None:
            return value
        node = value.producer()
        if node is None or node.domain not in ("", "ai.onnx") or not node.inputs:
            return None
        (first, *_) = node.inputs
        if first is None:
            return None
        if node.op_type in ("Reshape", "Identity", "Flatten", "Unsqueeze", "Squeeze"):
            value = first  # the order of the elements stays
        elif node.op_type == "Expand":
            if _unit(first, context) is not None:
                return first
            if _vector(scatter, mask, depth, node, context):
                return first
            value = first  # what is counted has as many elements as there are updates
            if not _is_copied(value):
                return None
        elif node.op_type == "Slice" and _is_head(node, context):
            value = first
            if not _is_copied(value):
                return None
        elif node.op_type == "GatherND":
            return first if _same_mask(node, scatter, mask, context) else None
        else:
            return None


def _unit(value: ir.Value, context: Context) -> ir.Value | None:
    shape = context.provenance.abstract(value).static_shape
    return value if shape is not None and math.prod(shape) == 1 else None


def _is_copied(value: ir.Value) -> bool:
    """Return whether a value is, but for its shape, what a GatherND read."""
    node = value.producer()
    while node is not None and node.op_type in ("Reshape", "Identity", "Flatten", "Slice"):
        (first, *_) = node.inputs
        node = None if first is None else first.producer()
    return node is not None and node.op_type == "GatherND"


def _is_head(node: ir.Node, context: Context) -> bool:
    """Return whether a Slice takes the first elements of a vector."""
    starts = node.inputs[1] if len(node.inputs) > 1 else None
    known = None if starts is None else context.provenance.abstract(starts).known
    steps = node.inputs[4] if len(node.inputs) > 4 else None
    unit = steps is None or _all_equal(context.provenance.abstract(steps).known, 1)
    first = node.inputs[0]
    rank = None if first is None else context.provenance.abstract(first).rank
    return rank == 1 and unit and _all_equal(known, 0)


def _all_equal(known: np.ndarray | None, number: int) -> bool:
    return known is not None and bool((known == number).all())


def _vector(scatter: Scatter, mask: _Mask, depth: int, node: ir.Node, context: Context) -> bool:
    """Return whether an Expand repeats a tensor over trailing axes that the mask is constant on."""
    value = node.inputs[0]
    shape = None if value is None else context.provenance.abstract(value).shape
    whole = context.provenance.abstract(node.outputs[0]).shape
    if shape is None or whole is None:
        return False
    while shape and shape[0].constant == 1:
        shape = shape[1:]
    tail = len(shape)
    rank = len(scatter.data_shape)
    if len(whole) != tail + 1 or tail > rank or mask.abstract.formula is None:
        return False
    wanted = scatter.data_shape[rank - tail :]
    if not all(scatter.facts.equal(a, b) for a, b in zip(shape, wanted, strict=True)):
        return False
    if not all(scatter.facts.equal(a, b) for a, b in zip(whole[1:], wanted, strict=True)):
        return False
    return mask.abstract.formula.coords.isdisjoint(range(rank - tail, depth))


def _same_mask(node: ir.Node, scatter: Scatter, mask: _Mask, context: Context) -> bool:
    """Return whether a GatherND reads a tensor like the data where the same mask is true."""
    source, indices = node.inputs[0], node.inputs[1]
    batched = node.attributes.get("batch_dims")
    if source is None or indices is None or (batched is not None and batched.value):
        return False
    read = context.provenance.abstract(source)
    rows = context.provenance.abstract(indices)
    if read.shape is None or rows.shape is None or rows.formula is None:
        return False
    if len(read.shape) != len(scatter.data_shape) or len(rows.shape) != 2:
        return False
    if not all(
        scatter.facts.equal(a, b) for a, b in zip(read.shape, scatter.data_shape, strict=True)
    ):
        return False
    assert mask.abstract.shape is not None
    if rows.shape[1] != len(mask.abstract.shape):
        return False
    sources = set()
    for c in range(len(mask.abstract.shape)):
        column = rows.formula.at({1: c})
        (atom,) = column.atoms if len(column.atoms) == 1 else (None,)
        if not isinstance(atom, Leaf) or column is not _row(atom, c):
            return False
        sources.add(atom.source)
    other = mask_under(sources.pop(), context) if len(sources) == 1 else None
    if other is None or other.abstract.shape is None:
        return False
    if other.value is mask.value:
        return True
    same = other.abstract.formula is not None and other.abstract.formula is mask.abstract.formula
    shapes = zip(other.abstract.shape, mask.abstract.shape, strict=False)
    return (
        same
        and len(other.abstract.shape) == len(mask.abstract.shape)
        and all(scatter.facts.equal(a, b) for a, b in shapes)
    )


def _condition(mask: _Mask, scatter: Scatter, depth: int) -> tuple[ir.Value, bool]:
    """Return the mask, before it was broadcast where that is all, and whether it is boolean."""
    value = mask.value
    node = value.producer()
    if depth == len(scatter.data_shape) and node is not None and node.op_type == "Expand":
        (first, *_) = node.inputs
        if first is not None:
            value = first
    return value, mask.abstract.dtype == ir.DataType.BOOL


mask = MaskRule()

"""Reads by a mask: nodes that take the elements of a tensor where a mask is true, in order.

    z[m]    GatherND(z, Transpose(NonZero(m)))
            Gather(Flatten(z, axis=2), NonZero(m)[0] * z.shape[1] + NonZero(m)[1])

The mask may have fewer dims than the tensor: then rows are taken.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.ir.graphs import made_by
from onnx_scatterx.optimizer.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.optimizer.lift.lift_scatter import Scatter
from onnx_scatterx.optimizer.lowering.rule import Context
from onnx_scatterx.optimizer.symbolic.terms import Symbol, as_term, term
from onnx_scatterx.rewrites.helpers.masks import Mask, mask_under, row_of

_Read = tuple[ir.Value, list[Symbol]]
"""A tensor, and the rows of a NonZero by which it is read, in the order of its leading axes."""


def read_by_mask(
    node: ir.Node, shape: Shape, scatter: Scatter, mask: Mask, context: Context
) -> ir.Value | None:
    """Return the tensor of a shape that a node reads where the mask of a scatter is true.

    It is read by this mask, or by one that this mask repeats over more axes.
    """
    indices, equal = node.inputs[1], scatter.facts.equal
    rows = None if indices is None else context.provenance.abstract(indices)
    if rows is None or rows.shape is None or rows.index_map is None:
        return None
    read = (_by_position if node.op_type == "Gather" else _by_rows)(node, rows, scatter, context)
    if read is None:
        return None
    source, symbols = read
    own = context.provenance.abstract(source).shape
    if own is None or len(own) != len(shape) or not all(map(equal, own, shape)):
        return None
    origins = {symbol.origin for symbol in symbols}
    other = mask_under(origins.pop(), context) if len(origins) == 1 else None
    if other is None or len(other.shape) != len(symbols) or not equal(rows.shape[0], other.count):
        return None
    return source if _is_repeated(other, mask, scatter) else None


def _by_rows(node: ir.Node, rows: TensorValue, scatter: Scatter, context: Context) -> _Read | None:
    """Return what a GatherND reads."""
    source, batched = node.inputs[0], node.attributes.get("batch_dims")
    if source is None or (batched is not None and (batched.is_ref() or batched.as_int())):
        return None
    columns = rows.shape[1].constant if rows.shape is not None and len(rows.shape) == 2 else None
    if columns is None or columns < 1 or rows.index_map is None:
        return None
    if columns > len(scatter.data_shape):
        return None
    found = [row_of(rows.index_map.at({1: c})) for c in range(columns)]
    if any(row is None or row[1:] != (c, 0) for c, row in enumerate(found)):
        return None
    return source, [row[0] for row in found if row is not None]


def _by_position(
    node: ir.Node, rows: TensorValue, scatter: Scatter, context: Context
) -> _Read | None:
    """Return what a Gather reads by positions in its leading axes, which were flattened.

    The position of element (a, b, c) of axes of A, B and C elements is (a * B + b) * C + c.
    """
    source, axis, equal = node.inputs[0], node.attributes.get("axis"), scatter.facts.equal
    if source is None or rows.index_map is None or (axis and (axis.is_ref() or axis.as_int())):
        return None
    given = [row_of(as_term(s)) for s in rows.index_map.atoms]
    found = sorted((row for row in given if row is not None), key=lambda row: row[1])
    if not found or [row[1:] for row in found] != [(r, 0) for r in range(len(found))]:
        return None
    flat = made_by(source, "Flatten", "Reshape") if len(found) > 1 else None
    whole = source if flat is None else flat.inputs[0]
    shape = None if whole is None else context.provenance.abstract(whole).shape
    lines = context.provenance.abstract(source).shape
    if whole is None or shape is None or lines is None or len(lines) + len(found) != len(shape) + 1:
        return None
    position = term(0)
    for symbol, r, _ in found:
        position = position * shape[r] + as_term(symbol)
    same = all(map(equal, lines[1:], shape[len(found) :]))
    if not same or not equal(position, rows.index_map):
        return None
    return whole, [symbol for symbol, *_ in found]


def _is_repeated(other: Mask, mask: Mask, scatter: Scatter) -> bool:
    """Return whether a mask is another one, repeated over the other axes of the data.

    Then its true elements are those of the other one, each repeated for all the data behind it.
    """
    if other.value is mask.value:
        return True
    depth, equal = len(other.shape), scatter.facts.equal
    index_map, data = mask.abstract.index_map, scatter.data_shape
    if index_map is None or other.abstract.index_map is not index_map:
        return False
    if depth > len(mask.shape) or not all(map(equal, other.shape, mask.shape)):
        return False
    repeated = range(depth, len(mask.shape))
    whole = all(equal(mask.shape[d], data[d]) for d in repeated)
    return whole and index_map.coords.isdisjoint(repeated)

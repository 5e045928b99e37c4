"""From a node to its scattering: the target of every update, as terms over its coordinates.

All four operators become one form: data, updates, a reduction, and for each axis of the data a
term ``t_c(I)`` over the coordinates ``x0, x1, ...`` of an update (the component of the
transformer). The checks of the operator at run time determine the shape of the updates from data
and indices.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

import onnx_ir as ir

from onnx_scatterx.analysis.domain.call import Call, UnknownAttributeError
from onnx_scatterx.analysis.domain.origins import ElementOf
from onnx_scatterx.analysis.domain.scope import Scope
from onnx_scatterx.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.analysis.domain.wraparound import without_wraparound
from onnx_scatterx.symbolic.prove import Facts
from onnx_scatterx.symbolic.simplify import simplify
from onnx_scatterx.symbolic.terms import Term, coord, element, modulo, term
from onnx_scatterx.text.reasons import Reason, Refusal, RefusedError

SCATTERS = {"Scatter", "ScatterElements", "ScatterND", "TensorScatter"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Access:
    """A node that takes the point I of one tensor to the point T(I) of its data.

    ``index_exprs[c]`` is the coordinate on axis c of ``data`` of the point ``x0, x1, ...`` of a
    tensor of ``shape`` (the updates of a scatter, the output of a gather). It is within ``0 ..
    S-1`` if its sign was proven (``nonnegative[c]``). ``index_dims`` are the dims of ``shape`` that
    the index tensor runs over. ``facts`` know the extents of the coordinates. If ``may_repeat``,
    two points may have one T(I). ``tensor_role`` is the name of the tensor of ``shape``.
    """

    may_repeat: ClassVar[bool] = False
    tensor_role: ClassVar[str] = "updates"

    node: ir.Node
    data: ir.Value
    indices: ir.Value | None
    dtype: ir.DataType
    data_shape: Shape
    shape: Shape
    index_exprs: tuple[Term, ...]
    nonnegative: tuple[bool, ...]
    index_dims: tuple[int, ...]
    facts: Facts


@dataclass(frozen=True, eq=False, kw_only=True)
class Scatter(Access):
    """A scatter node in canonical form: ``output[T(I)] = updates[I]``, under a reduction."""

    updates: ir.Value
    reduction: str


def is_scatter(node: ir.Node) -> bool:
    """Return whether a node is one of the four scatter operators."""
    return node.op_type in SCATTERS and node.domain == ""


def lift(node: ir.Node, scope: Scope) -> Scatter | Refusal:
    """Return a node in canonical form, or why it has none."""
    version = scope.opsets.get(node.domain, 0)
    inputs = [None if v is None else scope.values.get(v) for v in node.inputs]
    call = Call(node, inputs, version, scope.facts, scope.attributes, scope.visit_id)
    key = (lift, node, scope.visit_id, *node.inputs, *inputs)
    return scope.facts.memoised(key, lambda: _lifted(call, scope))


def _lifted(call: Call, scope: Scope) -> Scatter | Refusal:
    try:
        return _lift(call, scope)
    except RefusedError as error:
        return error.refusal
    except UnknownAttributeError as error:
        return Refusal(Reason.UNKNOWN_ATTRIBUTE, str(error))


def _lift(call: Call, scope: Scope) -> Scatter:
    op = call.node.op_type
    first = {"Scatter": (9, 10), "ScatterElements": (11, 99), "ScatterND": (11, 99)}
    oldest, newest = first.get(op, (24, 99))
    if not oldest <= call.version <= newest:
        raise RefusedError(Reason.OLD_OPERATOR, f"{op} in operator set {call.version}")
    data = input_of(call, 0)
    if op == "TensorScatter":
        return _tensor_scatter(call, data, scope)
    indices = input_of(call, 1)
    return (_scatter_nd if op == "ScatterND" else _scatter_elements)(call, data, indices, scope)


def input_of(call: Call, i: int) -> TensorValue:
    """Return the abstract value of an input of known rank, or refuse."""
    found = call.input(i)
    if found is None or found.shape is None:
        raise RefusedError(Reason.UNKNOWN_RANK, ("data", "indices", "updates")[i])
    return found


def value_of(call: Call, i: int) -> ir.Value:
    """Return a required input, or refuse."""
    value = call.node.inputs[i] if i < len(call.node.inputs) else None
    if value is None:
        raise RefusedError(Reason.INVALID, f"input {i} is absent")
    return value


def formula_of(call: Call, i: int, found: TensorValue) -> Term:
    """Return the elements of an input as one term; other contents are looked up in the input."""
    if found.index_map is not None:
        return found.index_map
    if found.shape is None:
        raise RefusedError(Reason.UNKNOWN_RANK, "indices")
    value = value_of(call, i)
    coords = [coord(d) for d in range(len(found.shape))]
    return element(ElementOf(call.scope, value), coords, name=value.name or "?")


def _axis(call: Call, default: int, rank: int) -> int:
    axis = call.integer("axis", default)
    if not -rank <= axis < rank:
        raise RefusedError(Reason.INVALID, f"axis {axis} for data of rank {rank}")
    return axis % rank


def _scatter_nd(call: Call, data: TensorValue, indices: TensorValue, scope: Scope) -> Scatter:
    assert data.shape is not None
    assert indices.shape is not None
    depth = indices.shape[-1].constant if indices.shape else None
    if depth is None:
        raise RefusedError(Reason.UNKNOWN_RANK, "how many axes the indices name")
    if depth > len(data.shape) or depth == 0:
        raise RefusedError(Reason.INVALID, f"indices name {depth} axes of rank {len(data.shape)}")
    index_rank = len(indices.shape) - 1
    shape = (*indices.shape[:-1], *data.shape[depth:])
    columns = [
        found
        if (found := indices.column(c)) is not None
        else formula_of(call, 1, indices).at({index_rank: c})
        for c in range(depth)
    ]
    targets = [*columns, *(coord(index_rank + c) for c in range(len(data.shape) - depth))]
    return _scatter(call, scope, data, 1, 2, shape, targets, range(index_rank), range(depth))


def _scatter_elements(call: Call, data: TensorValue, indices: TensorValue, scope: Scope) -> Scatter:
    assert data.shape is not None
    assert indices.shape is not None
    rank = len(data.shape)
    if len(indices.shape) != rank:
        raise RefusedError(Reason.INVALID, f"indices of rank {len(indices.shape)}, data of {rank}")
    axis = _axis(call, 0, rank)
    formula = formula_of(call, 1, indices)
    targets = [formula if c == axis else coord(c) for c in range(rank)]
    named = range(axis, axis + 1)
    return _scatter(call, scope, data, 1, 2, indices.shape, targets, range(rank), named)


def _tensor_scatter(call: Call, data: TensorValue, scope: Scope) -> Scatter:
    update = input_of(call, 1)
    assert data.shape is not None
    assert update.shape is not None
    rank = len(data.shape)
    axis = _axis(call, -2, rank)
    if axis == 0 or len(update.shape) != rank:
        raise RefusedError(Reason.INVALID, "axis 0 is the batch, and ranks must agree")
    starts = call.input(2)
    start = term(0)
    if starts is not None:
        start = formula_of(call, 2, starts)
    target = start + coord(axis)
    if call.string("mode", "linear") == "circular":
        target = modulo(target, data.shape[axis])
    # The operator checks that the other dims agree.
    shape = tuple(
        u if d == axis else s for d, (u, s) in enumerate(zip(update.shape, data.shape, strict=True))
    )
    targets = [target if c == axis else coord(c) for c in range(rank)]
    return _scatter(call, scope, data, 2, 1, shape, targets, range(rank), range(axis, axis + 1))


def _scatter(
    call: Call,
    scope: Scope,
    data: TensorValue,
    indices_at: int,
    updates_at: int,
    shape: Shape,
    targets: list[Term],
    index_dims: range,
    named: range,
) -> Scatter:
    assert data.shape is not None
    updates = value_of(call, updates_at)
    dtype = data.dtype or updates.dtype
    if dtype is None:
        raise RefusedError(Reason.UNKNOWN_TYPE)
    targets = [without_wraparound(t, scope) if c in named else t for c, t in enumerate(targets)]
    found, signs, facts = settled(call.facts, data.shape, shape, targets, named)
    has_indices = indices_at < len(call.node.inputs)
    return Scatter(
        node=call.node,
        data=value_of(call, 0),
        indices=call.node.inputs[indices_at] if has_indices else None,
        updates=updates,
        dtype=dtype,
        data_shape=data.shape,
        shape=shape,
        index_exprs=found,
        nonnegative=signs,
        index_dims=tuple(index_dims),
        reduction=call.string("reduction", "none"),
        facts=facts,
    )


def settled(
    known: Facts,
    data_shape: Shape,
    shape: Shape,
    targets: Sequence[Term],
    named: Collection[int],
) -> tuple[tuple[Term, ...], tuple[bool, ...], Facts]:
    """Return targets, simplified and counted from the start if that is proven; signs; facts.

    ``named`` are the axes on which a negative target counts from the end.
    """
    key = "settled", data_shape, shape, tuple(targets), tuple(named)
    return known.memoised(key, lambda: _settled(known, data_shape, shape, targets, named))


def _settled(
    known: Facts,
    data_shape: Shape,
    shape: Shape,
    targets: Sequence[Term],
    named: Collection[int],
) -> tuple[tuple[Term, ...], tuple[bool, ...], Facts]:
    extents = dict(enumerate(shape))
    # An empty index tensor is not examined.
    facts = known.assuming(extents=extents)
    gone = {d: 0 for d, extent in extents.items() if extent.constant == 1}
    found, signs = [], []
    for c, target in enumerate(targets):
        target = simplify(target.at(gone), facts)
        positive = c not in named or facts.is_nonnegative(target)
        if not positive and facts.is_nonnegative(-target - 1):
            target, positive = simplify(target + data_shape[c], facts), True
        found.append(target)
        signs.append(positive)
    return tuple(found), tuple(signs), facts

"""A node as a scatter or a gather: every operator becomes one form.

Four operators write, ``output[T(I)] = updates[I]``, and three read, ``output[I] = data[T(I)]``.
For each axis of the data, the component ``t_c(I)`` of T is a term over the coordinates ``x0, x1,
...`` of I. The same code judges the components of both, and finds their boxes. The checks of the
operator at run time determine the shape of the updates from data and indices.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import onnx_ir as ir

from onnx_scatterx.engine.analysis import (
    Call,
    Reading,
    Scope,
    Shape,
    TensorValue,
    UnknownAttributeError,
    without_wraparound,
)
from onnx_scatterx.engine.lift.access import (
    Access,
    formula_of,
    input_of,
    lifted,
    simplified_targets,
    value_of,
)
from onnx_scatterx.engine.terms import Facts, Term, coord, term
from onnx_scatterx.operators import READS, SCATTERS, described
from onnx_scatterx.text import Reason, Refusal, RefusedError, refuse_unless

_DEFINED = {
    "reduction": ("none", "add", "mul", "max", "min"),
    "mode": ("linear", "circular"),
}
"""The values of attributes that ONNX defines; ONNX Runtime takes another reduction for none."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Scatter(Access):
    """A scatter node in canonical form: ``output[T(I)] = updates[I]``, under a reduction."""

    updates: ir.Value
    reduction: str

    def of_updates(
        self,
        updates: ir.Value,
        shape: Shape,
        targets: Sequence[Term],
        known: Facts,
        *,
        indices: ir.Value | None = None,
        index_rank: int | None = None,
        signed: Collection[int],
    ) -> Scatter:
        """Return the scatter of other updates of a shape, to targets over their coordinates.

        ``signed`` are the axes on which a negative target counts from the end, ``known`` the facts
        of the graph. ``indices`` run over the first ``index_rank`` dims of the shape, or over all.
        """
        simpler, signs, facts = simplified_targets(known, self.data_shape, shape, targets, signed)
        return replace(
            self,
            indices=indices,
            updates=updates,
            shape=shape,
            index_exprs=simpler,
            nonnegative=signs,
            index_dims=tuple(range(len(shape) if index_rank is None else index_rank)),
            facts=facts,
        )


def is_scatter(node: ir.Node) -> bool:
    """Return whether a node is one of the four scatter operators."""
    return node.op_type in SCATTERS and node.domain == ""


def lift_scatter(node: ir.Node, scope: Scope) -> Scatter | Refusal:
    """Return a node in canonical form, or why it has none."""
    call = scope.call(node)
    key = (lift_scatter, node, scope.visit_id, *node.inputs, *call.inputs)
    return scope.facts.memoised(key, lambda: lifted(lambda: _lift(call, scope)))


def _lift(call: Call, scope: Scope) -> Scatter:
    op = _operator(call)
    for name, values in _DEFINED.items():
        _check_value(call, name, values)
    data = input_of(call, 0)
    write = {"ScatterND": _scatter_nd, "TensorScatter": _tensor_scatter}.get(op, _scatter_elements)
    form = write(call, data)
    targets = tuple(
        without_wraparound(t, scope) if c in form.named else t for c, t in enumerate(form.targets)
    )
    indices_at, updates_at = (2, 1) if op == "TensorScatter" else (1, 2)
    indices = call.node.inputs[indices_at] if indices_at < len(call.node.inputs) else None
    updates = value_of(call, updates_at)
    access = _access(call, data, indices, replace(form, targets=targets), updates.dtype)
    reduction = call.string("reduction", "none")
    return Scatter(**vars(access), updates=updates, reduction=reduction)


def _operator(call: Call) -> str:
    """Return the operator of a node, or refuse if it is not in the model's operator set."""
    op, version = call.node.op_type, call.version
    is_there = version >= described(call.node).indexed_since and (op != "Scatter" or version < 11)
    refuse_unless(is_there, Reason.OLD_OPERATOR, f"{op} in operator set {version}")
    return op


def _check_value(call: Call, name: str, values: Collection[str]) -> None:
    """Refuse a node with a value of an attribute that ONNX does not define."""
    try:
        value = call.string(name, "")
    except UnknownAttributeError:
        return  # the callers of the function differ
    fault = f"{name} = {value!r} is not one of {', '.join(values)}"
    refuse_unless(call.attribute(name) is None or value in values, Reason.INVALID, fault)


def _access(
    call: Call,
    data: TensorValue,
    indices: ir.Value | None,
    form: Reading,
    dtype: ir.DataType | None,
) -> Access:
    """Return what scatters and gathers have in common, or refuse; data may lack an element type."""
    dtype = data.dtype or dtype
    if dtype is None:
        raise RefusedError(Reason.UNKNOWN_TYPE)
    targets, signs, facts = simplified_targets(
        call.facts, data.dims, form.shape, form.targets, form.named
    )
    return Access(
        node=call.node,
        data=value_of(call, 0),
        indices=indices,
        dtype=dtype,
        data_shape=data.dims,
        shape=form.shape,
        index_exprs=targets,
        nonnegative=signs,
        index_dims=tuple(form.index_dims),
        named=form.named,
        facts=facts,
    )


def _axis(call: Call, default: int, rank: int) -> int:
    axis = call.integer("axis", default)
    exists = -rank <= axis < rank
    refuse_unless(exists, Reason.INVALID, f"axis {axis} for data of rank {rank}")
    return axis % rank


def _scatter_nd(call: Call, data: TensorValue) -> Reading:
    indices = input_of(call, 1)
    depth = indices.dims[-1].constant if indices.dims else None
    if depth is None:
        raise RefusedError(Reason.UNKNOWN_RANK, "how many axes the indices name")
    fault = f"indices name {depth} axes of rank {len(data.dims)}"
    refuse_unless(0 < depth <= len(data.dims), Reason.INVALID, fault)
    index_rank = len(indices.dims) - 1
    shape = (*indices.dims[:-1], *data.dims[depth:])
    columns = [
        formula
        if (formula := indices.column(c)) is not None
        else formula_of(call, 1, indices).at({index_rank: c})
        for c in range(depth)
    ]
    rest = (coord(index_rank + c) for c in range(len(data.dims) - depth))
    dims = range(index_rank)
    return Reading(shape, (*columns, *rest), range(depth), dims, dims)


def _scatter_elements(call: Call, data: TensorValue) -> Reading:
    indices, rank = input_of(call, 1), len(data.dims)
    fault = f"indices of rank {len(indices.dims)}, data of {rank}"
    refuse_unless(len(indices.dims) == rank, Reason.INVALID, fault)
    return _along(_axis(call, 0, rank), formula_of(call, 1, indices), indices.dims)


def _along(axis: int, target: Term, shape: Shape) -> Reading:
    """Return where updates go if only their coordinate on an axis differs from their own."""
    dims = range(len(shape))
    targets = tuple(target if c == axis else coord(c) for c in dims)
    return Reading(shape, targets, range(axis, axis + 1), dims, dims)


def _tensor_scatter(call: Call, data: TensorValue) -> Reading:
    update, rank = input_of(call, 1), len(data.dims)
    axis = _axis(call, -2, rank)
    fits = axis and len(update.dims) == rank
    refuse_unless(fits, Reason.INVALID, "axis 0 is the batch, and ranks must agree")
    starts = call.input(2)
    start = term(0) if starts is None else formula_of(call, 2, starts)
    target = start + coord(axis)
    if call.string("mode", "linear") == "circular":
        target = target % data.dims[axis]
    # The operator checks that the other dims agree.
    shape = tuple(
        u if d == axis else s for d, (u, s) in enumerate(zip(update.dims, data.dims, strict=True))
    )
    return _along(axis, target, shape)


@dataclass(frozen=True, eq=False, kw_only=True)
class Gather(Access):
    """A node that reads, in canonical form: ``output[I] = data[T(I)]``.

    ONNX Runtime reads no index if one of the ``checked_dims`` of the output is empty. ``stored`` is
    T as the index tensor has it: a negative number counts from the end.
    """

    may_repeat: ClassVar[bool] = True
    tensor_role: ClassVar[str] = "output"

    checked_dims: tuple[int, ...]
    stored: tuple[Term, ...]

    def counts_from_start(self, axis: int) -> bool:
        """Return whether it is proven that no number of the index tensor counts from the end."""
        return self.facts.is_nonnegative(self.stored[axis])


def is_gather(node: ir.Node, among: Collection[str] = READS) -> bool:
    """Return whether a node is one of the three operators that read by indices, or of some."""
    return node.op_type in among and node.domain == ""


def lift_gather(node: ir.Node, scope: Scope) -> Gather | Refusal:
    """Return a node that reads in canonical form, or why it has none.

    >>> from onnx_scatterx.engine.analysis.model_analysis import interpret
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     every_third (float[b, 9] x) => (float[b, 3] y)
    ...     <int64[3] i = {1, 4, 7}> { y = Gather <axis = 1> (x, i) }''')
    >>> lift_gather(model.graph[0], interpret(model).scopes[model.graph]).index_exprs
    (x0, 3*x1 + 1)
    """
    return lifted(lambda: _lift_read(scope.call(node)))


def _lift_read(call: Call) -> Gather:
    op, data, indices = _operator(call), input_of(call, 0), input_of(call, 1)
    try:
        read = Reading.of(call, data.dims, indices.dims, formula_of(call, 1, indices))
    except ValueError as error:
        raise RefusedError(Reason.INVALID, str(error)) from error
    except UnknownAttributeError:
        raise  # ``lifted`` refuses, and names the attribute
    except LookupError as error:
        raise RefusedError(Reason.UNKNOWN_RANK, str(error)) from error
    access = _access(call, data, value_of(call, 1), read, call.node.outputs[0].dtype)
    # ONNX Runtime's Gather of strings may return empty ones, so it is not a move.
    moves = op != "Gather" or access.dtype != ir.DataType.STRING
    refuse_unless(moves, Reason.NO_KERNEL, "Gather of string")
    return Gather(**vars(access), checked_dims=tuple(read.checked_dims), stored=read.targets)

"""The canonical form that scatters and gathers share: where each point goes, axis by axis.

Such a node takes the point I of one tensor to the point T(I) of its data. Each component of T is a
term over the coordinates ``x0, x1, ...`` of I.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import onnx_ir as ir

from onnx_scatterx.engine.analysis import (
    Call,
    ElementOf,
    Shape,
    TensorValue,
    UnknownAttributeError,
    reshaped,
)
from onnx_scatterx.engine.budget import NARROW
from onnx_scatterx.engine.lift.affine import AffineAxis, affine_along, modulus_of
from onnx_scatterx.engine.terms import Facts, Lookup, Term, coord, element, results, term
from onnx_scatterx.text import Reason, Refusal, RefusedError, attempt

T = TypeVar("T")
_APART = 1 << 10  # more dims than a tensor has


@dataclass(frozen=True, eq=False, kw_only=True)
class Access:
    """A node that takes the point I of one tensor to the point T(I) of its data.

    I is the point ``x0, x1, ...`` of a tensor of ``shape``: the updates of a scatter, the output of
    a gather. ``index_exprs[c]`` is the coordinate of T(I) on axis c of ``data``. If
    ``nonnegative[c]``, it is proven not to count from the end, so it is within ``0 .. S-1``.
    ``index_dims`` are the dims of ``shape`` that the index tensor runs over, ``named`` the axes
    that it names. ``facts`` know the extents of the coordinates. If ``may_repeat``, two points may
    have one T(I). ``tensor_role`` is the name of the tensor of ``shape``.
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
    named: range
    facts: Facts

    def by_axis(self) -> Iterator[tuple[int, Term, Term]]:
        """Yield each axis of the data, the coordinate of T(I) on it, and its size."""
        for axis, target in enumerate(self.index_exprs):
            yield axis, target, self.data_shape[axis]

    def affine(self, axis: int) -> AffineAxis | None:
        """Return the coordinate on an axis as ``start + step * x_d``, or None if it is not."""
        return affine_along(self.index_exprs[axis])

    def around(self, axis: int) -> Term | None:
        """Return the t of a coordinate that is ``t mod S`` on an axis of S positions, or None."""
        ring = modulus_of(self.index_exprs[axis])
        size = self.data_shape[axis]
        return ring[0] if ring is not None and self.facts.equal(ring[1], size) else None

    def full_dim(self, axis: int) -> int | None:
        """Return the dim of I that runs along an axis from its start to its end, or None."""
        dim = self.index_exprs[axis].dim
        whole = dim is not None and self.facts.equal(self.shape[dim], self.data_shape[axis])
        return dim if whole else None

    def in_place(self, axis: int) -> bool:
        """Return whether an axis is moved from start to end, by the dim of I of the same number."""
        size, target = self.data_shape[axis], self.index_exprs[axis]
        single = size.constant == 1 and target.constant == 0
        same = single or target.dim == axis
        return same and self.facts.equal(self.shape[axis], size)

    def in_full(self) -> dict[int, int]:
        """Return the axes along which a dim of I runs from start to end, with that dim.

        An axis of one position takes one of the dims of extent 1.
        """
        single = [d for d, n in enumerate(self.shape) if n.constant == 1]
        dims = {}
        for axis, target, size in self.by_axis():
            dim = self.full_dim(axis)
            if target.constant == 0 and size.constant == 1 and single:
                dim = single.pop(0)
            if dim is not None:
                dims[axis] = dim
        return dims

    def targets_in(self, shape: Shape) -> list[Term | None]:
        """Return T over the points of another shape with as many elements in their order.

        A component is None if it is not known as a term. The same is asked before and after bounds
        are learnt, which do not matter for it.
        """
        known, key = results(), ("targets_in", self.index_exprs, self.shape, shape)
        if key not in known:
            known[key] = tuple(_in_shape(t, self.shape, shape) for t in self.index_exprs)
        return list(known[key])

    def dims_read(self, parts: Sequence[Term], shape: Shape) -> list[int | None] | None:
        """Return the dim of I along each dim of a tensor whose elements at ``parts`` are read.

        It is None along a dim of extent 1 that is read at 0. Returns None if the tensor has a dim
        that is not read as a whole.
        """
        dims: list[int | None] = []
        for part, extent in zip(parts, shape, strict=True):
            dim = part.dim
            if dim is not None and self.facts.equal(extent, self.shape[dim]):
                dims.append(dim)
            elif part.constant == 0 and extent.constant == 1:
                dims.append(None)
            else:
                return None
        return dims

    def is_narrow(self, target: Term) -> bool:
        """Return whether a coordinate surely fits int64: beyond it the model's numbers wrap."""
        low, high = self.facts.interval(target)
        return low > -NARROW and high < NARROW

    def is_checked(self, dims: Collection[int] = ()) -> bool:
        """Return whether the node checks every index of a tensor over these dims of I.

        If another dim is empty, the node has no indices, and checks nothing.
        """
        others = (d for d in self.index_dims if d not in dims)
        return all(self.facts.is_nonnegative(self.shape[d] - 1) for d in others)


def input_of(call: Call, i: int) -> TensorValue:
    """Return the abstract value of an input of known rank, or refuse."""
    tensor = call.input(i)
    if tensor is None or tensor.shape is None:
        raise RefusedError(Reason.UNKNOWN_RANK, ("data", "indices", "updates")[i])
    return tensor


def value_of(call: Call, i: int) -> ir.Value:
    """Return a required input, or refuse."""
    value = call.node.inputs[i] if i < len(call.node.inputs) else None
    if value is None:
        raise RefusedError(Reason.INVALID, f"input {i} is absent")
    return value


def formula_of(call: Call, i: int, tensor: TensorValue) -> Term:
    """Return the elements of an input as one term; other contents are looked up in the input."""
    if tensor.index_map is not None:
        return tensor.index_map
    if tensor.shape is None:
        raise RefusedError(Reason.UNKNOWN_RANK, "indices")
    value = value_of(call, i)
    coords = [coord(d) for d in range(len(tensor.shape))]
    return element(ElementOf(call.scope, value), coords, name=value.name or "?")


def simplified_targets(
    known: Facts,
    data_shape: Shape,
    shape: Shape,
    targets: Sequence[Term],
    named: Collection[int],
) -> tuple[tuple[Term, ...], tuple[bool, ...], Facts]:
    """Return targets, simplified and counted from the start if that is proven; signs; facts.

    ``named`` are the axes on which a negative target counts from the end.
    """

    def simplified() -> tuple[tuple[Term, ...], tuple[bool, ...], Facts]:
        extents = dict(enumerate(shape))
        # An empty index tensor is not examined.
        facts = known.assuming(extents=extents)
        gone = {d: 0 for d, extent in extents.items() if extent.constant == 1}
        simpler, signs = [], []
        for c, target in enumerate(targets):
            target = facts.simplify(target.at(gone))
            positive = c not in named or facts.is_nonnegative(target)
            if not positive and facts.is_nonnegative(-target - 1):
                target, positive = facts.simplify(target + data_shape[c]), True
            simpler.append(target)
            signs.append(positive)
        return tuple(simpler), tuple(signs), facts

    key = "simplified_targets", data_shape, shape, tuple(targets), tuple(named)
    return known.memoised(key, simplified)


def _in_shape(target: Term, old: Shape, new: Shape) -> Term | None:
    """Return a term over the coordinates of one shape over those of another, in row-major order."""
    # Tables are fitted again, affine if possible. _APART separates new coordinates from old ones.
    fitted = {}
    for atom in target.all_atoms():
        known = None
        if isinstance(atom, Lookup):
            known = TensorValue(ir.DataType.INT64, old, term(atom)).constant
        if known is not None:
            (moved,) = reshaped(TensorValue.of(known), new)
            if moved.index_map is None:
                return None
            fitted[atom] = moved.index_map.at({d: coord(d + _APART) for d in range(len(new))})
    rest = TensorValue(ir.DataType.INT64, old, target.replace(fitted))
    (moved,) = reshaped(rest, new)
    if moved.index_map is None:
        return None
    return moved.index_map.at({d + _APART: coord(d) for d in range(len(new))})


def lifted(compute: Callable[[], T]) -> T | Refusal:
    """Return a node in canonical form, or why it has none."""
    try:
        return attempt(compute)
    except UnknownAttributeError as error:
        return Refusal(Reason.UNKNOWN_ATTRIBUTE, str(error))
